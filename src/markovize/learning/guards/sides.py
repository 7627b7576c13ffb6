"""Guards as clauses: which values each side of each guard lets pass, and how many literals that takes.

A numeric feature has two sides in a guard, at least and below; a categorical one has one. A side lets values pass:
``passes(v)``. Without a literal, all of them. A lower bound lets pass v and everything above it, an upper bound v and
everything below it (an order encoding that grows: new values are put between the old ones), and "is" at most one value
(a ladder that grows).

Of a numeric feature only some values have a variable of their own, the *cuts*. Of a value between two cuts it is known
that it passes if the cut before it does, and that it does not if the cut behind it does not; in between it is free.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from markovize.learning.guards.candidate import Bound, Side

BEYOND: Final = 1 << 40  # above all codes


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

    def span(self, code: int) -> tuple[int, int]:
        """A literal from which it follows that this value passes, and one that follows from it, or 0 if there is none.

        They are the same if the value is a cut.
        """
        known, order = self._passes, self._order
        own = known.get(code)
        if own is not None:
            return own, own
        at = bisect(order, code)
        below, above = known[order[at - 1]] if at else 0, known[order[at]] if at < len(order) else 0
        weaker, stronger = (above, below) if self.side == "at_least" else (below, above)
        return stronger or -self.used, weaker

    def is_cut(self, code: int) -> bool:
        """Whether the value has a variable of its own."""
        return code in self._passes

    def around(self, code: int) -> tuple[int, int]:
        """The cuts next to a value that is none; -1 and ``BEYOND``, which no value has, where there is none."""
        at = bisect(self._order, code)
        return self._order[at - 1] if at else -1, self._order[at] if at < len(self._order) else BEYOND

    def room(self, is_true: Callable[[int], bool]) -> tuple[int, int]:
        """The cuts between which the literal of a model lies: values in between may pass or not. Equal if none may."""
        if not is_true(self.used):
            return 0, 0
        at = self._turn(is_true)
        return self._order[at - 1] if at else -1, self._order[at] if at < len(self._order) else BEYOND

    def _turn(self, is_true: Callable[[int], bool]) -> int:
        """How many cuts come before those of the other kind: falses before trues, or trues before falses."""
        rising = self.side == "at_least"
        return bisect_left(self._order, True, key=lambda code: is_true(self._passes[code]) is rising)

    def read(self, is_true: Callable[[int], bool]) -> Bound | None:
        """The literal of a model; half-way between two values that it must tell apart."""
        order, rising, at = self._order, self.side == "at_least", self._turn(is_true)
        if at == (0 if rising else len(order)):
            return None
        if at == (len(order) if rising else 0):  # nothing that is known passes
            return Bound(self.feature, self.side, order[-1] + 1 if rising else order[0])
        return Bound(self.feature, self.side, (order[at - 1] + order[at] + 1) // 2)


class Choice:
    """The side of a guard on a categorical feature."""

    side: Final[Side] = "is"

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

    def span(self, code: int) -> tuple[int, int]:
        """As of a threshold; each value has a variable of its own."""
        passes = self.passes(code)
        return passes, passes

    def read(self, is_true: Callable[[int], bool]) -> Bound | None:
        """The literal of a model; -1, which no value has, where no known value passes."""
        if all(is_true(here) for here in self._passes.values()):
            return None
        chosen = [code for code, here in self._passes.items() if is_true(here)]
        return Bound(self.feature, "is", chosen[0] if chosen else -1)
