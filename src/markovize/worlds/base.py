"""A world as a value: tables for where actions lead, and the reward machine that pays. No framework in sight.

A step goes to the table's next state; then the machine moves on the step's label, and says reward and end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from markovize.episodes.traces import Bools, Floats, Ints
from markovize.episodes.values import Value
from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers
from markovize.worlds.grid import ACTIONS, GridMap

Pay: TypeAlias = Callable[[int, Value, int], tuple[float, bool]]
"""(u, label, u') → (reward, whether the episode ends)."""


class Step(NamedTuple):
    """What one step brings."""

    state: int
    u: int
    reward: float
    terminated: bool


class Tables(NamedTuple):
    """The product of world and machine as dense arrays, indexed ``[u, state, action]``."""

    u: Ints
    reward: Floats
    terminated: Bools


@dataclass(frozen=True, eq=False)
class World:
    """States 0…n-1, named by ``observations``; ``successor[state, action]``; a start; the true machine.

    ``landmarks`` are the places worth walking to, ``grid`` the map the world was drawn on, if it was. Where rewards of
    the machine have a spread, they are noisy: uniform within it. Where there is a ``drift``, chance moves on: after
    the table's next state t comes t' with probability ``drift[t, t']``.

    >>> from markovize.worlds import world
    >>> beach = world("beach")
    >>> beach.step(beach.start, 0, 4), beach.step(1, 3, 1)
    (Step(state=0, u=1, reward=1.0, terminated=False), Step(state=2, u=3, reward=0.0, terminated=True))
    """

    name: str
    successor: Ints = field(repr=False)
    start: int
    observations: tuple[Value, ...] = field(repr=False)
    actions: tuple[Value, ...]
    action_names: tuple[str, ...]
    machine: RewardMachine
    landmarks: Mapping[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    grid: GridMap | None = field(default=None, repr=False)
    drift: Floats | None = field(default=None, repr=False)

    def step(self, state: int, u: int, action: int, after: int | None = None) -> Step:
        """The next state, the machine's next state, the reward and whether the episode ends.

        Without noise and, unless the next state is said, without drift.
        """
        if after is None:
            after = int(self.successor[state, action])
        s, a, t = self.observations[state], self.actions[action], self.observations[after]
        v = self.machine.step(u, self.machine.trigger_labels.label((s, a, t)))
        label = self.machine.reward_labels.label((s, a, t))
        return Step(after, v, self.machine.reward(u, label, v) or 0.0, self.machine.terminal(u, label, v))

    @property
    def is_random(self) -> bool:
        """Whether equal actions may bring anything else."""
        return self.drift is not None or bool(self.spreads)

    @cached_property
    def spreads(self) -> Mapping[tuple[int, Value, int], float]:
        """How far the reward of each (u, reward label, u') may be from its level, where it is noisy."""
        return {(each.source, each.on, each.target): each.spread for each in self.machine.rewards if each.spread}

    def spread(self, state: int, u: int, action: int, step: Step) -> float:
        """How noisy the reward of a step is."""
        if not self.spreads:
            return 0.0
        observed = self.observations[state], self.actions[action], self.observations[step.state]
        return self.spreads.get((u, self.machine.reward_labels.label(observed), step.u), 0.0)

    @cached_property
    def tables(self) -> Tables:
        """Every step, tabulated."""
        shape = (self.machine.states, *self.successor.shape)
        out = Tables(np.zeros(shape, np.int32), np.zeros(shape, np.float64), np.zeros(shape, np.bool_))
        for u, state, action in np.ndindex(shape):
            step = self.step(state, u, action)
            out.u[u, state, action] = step.u
            out.reward[u, state, action] = step.reward
            out.terminated[u, state, action] = step.terminated
        return out


def complete_machine(
    bare: RewardMachine,
    successor: Ints,
    start: int,
    observations: Sequence[Value],
    actions: Sequence[Value],
    pay: Pay,
) -> RewardMachine:
    """The machine with an emission for every (u, reward label, u') reachable from the start.

    >>> table = np.array([[0, 1], [1, 1]], np.int32)  # stay, go; nothing after the goal
    >>> def pay(u, label, v):
    ...     return (1.0, True) if label == "goal" else (0.0, False)
    >>> machine = complete_machine(RewardMachine("state", "state", 1), table, 0, ["home", "goal"], ["stay", "go"], pay)
    >>> [(e.on, e.reward, e.terminal) for e in machine.rewards]
    [('goal', 1.0, True), ('home', 0.0, False)]
    """
    trigger_on, reward_on = bare.trigger_labels, bare.reward_labels
    found: dict[tuple[int, Value, int], Emission] = {}
    seen, waiting = {(start, bare.initial)}, [(start, bare.initial)]
    while waiting:
        state, u = waiting.pop()
        for action, after in enumerate(successor[state].tolist()):
            step = observations[state], actions[action], observations[after]
            v, label = bare.step(u, trigger_on.label(step)), reward_on.label(step)
            reward, terminal = pay(u, label, v)
            found[u, label, v] = Emission(u, label, v, reward, terminal)
            if not terminal and (after, v) not in seen:
                seen.add((after, v))
                waiting.append((after, v))
    return replace(bare, rewards=sorted_emissions(found.values()))


def grid_world(name: str, grid: GridMap, *, states: int, triggers: Sequence[Trigger], pay: Pay) -> World:
    """A world on a map whose labels are the cells entered."""
    return world_on(grid, RewardMachine("state", "state", states, sorted_triggers(triggers)), pay, name)


def world_on(grid: GridMap, bare: RewardMachine, pay: Pay, name: str = "grid") -> World:
    """A world on a map: actions are 0 up, 1 right, 2 down, 3 left, 4 stay; the machine gets all its rewards."""
    numbers = tuple(range(len(ACTIONS)))
    machine = complete_machine(bare, grid.moves, grid.start, grid.cells, numbers, pay)
    return World(name, grid.moves, grid.start, grid.cells, numbers, ACTIONS, machine, grid.landmarks, grid)
