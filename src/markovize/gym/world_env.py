"""A Gymnasium environment around a world: the world's tables step, and Gymnasium's rules are kept."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import InvalidAction, ResetNeeded

from markovize.episodes.labelling import Labelling, LabelOn
from markovize.episodes.spaces import AnySpace
from markovize.episodes.traces import Floats
from markovize.errors import InputError
from markovize.gym.aliases import Info, Observation, SingleEnv
from markovize.machine.machine import RewardMachine
from markovize.pictures.world.scene import Tracked, View, track
from markovize.worlds import Step, World


class WorldEnv(SingleEnv):
    """An environment of one world. Observations are cells ``[x, y]``, or numbers where there is no map.

    ``world`` is the world with its tables, ``machine`` its true reward machine and ``machine_state`` where that
    machine is: for evaluation and for looking on, never part of observations, infos or, unless asked for,
    pictures. The episode's cut (200 steps) is left to Gymnasium's time limit.

    ``render_mode`` is ``"ansi"`` (text for a terminal) or ``"rgb_array"``. With ``show_machine`` the machine's
    state and the triggers fired in this episode are shown too, with ``show_trail`` the way walked; both tell
    of the past, so they are off where pictures are observations.

    >>> from markovize.worlds import world
    >>> env = WorldEnv(world("beach", levels=3))
    >>> env.reset(seed=7)
    (0, {})
    >>> [env.step(4)[1] for _ in range(4)], env.machine_state
    ([1.0, 0.9, 0.8, 0.0], 3)
    """

    metadata: Info = {"render_modes": ["ansi", "rgb_array"], "render_fps": 8}  # noqa: RUF012 - Gymnasium's
    captions: ClassVar[Mapping[str, str]] = {}
    """What landmarks mean, where their names do not say it; only for pictures."""

    def __init__(
        self, world: World, *, render_mode: str | None = None, show_machine: bool = False, show_trail: bool = False
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = ", ".join(self.metadata["render_modes"])
            raise InputError(f"render modes are {modes}, not {render_mode!r}")
        self.world = world
        self.render_mode = render_mode
        self.show_machine = show_machine
        self.show_trail = show_trail
        self.observation_space, self._observations = _observations(world)
        if world.actions != tuple(range(len(world.actions))):
            raise InputError(f"the actions of {world.name} must be 0…{len(world.actions) - 1}, not {world.actions}")
        self.action_space = spaces.Discrete(len(world.actions))
        self._rows = [] if world.is_random else _rows(world)
        self._steps: dict[tuple[int, int, int, int], tuple[Step, float]] = {}
        self._drift = np.zeros((0, 0)) if world.drift is None else _cumulated(world.drift)
        self._state = world.start
        self._u = world.machine.initial
        self._running = False
        self._path: list[tuple[int, int, int]] = []
        self._overlay: tuple[RewardMachine, Labelling] | None = None

    @property
    def machine(self) -> RewardMachine:
        """The true machine."""
        return self.world.machine

    @property
    def machine_state(self) -> int:
        """The true machine's state."""
        return self._u

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Starts an episode; there are no options, and the seed matters where the world is random."""
        super().reset(seed=seed, options=options)
        self._state, self._u = self.world.start, self.world.machine.initial
        self._running = True
        self._path = []
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """One step: observation, reward, whether the episode ended, False (never cut here), and an empty info."""
        if not self._running:
            raise ResetNeeded("the episode has ended, or never began: call reset() before step()")
        try:
            move = index(action)
        except TypeError:
            move = -1
        if not 0 <= move < len(self.world.actions):
            raise InvalidAction(f"actions are 0…{len(self.world.actions) - 1}, not {action!r}")
        before = self._state
        if self.world.is_random:
            self._state, self._u, reward, terminated = self._chance(before, move)
        else:
            self._state, self._u, reward, terminated = self._rows[self._u][before][move]
        if self.render_mode is not None:  # who never looks needs no memory
            self._path.append((before, move, self._state))
        self._running = not terminated
        return self._observe(), reward, terminated, False, {}

    def _chance(self, before: int, move: int) -> Step:
        """A step of a world that is random: where it leads is drawn first, then what it pays."""
        world, after = self.world, int(self.world.successor[before, move])
        if world.drift is not None:
            after = int(np.searchsorted(self._drift[after], self.np_random.random(), side="right"))
        key = self._u, before, move, after
        if key not in self._steps:
            step = world.step(before, self._u, move, after)
            self._steps[key] = step, world.spread(before, self._u, move, step)
        step, spread = self._steps[key]
        return step._replace(reward=step.reward + self.np_random.uniform(-spread, spread)) if spread else step

    def overlay(self, machine: RewardMachine | None, trigger_on: LabelOn | None = None) -> None:
        """Shows this machine's state along the episode, for example a learned one's, instead of the true one's.

        ``trigger_on`` is the machine's label function, if it has one. None shows what was shown before.

        >>> from markovize.worlds import world
        >>> env = WorldEnv(world("beach", levels=3), render_mode="ansi")
        >>> env.overlay(world("beach", levels=1).machine)
        >>> env.reset(), env.step(4)[1], env.step(4)[1]
        ((0, {}), 1.0, 0.9)
        >>> print(env.render().splitlines()[-1])
        given machine: u = 1 of 0…1   fired: beach –o→ beach
        """
        if machine is None:
            self._overlay = None
            return
        if trigger_on is None and machine.trigger_labels.needs_function:
            raise InputError("this machine's labels come from a function: give it as trigger_on")
        self._overlay = machine, machine.trigger_labelling(trigger_on)

    def render(self) -> Any:
        """The world as text or as an array (height, width, 3), by the ``render_mode`` chosen at the start."""
        from markovize.pictures.world.rendering import picture, text

        if self.render_mode is None:
            gymnasium.logger.warn('nothing is rendered: choose render_mode="ansi" or "rgb_array" when making the env')
            return None
        view = View(
            self.world,
            self._state,
            tuple(after for _, _, after in self._path) if self.show_trail else (),
            self._tracked(),
            self.captions,
        )
        return text(view) if self.render_mode == "ansi" else picture(view)

    def _tracked(self) -> Tracked | None:
        if self._overlay is not None:
            return track(self.world, *self._overlay, self._path, "given machine")
        if self.show_machine:
            return track(self.world, self.machine, self.machine.trigger_labels, self._path, "true machine")
        return None

    def _observe(self) -> Observation:
        known = self._observations[self._state]
        return known if isinstance(known, int) else known.copy()


def _observations(world: World) -> tuple[AnySpace, list[Observation]]:
    """The space, and each state's observation."""
    if world.grid is not None:
        space = spaces.MultiDiscrete([world.grid.width, world.grid.height])
        return space, [np.array(cell, np.int64) for cell in world.grid.cells]
    count = len(world.observations)
    if world.observations != tuple(range(count)):
        raise InputError(f"without a map the observations of {world.name} must be 0…{count - 1}")
    return spaces.Discrete(count), list(range(count))


def _cumulated(drift: Floats) -> Floats:
    """For each state the probability of those up to each; the last is 1, whatever rounding says."""
    sums: Floats = np.cumsum(drift, axis=1)
    sums[:, -1] = 1.0
    return sums


def _rows(world: World) -> list[list[list[tuple[int, int, float, bool]]]]:
    """[u][state][action] → (state, u, reward, terminated), as plain values: lists are faster to index than arrays."""
    after = world.successor.tolist()
    u, reward, terminated = (table.tolist() for table in world.tables)
    return [
        [list(zip(*columns, strict=True)) for columns in zip(after, u[k], reward[k], terminated[k], strict=True)]
        for k in range(world.machine.states)
    ]
