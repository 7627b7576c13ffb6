"""What to do: the best known action for each observation and state of the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from markovize.episodes.labelling import Labelling, Step
from markovize.episodes.spaces import value_of
from markovize.episodes.traces import Floats
from markovize.episodes.values import Interner, Value
from markovize.machine.machine import RewardMachine


class Policy:
    """Greedy in values on S×U; to follow it, keep the machine's state u, which starts at ``machine.initial``.

    Actions are as the environment's ``step`` takes them. For an observation that was never met, the first action is
    taken; nothing is learned or remembered by acting.

    >>> import gymnasium, markovize
    >>> env = gymnasium.make("markovize/BreakfastWorld-v0", task="b")
    >>> policy = markovize.ActiveLearner(env, markovize.Settings.of(episodes=100)).run().policy
    >>> (observation, _), u, over, earned = env.reset(seed=0), policy.machine.initial, False, 0.0
    >>> while not over:
    ...     action = policy.act(observation, u)
    ...     before = observation
    ...     observation, reward, terminated, truncated, _ = env.step(action)
    ...     u = policy.next_state(u, before, action, observation)
    ...     earned, over = earned + reward, terminated or truncated
    >>> round(earned, 2)
    3.2
    """

    def __init__(
        self,
        machine: RewardMachine,
        labelling: Labelling,
        states: Interner,
        actions: Sequence[Any],
        q: Floats,
        state_of: Callable[[Value], Value] | None = None,
    ) -> None:
        self.machine, self.actions, self.values = machine, tuple(actions), q
        self._labelling, self._states, self._state_of = labelling, states, state_of

    def act(self, observation: Any, u: int) -> Any:
        """The action to take."""
        return self.actions[self.choose(self.value(observation), u)]

    def next_state(self, u: int, observation: Any, action: Any, next_observation: Any) -> int:
        """The machine's state after a step (s, a, s')."""
        return self.follow(u, (self.value(observation), value_of(action, "action"), self.value(next_observation)))

    def value(self, observation: Any) -> Value:
        """An observation as labels and states are made of."""
        return value_of(observation, objects=True)

    def follow(self, u: int, step: Step) -> int:
        """The machine's state after a step in canonical values."""
        return self.machine.step(u, self._labelling.label(step))

    def choose(self, value: Value, u: int) -> int:
        """The number of the action, given an observation's canonical value."""
        number = self._states.find(value if self._state_of is None else self._state_of(value))
        if number is None or number >= self.values.shape[1]:
            return 0
        return int(np.argmax(self.values[u, number]))
