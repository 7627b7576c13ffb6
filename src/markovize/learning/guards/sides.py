"""Guards as clauses: which values each side of each guard lets pass, and how many literals that takes.

A numeric feature has two sides in a guard, at least and below; a categorical one has one. A side lets values pass:
``passes(v)``. Without a literal, all of them. A lower bound lets pass v and everything above it, an upper bound v and
everything below it (an order encoding that grows: new values are put between the old ones), and "is" at most one value
(a ladder that grows). A guard holds where all its sides let the step pass.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markovize.learning.guards.candidate import Bound, Box, Side


@dataclass
class Clauses:
    """Where variables come from and clauses go."""

    add: Callable[[list[int]], object]
    top: int = 0
    likely: list[int] = field(default_factory=list)  # variables to try as true first

    def new(self) -> int:
        """A variable."""
        self.top += 1
        return self.top

    def exactly_one(self, literals: Sequence[int]) -> None:
        """One of them, pairwise: there are few."""
        self.add(list(literals))
        for at, first in enumerate(literals):
            for second in literals[:at]:
                self.add([-first, -second])


class Threshold:
    """One side of a guard on a numeric feature."""

    def __init__(self, clauses: Clauses, feature: int, side: Side) -> None:
        self._clauses, self.feature, self.side = clauses, feature, side
        self.used = clauses.new()
        self._passes: dict[int, int] = {}
        self._order: list[int] = []

    def passes(self, code: int) -> int:
        """The variable "this value passes"."""
        if code in self._passes:
            return self._passes[code]
        add, here = self._clauses.add, self._clauses.new()
        self._clauses.likely.append(here)
        at = bisect(self._order, code)
        below = self._passes[self._order[at - 1]] if at else 0
        above = self._passes[self._order[at]] if at < len(self._order) else 0
        weaker, stronger = (above, below) if self.side == "at_least" else (below, above)  # who passes if this does
        if weaker:
            add([-here, weaker])
        if stronger:
            add([-stronger, here])
        else:  # the last value to pass: if it does not, there is a literal
            add([here, self.used])
        self._order.insert(at, code)
        self._passes[code] = here
        return here

    def read(self, is_true: Callable[[int], bool]) -> Bound | None:
        """The literal of a model; half-way between two values that it must tell apart."""
        order, rising = self._order, self.side == "at_least"
        # falses come before trues, or trues before falses
        at = bisect_left(order, True, key=lambda code: is_true(self._passes[code]) is rising)
        if at == (0 if rising else len(order)):
            return None
        if at == (len(order) if rising else 0):  # nothing that is known passes
            return Bound(self.feature, self.side, order[-1] + 1 if rising else order[0])
        return Bound(self.feature, self.side, (order[at - 1] + order[at] + 1) // 2)


class Choice:
    """The side of a guard on a categorical feature."""

    def __init__(self, clauses: Clauses, feature: int) -> None:
        self._clauses, self.feature = clauses, feature
        self.used = clauses.new()
        self._passes: dict[int, int] = {}
        self._earlier = 0  # "a value so far was chosen"

    def passes(self, code: int) -> int:
        """The variable "this value passes"."""
        if code in self._passes:
            return self._passes[code]
        add, used, here, chosen = self._clauses.add, self.used, self._clauses.new(), self._clauses.new()
        self._clauses.likely.append(here)
        add([used, here])
        add([-used, -here, chosen])
        if self._earlier:
            add([-self._earlier, chosen])
            add([-used, -here, -self._earlier])
        self._earlier = chosen
        self._passes[code] = here
        return here

    def read(self, is_true: Callable[[int], bool]) -> Bound | None:
        """The literal of a model; -1, which no value has, where no known value passes."""
        if all(is_true(here) for here in self._passes.values()):
            return None
        chosen = [code for code, here in self._passes.items() if is_true(here)]
        return Bound(self.feature, "is", chosen[0] if chosen else -1)


class Slot:
    """One guard."""

    def __init__(self, clauses: Clauses, numeric: Sequence[bool]) -> None:
        self._clauses = clauses
        self._sides: list[list[Threshold | Choice]] = [
            [Threshold(clauses, feature, "at_least"), Threshold(clauses, feature, "below")]
            if has_order
            else [Choice(clauses, feature)]
            for feature, has_order in enumerate(numeric)
        ]
        self._holds: dict[int, int] = {}

    @property
    def used(self) -> list[int]:
        """For each side, the variable "there is a literal"."""
        return [side.used for sides in self._sides for side in sides]

    def holds(self, number: int, row: Sequence[int]) -> int:
        """The variable "the guard holds at a step with these codes"; equal rows have equal numbers."""
        if number in self._holds:
            return self._holds[number]
        here = self._holds[number] = self._clauses.new()
        unless = [here]
        for sides, code in zip(self._sides, row, strict=True):
            for side in sides:
                passes = side.passes(code)
                self._clauses.add([-here, passes])
                unless.append(-passes)
        self._clauses.add(unless)
        return here

    def read(self, is_true: Callable[[int], bool]) -> Box:
        """The guard of a model."""
        found = (side.read(is_true) for sides in self._sides for side in sides)
        return tuple(bound for bound in found if bound is not None)
