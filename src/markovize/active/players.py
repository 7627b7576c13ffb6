"""Who plays the episodes: compiled loops on a world's tables, or plain stepping of any Gymnasium environment."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from markovize.active import loop
from markovize.active.mind import describe_transitions, grown
from markovize.active.steps import StepBook
from markovize.active.tables import Mind, Rules, WorldTables
from markovize.envs import WorldEnv
from markovize.errors import InputError
from markovize.machine import RewardMachine
from markovize.spaces import check_discrete
from markovize.traces import Floats, Ints
from markovize.worlds import World

HARMLESS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker")  # wrappers that change nothing but the step limit
STATES, TRANSITIONS = 64, 256  # first room for what an unknown environment may show


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
    """Plays any environment with discrete observations and actions, step by step."""

    def __init__(self, env: gym.Env[Any, Any], rng: np.random.Generator, *, per_transition: bool) -> None:
        check_discrete(env)
        space = env.action_space
        if not isinstance(space, gym.spaces.Discrete):
            raise InputError(f"actions must be a Discrete space, not {space}; number them with a wrapper")
        self._env, self._rng, self._per_transition = env, rng, per_transition
        self._actions = [int(space.start) + n for n in range(int(space.n))]
        self.book = StepBook([], self._actions)
        self.room = (STATES, TRANSITIONS)
        self._ids: dict[Any, int] = {}

    def play(
        self, mind: Mind, machine: RewardMachine, rules: Rules, episodes: int, returns: Floats, lengths: Ints
    ) -> tuple[Mind, int, int]:
        """As in :class:`Player`."""
        draw = self._rng.random
        for episode in range(episodes):
            if mind.pool.free_rows[0] == 0:
                return mind, episode, loop.FULL
            mind = self._episode(mind, machine, rules, draw, episode, returns, lengths)
            if loop.conclude(mind, rules) == loop.CONFLICT:
                return mind, episode + 1, loop.CONFLICT
            if rules.kept or mind.record.outcome[3]:
                return mind, episode + 1, loop.DONE
        return mind, episodes, loop.DONE

    def _episode(
        self, mind: Mind, machine: RewardMachine, rules: Rules, draw: Callable[[], float],
        episode: int, returns: Floats, lengths: Ints,
    ) -> Mind:  # fmt: skip
        observation, _ = self._env.reset(seed=int(draw() * 2**31))
        s, u, n, total, over = self._id(observation), 0, 0, 0.0, False
        mind = self._fitted(mind, machine)
        explored, longest = loop.begin(mind.beliefs, mind.way, mind.record, rules, s, draw())
        transition, act, absorb, step = self.book.transition, loop.act, loop.absorb, self._env.step
        while n < longest and not over:
            a = act(mind.beliefs, mind.model, mind.way, rules, n, explored, u, s, draw(), draw())
            observation, reward, terminated, truncated, _ = step(self._actions[a])
            if not math.isfinite(reward):
                raise InputError(f"the environment paid {reward} in step {n} of an episode; rewards must be finite")
            t = self._id(observation)
            known = len(self.book)
            x = transition(s, a, t)
            if x == known:
                mind = self._fitted(mind, machine, known)
            u = absorb(mind.beliefs, mind.model, mind.record, rules, n, u, x, float(reward), bool(terminated))
            total += float(reward)
            s, n, over = t, n + 1, bool(terminated or truncated)
        returns[episode], lengths[episode] = total, n
        return mind

    def _id(self, observation: Any) -> int:
        key = observation.tobytes() if isinstance(observation, np.ndarray) else observation
        try:
            found = self._ids.get(key)
        except TypeError:
            kind = type(observation).__name__
            raise InputError(f"observations of type {kind} cannot be told apart (unhashable); return tuples") from None
        if found is None:
            found = self._ids[key] = self.book.observations.id(observation)
        return found

    def _fitted(self, mind: Mind, machine: RewardMachine, first: int | None = None) -> Mind:
        """The mind with room for all that was seen."""
        states, transitions = mind.model.first.shape[0], len(mind.model.seen)
        if len(self.book.observations) > states or len(self.book) > transitions:
            mind, first = grown(mind, self.book, machine), 0
            self.room = (mind.model.first.shape[0], len(mind.model.seen))
        if first is not None:
            describe_transitions(mind, self.book, self._per_transition, first)
        return mind


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
