"""Who plays the episodes: compiled loops on a world's tables, or plain stepping of any Gymnasium environment."""

from __future__ import annotations

from collections import deque
from math import isfinite
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from markovize.agents.tabular import handles, loop
from markovize.agents.tabular.handles import Handle
from markovize.agents.tabular.mind import describe_transitions, grown
from markovize.agents.tabular.steps import StepBook
from markovize.agents.tabular.tables import Mind, Rules, WorldTables
from markovize.episodes.spaces import check_discrete, value_of
from markovize.episodes.traces import Floats, Ints, Longs
from markovize.errors import InputError
from markovize.gym import WorldEnv
from markovize.gym.space_index import all_elements
from markovize.machine.machine import RewardMachine
from markovize.worlds import World

HARMLESS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker")  # wrappers that change nothing but the step limit
STATES, TRANSITIONS = 64, 256  # first room for what an unknown environment may show
RECENT = 10  # episodes that a player remembers


class Player(Protocol):
    """Plays episodes and teaches the mind; the mind may grow on the way."""

    book: StepBook
    room: tuple[int, int]

    def play(
        self, mind: Mind, machine: RewardMachine, rules: Rules, episodes: int, returns: Floats, lengths: Ints
    ) -> tuple[Mind, int, int]:
        """(the mind, how many episodes, why it stopped)."""
        ...


class TablePlayer:
    """Plays a world of this package, all compiled."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.tables = tables_of(world)
        self.book = StepBook.of(world)
        self.room = (len(world.observations), len(self.book))
        self._rng = rng

    def play(
        self, mind: Mind, machine: RewardMachine, rules: Rules, episodes: int, returns: Floats, lengths: Ints
    ) -> tuple[Mind, int, int]:
        """As in :class:`Player`; all there is to see is known, so the mind never grows."""
        del machine
        return mind, *loop.play(self.tables, mind, rules, self._rng, episodes, returns, lengths)


class SteppingPlayer:
    """Plays any environment with discrete observations and actions, step by step.

    ``recent`` has the last episodes: the seed of their reset, their transitions and rewards.
    """

    def __init__(self, env: gym.Env[Any, Any], rng: np.random.Generator, *, per_transition: bool) -> None:
        check_discrete(env)
        self._env, self._rng, self._per_transition = env, rng, per_transition
        self._actions = all_elements(env.action_space)
        self.book = StepBook([], [value_of(action, "action") for action in self._actions])
        self.room = (STATES, TRANSITIONS)
        self.recent: deque[tuple[int, Ints, Floats]] = deque(maxlen=RECENT)
        self._ids: dict[Any, int] = {}
        self._handle: Handle | None = None

    def play(
        self, mind: Mind, machine: RewardMachine, rules: Rules, episodes: int, returns: Floats, lengths: Ints
    ) -> tuple[Mind, int, int]:
        """As in :class:`Player`."""
        numbers = handles.numbers(rules)
        for episode in range(episodes):
            if mind.pool.free_rows[0] == 0:
                return mind, episode, loop.FULL
            mind, returns[episode], lengths[episode] = self._episode(mind, machine, numbers)
            if handles.conclude(self._rows(mind), numbers) == loop.CONFLICT:
                return mind, episode + 1, loop.CONFLICT
            if rules.kept or mind.record.outcome[3]:
                return mind, episode + 1, loop.DONE
        return mind, episodes, loop.DONE

    def _episode(self, mind: Mind, machine: RewardMachine, numbers: Floats) -> tuple[Mind, float, int]:
        """(the mind, the episode's return, its length)."""
        identify, actions, book = self._id, self._actions, self.book
        step, act, absorb = self._env.step, handles.act, handles.absorb
        seed = int(self._rng.random() * 2**31)
        observation, _ = self._env.reset(seed=seed)
        s, u, n, total, over = identify(observation), 0, 0, 0.0, False
        mind = self._fitted(mind, machine)
        rows = self._rows(mind)
        explored, longest = handles.begin(rows, numbers, s)
        while n < longest and not over:
            a = act(rows, numbers, n, explored, u, s)
            observation, reward, terminated, truncated, _ = step(actions[a])
            reward, end = _paid(reward, n), bool(terminated)
            t, known = identify(observation), len(book.source)
            x = book.transition(s, a, t)
            if x == known:
                mind = self._fitted(mind, machine, known)
                rows = self._rows(mind)
            u = absorb(rows, numbers, n, u, x, reward, end)
            total += reward
            s, n, over = t, n + 1, end or bool(truncated)
        self.recent.append((seed, mind.record.transitions[:n].copy(), mind.record.rewards[:n].copy()))
        return mind, total, n

    def raw_action(self, transition: int) -> Any:
        """What to step the environment with, to take a transition's action."""
        return self._actions[self.book.action[transition]]

    def _rows(self, mind: Mind) -> Longs:
        """The handle's rows, made anew for another mind."""
        if self._handle is None or self._handle.mind is not mind:
            self._handle = Handle(mind, self._rng)
        return self._handle.rows

    def _id(self, observation: Any) -> int:
        key = observation.tobytes() if isinstance(observation, np.ndarray) else observation
        try:
            found = self._ids.get(key)
        except TypeError:  # unhashable, such as lists, or arrays in a tuple
            return self.book.observations.id(value_of(observation))
        if found is None:
            found = self._ids[key] = self.book.observations.id(value_of(observation))
        return found

    def _fitted(self, mind: Mind, machine: RewardMachine, first: int | None = None) -> Mind:
        """The mind with room for all that was seen."""
        states, transitions = mind.model.first.shape[0], len(mind.model.seen)
        if len(self.book.observations) > states or len(self.book) > transitions:
            mind, first = grown(mind, self.book, machine, per_transition=self._per_transition), 0
            self.room = (mind.model.first.shape[0], len(mind.model.seen))
        if first is not None:
            describe_transitions(mind, self.book, self._per_transition, first)
        return mind


def _paid(reward: Any, step: int) -> float:
    """A reward as a number."""
    try:
        paid = float(reward)
    except (TypeError, ValueError):
        raise InputError(f"the environment paid {reward!r} in step {step} of an episode; rewards are numbers") from None
    if not isfinite(paid):
        raise InputError(f"the environment paid {paid} in step {step} of an episode; rewards must be finite")
    return paid


def tables_of(world: World) -> WorldTables:
    """A world as the compiled loop wants it."""
    tables = world.tables
    return WorldTables(
        world.successor, tables.u, tables.reward, tables.terminated, int(world.start), int(world.machine.initial)
    )


def world_behind(env: gym.Env[Any, Any]) -> World | None:
    """The world of this package behind an environment, if nothing in between changes what it does."""
    while isinstance(env, gym.Wrapper):
        if type(env).__name__ not in HARMLESS or not type(env).__module__.startswith("gymnasium."):
            return None
        env = env.env
    return env.world if isinstance(env, WorldEnv) else None


def step_limit(env: gym.Env[Any, Any], asked: int | None, default: int = 1_000) -> int:
    """How long an episode may be: as asked, else as the environment's spec says, else a thousand steps."""
    if asked is not None:
        return asked
    limit = env.spec.max_episode_steps if env.spec is not None else None
    return default if limit is None else int(limit)
