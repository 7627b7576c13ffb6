"""What is proven about the size of machines, as a value.

For each number of states K, the *floor* is the least number of triggers that is not yet proven impossible. Optimal is
what the floors say, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

Objective: TypeAlias = Literal["triggers", "states"]
Size: TypeAlias = tuple[int, int]
"""(states, triggers)"""


@dataclass(frozen=True)
class Floors:
    """For each number of states, the least number of triggers not yet proven impossible.

    One state is excluded from the start: it explains nothing that conflicts.

    >>> floors = Floors().without(2, None).without(3, 2)
    >>> floors.at(2), floors.at(3), floors.at(5)
    (inf, 3, 4)
    >>> floors.next_question("triggers"), floors.next_question("states")
    ((3, 3), (3, 3))
    >>> floors.prove("triggers", (4, 3)), floors.prove("triggers", (3, 3))
    (False, True)
    """

    least: Mapping[int, float] = field(default_factory=lambda: {1: math.inf})

    def at(self, states: int) -> float:
        """The floor of machines with this many states. Each state but the first is entered by a trigger of its own."""
        return max(states - 1, self.least.get(states, 0))

    def without(self, states: int, triggers: int | None) -> Floors:
        """No machine with ``states`` states has ``triggers`` triggers or fewer (None: whatever the number)."""
        floor = max(self.at(states), math.inf if triggers is None else triggers + 1)
        return Floors({**self.least, states: floor})

    def without_better_than(self, objective: Objective, size: Size) -> Floors:
        """Nothing better than this explains some of the episodes, so nothing better explains them all.

        >>> floors = Floors().without_better_than("triggers", (4, 6))
        >>> floors.at(3), floors.at(4), floors.next_question("triggers")
        (7, 6, (4, 6))
        """
        states, triggers = size
        if objective == "states":
            floors = {**dict.fromkeys(range(2, states), math.inf), states: triggers}
        else:
            floors = {k: triggers + 1 if k < states else triggers for k in range(2, triggers + 1)}
        return Floors({**self.least, **{k: max(self.at(k), floor) for k, floor in floors.items()}})

    def next_question(self, objective: Objective) -> Size:
        """The smallest (states, triggers), in the objective's order, that is not excluded."""
        highest = max(self.least) + 1
        open_rows = [k for k in range(2, highest + 1) if self.at(k) < math.inf]
        states = min(open_rows, key=self.at) if objective == "triggers" else open_rows[0]
        return states, int(self.at(states))

    def prove(self, objective: Objective, size: Size) -> bool:
        """Whether nothing better than (states, triggers) is left."""
        return in_order(objective, self.next_question(objective)) >= in_order(objective, size)


def in_order(objective: Objective, size: Size) -> tuple[int, int]:
    """A size as the objective compares it.

    >>> in_order("triggers", (2, 5)), in_order("states", (2, 5))
    ((5, 2), (2, 5))
    """
    states, triggers = size
    return (triggers, states) if objective == "triggers" else (states, triggers)


@dataclass(frozen=True)
class Proven:
    """The floors, and the infeasible questions that they rest on, the last one last. More episodes leave it true."""

    floors: Floors = field(default_factory=Floors)
    questions: tuple[tuple[int, int | None], ...] = ()

    def with_infeasible(self, states: int, triggers: int | None) -> Proven:
        """One more question is answered: no."""
        return Proven(self.floors.without(states, triggers), (*self.questions, (states, triggers)))

    def with_optimum(self, objective: Objective, size: Size) -> Proven:
        """An optimum of some of the episodes is known."""
        return replace(self, floors=self.floors.without_better_than(objective, size))
