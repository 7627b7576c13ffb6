"""What an agent has looked at in vain: guards of which all but one literal held.

A machine's state says what was seen, not what was looked for and not seen. Where the observation hides part of the
world, the two differ: "direction = left and sees.key = false → state 1" stays in state 0 both before the agent has
looked to the left, and after it has looked and there was a key. A guard that *nearly* held tells them apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from markovize.episodes.features import Literal
from markovize.episodes.labelling import Labelling
from markovize.episodes.values import Value
from markovize.machine.machine import RewardMachine


class NearMisses:
    """A bit for each literal of a guard of several: whether, in this state, all the others held while it did not.

    >>> from markovize import Feature, Guard, Trigger
    >>> looked = Guard([Literal("facing", "is", "left"), Literal("key", "is", False)])
    >>> features = (Feature("facing", "categorical"), Feature("key", "categorical"))
    >>> machine = RewardMachine("guards", "guards", 2, (Trigger(0, looked, 1),), features=features)
    >>> near = NearMisses(machine)
    >>> near.begin()
    >>> near.step(0, ("left", True), 0)
    >>> near.bits.tolist()
    [0.0, 1.0]
    """

    def __init__(self, machine: RewardMachine) -> None:
        self._places = {feature.name: place for place, feature in enumerate(machine.features)}
        self._guards: list[tuple[int, int, tuple[Literal, ...]]] = []  # state, its first bit, its literals
        self.width = 0
        for trigger in machine.triggers:
            literals = getattr(trigger.on, "literals", ())
            if len(literals) > 1:
                self._guards.append((trigger.source, self.width, literals))
                self.width += len(literals)
        self.begin()

    def begin(self) -> None:
        """A new episode."""
        self.bits: npt.NDArray[np.float32] = np.zeros(self.width, np.float32)

    def step(self, before: int, values: Any, after: int) -> None:
        """A step from one machine state to another, with these values of the machine's features."""
        if after != before:
            self.begin()
            return
        for state, first, literals in self._guards:
            if state == before:
                missed = [
                    n for n, literal in enumerate(literals) if not literal.holds(values[self._places[literal.feature]])
                ]
                if len(missed) == 1:
                    self.bits[first + missed[0]] = 1.0


class Looking:
    """Near misses along the steps of one environment."""

    def __init__(self, machine: RewardMachine, labelling: Labelling) -> None:
        self.near, self._labelling = NearMisses(machine), labelling
        self._initial = machine.initial
        self.begin(0)

    def begin(self, observation: Value) -> None:
        """A new episode begins with this observation."""
        self.near.begin()
        self._state, self._seen = self._initial, observation

    def step(self, action: Value, observation: Value, state: int) -> None:
        """The environment went on to this observation, the machine to this state."""
        if self.near.width:
            self.near.step(self._state, self._labelling.label((self._seen, action, observation)), state)
        self._state, self._seen = state, observation
