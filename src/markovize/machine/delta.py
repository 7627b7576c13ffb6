"""δ of a machine: the one place where triggers meet the labels of steps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from markovize.episodes.labelling import Labelling
from markovize.episodes.traces import Ints
from markovize.episodes.values import Interner, On, Value, key_of

if TYPE_CHECKING:
    from markovize.machine.machine import Trigger


class Delta:
    """Which trigger fires at a step, and where it leads; :attr:`markovize.RewardMachine.delta` has a machine's own.

    >>> from markovize.machine.machine import RewardMachine, Trigger
    >>> delta = RewardMachine("state", "state", 2, (Trigger(0, "key", 1),)).delta
    >>> delta.fired(0, "key"), delta.fired(1, "key"), delta.target(0, "key")
    (0, None, 1)
    >>> delta.table(["door", "key"]).tolist()
    [[0, 1], [1, 1]]
    """

    def __init__(self, states: int, triggers: Sequence[Trigger], labelling: Labelling) -> None:
        self._states, self._triggers, self._labelling = states, triggers, labelling
        self._exact: dict[tuple[int, Hashable], int] = {}
        self._of_state: dict[int, list[int]] = {}
        for number, trigger in enumerate(triggers):
            if labelling.exact:
                self._exact[trigger.source, key_of(trigger.on)] = number
            else:
                self._of_state.setdefault(trigger.source, []).append(number)

    def fired(self, state: int, label: Value) -> int | None:
        """The number of the trigger that a step with this label fires, the first of several; None if none does."""
        if self._labelling.exact:
            return self._exact.get((state, key_of(label)))
        numbers, matches = self._of_state.get(state, ()), self._labelling.matches
        return next((number for number in numbers if matches(self._triggers[number].on, label)), None)

    def target(self, state: int, label: Value) -> int:
        """The state after a step with this label."""
        number = self.fired(state, label)
        return state if number is None else self._triggers[number].target

    def table(self, labels: Interner | Sequence[Value], *, columns: int = 1) -> Ints:
        """δ as an array with a row for each state and a column for each of these labels, and at least ``columns``."""
        known = labels if isinstance(labels, Interner) else Interner(labels)
        moves = {
            (trigger.source, column): trigger.target
            for trigger in reversed(self._triggers)  # the first of several that match has the last word
            for column in self.columns(trigger.on, known)
        }
        return tabulate(self._states, max(columns, len(known)), moves)

    def columns(self, on: On, labels: Interner) -> list[int]:
        """The numbers of the labels that match a trigger's."""
        if not self._labelling.exact:
            return [n for n, label in enumerate(labels.values) if self._labelling.matches(on, label)]
        number = labels.find(on)
        return [] if number is None else [number]


def tabulate(states: int, columns: int, moves: Mapping[tuple[int, int], int]) -> Ints:
    """δ as an array: in every state each label leads back to the state itself, but for these moves.

    >>> tabulate(2, 3, {(0, 2): 1}).tolist()
    [[0, 0, 1], [1, 1, 1]]
    """
    table = np.repeat(np.arange(states, dtype=np.int32)[:, None], columns, axis=1)
    for (u, x), v in moves.items():
        table[u, x] = v
    return table
