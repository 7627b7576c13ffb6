"""What an agent sees of an environment and its reward machine: the observation and the machine's state, as one."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from markovize.episodes.spaces import AnySpace
from markovize.episodes.values import Value
from markovize.errors import InputError, UnsupportedError
from markovize.gym.aliases import Observation
from markovize.gym.space_index import MOST_VALUES, SpaceIndex
from markovize.gym.wrappers.follower import Follower
from markovize.machine.machine import RewardMachine

Mode: TypeAlias = Literal["dict", "flat", "one-hot", "triggers"]
MODES: Final = ("dict", "flat", "one-hot", "triggers")
MOST_FEATURES: Final = 1_000_000


class Observer:
    """Joins observation and machine state in one of four ways.

    ``dict``
        ``{"observation": s, "rm_state": u}``, with the environment's own observation space inside. Observations that
        are dicts already get ``rm_state`` as one more part.
    ``flat``
        the number ``index(s) * K + u`` with K machine states, as :class:`markovize.Product` numbers its states.
    ``one-hot``
        a float vector: s one-hot, then u one-hot.
    ``triggers``
        a float vector: s one-hot, then a bit for each trigger that has fired in this episode, the features of the
        paper's deep agents. Where a machine returns to states it has left, the bits do not tell its state: use
        ``one-hot`` then.

    >>> observer = Observer(spaces.Discrete(3), RewardMachine("state", "state", 2), "flat")
    >>> observer.space, observer.index.number(2)
    (Discrete(6), 2)
    """

    def __init__(self, space: AnySpace, machine: RewardMachine, mode: Mode) -> None:
        if mode not in MODES:
            raise InputError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        self.mode: Mode = mode
        self.states = machine.states
        self.space: AnySpace
        self._parts = isinstance(space, spaces.Dict)
        if mode == "dict":
            if isinstance(space, spaces.Dict) and "rm_state" in space.spaces:
                raise UnsupportedError("the observations have a part 'rm_state' already; rename it, or wrap only once")
            self.space = self._join(space, spaces.Discrete(machine.states))
            return
        try:
            self.index = SpaceIndex(space)
        except UnsupportedError as error:
            raise UnsupportedError(f"mode {mode!r} numbers the observations, but {error}; use mode 'dict'") from None
        if mode == "flat":
            if self.index.size * machine.states > MOST_VALUES:
                raise UnsupportedError(f"mode 'flat' cannot number {space} times {machine.states}; use mode 'dict'")
            self.space = spaces.Discrete(self.index.size * machine.states)
            return
        self.width = self.index.size + (machine.states if mode == "one-hot" else len(machine.triggers))
        if self.width > MOST_FEATURES:
            raise UnsupportedError(f"mode {mode!r} would make vectors of {self.width:,} numbers; use mode 'dict'")
        self.space = spaces.Box(0.0, 1.0, (self.width,), np.float32)

    def single(self, observation: Observation, follower: Follower) -> Observation:
        """One environment's observation, joined with its machine's state."""
        if self.mode == "dict":
            return self._merge(observation, follower.state)
        number = self.index.number(observation)
        if self.mode == "flat":
            return number * self.states + follower.state
        features = np.zeros(self.width, np.float32)
        self._fill(features, number, follower)
        return features

    def batch_space(self, space: AnySpace, number: int) -> AnySpace:
        """The space of :meth:`batch`, given the environment's own batched space."""
        if self.mode == "dict":
            states = spaces.MultiDiscrete(np.full(number, self.states))
            return self._join(space, states)
        return batch_space(self.space, number)

    def batch(self, observations: Observation, values: list[Value], followers: list[Follower]) -> Observation:
        """The same for a vector environment's batch, ``values`` being its canonical values."""
        if self.mode == "dict":
            return self._merge(observations, np.array([f.state for f in followers], np.int64))
        numbers = [self.index.number(value) for value in values]
        if self.mode == "flat":
            pairs = zip(numbers, followers, strict=True)
            return np.array([number * self.states + f.state for number, f in pairs], np.int64)
        features = np.zeros((len(followers), self.width), np.float32)
        for row, number, follower in zip(features, numbers, followers, strict=True):
            self._fill(row, number, follower)
        return features

    def _join(self, space: AnySpace, states: AnySpace) -> AnySpace:
        return spaces.Dict(self._merge(space.spaces if isinstance(space, spaces.Dict) else space, states))

    def _merge(self, observation: Any, state: Any) -> dict[str, Any]:
        return {**(observation if self._parts else {"observation": observation}), "rm_state": state}

    def _fill(self, features: npt.NDArray[np.float32], number: int, follower: Follower) -> None:
        features[number] = 1.0
        if self.mode == "one-hot":
            features[self.index.size + follower.state] = 1.0
        else:
            for trigger in follower.fired:
                features[self.index.size + trigger] = 1.0
