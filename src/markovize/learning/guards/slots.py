"""One guard as clauses: where it holds on the steps that are known, and which box a model means.

A guard holds where all its sides let the step pass. Between the cuts of a numeric feature that is only known roughly
(see :mod:`markovize.learning.guards.sides`): what is left out can only make a formula satisfiable. The box of a model
has its thresholds where they agree with the model on most of the steps. Where they cannot agree on all, and the box
does not do, these values become cuts. So a threshold is looked at closely only where it matters, and features that say
nothing cost little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from markovize.episodes.columns import Bools, Ints, Longs
from markovize.learning.guards.candidate import Bound, Box, Side
from markovize.learning.guards.sides import BEYOND, Choice, Clauses, Threshold

WRONGLY_OUT: Final = 4  # as bad as so many steps that hold and should not


QUARTERS: Final = np.arange(1, 4)  # where among the values that were taken for others the new cuts are


class Blur(NamedTuple):
    """Where a box differs from its model: values that were taken for others, by side; rows that should not hold."""

    cuts: list[tuple[int, int]]
    rows: list[int]


@dataclass
class _Loose:
    """A side whose literal a model leaves open between two cuts."""

    place: int
    side: Threshold
    values: Longs = field(repr=False)  # of all steps
    inside: Bools = field(repr=False)  # between the cuts

    @property
    def rising(self) -> bool:
        return self.side.side == "at_least"

    def passes(self, code: int) -> Bools:
        return self.values >= code if self.rising else self.values < code


class Slot:
    """One guard."""

    def __init__(self, clauses: Clauses, numeric: Sequence[bool], cuts: Sequence[Sequence[int]]) -> None:
        """``cuts``: of each numeric feature, the first ones."""
        self._clauses = clauses
        self._sides: list[Threshold | Choice] = []
        for feature, (has_order, codes) in enumerate(zip(numeric, cuts, strict=True)):
            if has_order:
                for side in (Threshold(clauses, feature, "at_least"), Threshold(clauses, feature, "below")):
                    for code in codes:
                        side.passes(code)
                    self._sides.append(side)
            else:
                self._sides.append(Choice(clauses, feature))
        self._holds: dict[int, int] = {}
        self._unless: list[list[int]] = []  # of each row: it holds, or one of these sides may not let it pass
        self._rows: list[Sequence[int]] = []
        self._known = np.zeros((0, len(numeric)), np.int64)  # the rows so far, as an array

    @property
    def used(self) -> list[int]:
        """For each side, the variable "there is a literal"."""
        return [side.used for side in self._sides]

    @property
    def places(self) -> list[tuple[int, Side]]:
        """For each side, its feature and which one it is."""
        return [(side.feature, side.side) for side in self._sides]

    def holds(self, number: int, row: Sequence[int]) -> int:
        """The variable "the guard holds at a step with these codes"; equal rows have equal numbers."""
        if number in self._holds:
            return self._holds[number]
        here = self._holds[number] = self._clauses.new()
        unless = [here]
        for side in self._sides:
            enough, needed = side.span(row[side.feature])
            if needed:
                self._clauses.add([-here, needed])
            unless.append(-enough)
        self._clauses.add(unless)
        self._unless.append(unless)
        self._rows.append(row)
        return here

    def sharpen(self, blur: Blur) -> bool:
        """These values get variables of their own; whether that says anything new.

        The long clauses are said again only where a model needed it: most of them no model ever meets.
        """
        is_new = False
        for place, code in blur.cuts:
            side = self._sides[place]
            assert isinstance(side, Threshold)
            if side.is_cut(code):
                continue
            (low, high), rising, is_new = side.around(code), side.side == "at_least", True
            passes, values = side.passes(code), self._array()[:, side.feature]
            needs_it = (low < values) & (values <= code) if rising else (code <= values) & (values < high)
            for row in np.flatnonzero(needs_it).tolist():
                self._clauses.add([-self._unless[row][0], passes])
        for row in blur.rows:
            unless = self._unless[row]
            now = [unless[0], *(-side.span(self._rows[row][side.feature])[0] for side in self._sides)]
            if now != unless:
                self._unless[row], is_new = now, True
                self._clauses.add(now)
        return is_new

    def _array(self) -> Longs:
        new = self._rows[len(self._known) :]
        if new:
            self._known = np.concatenate([self._known, np.array(new, np.int64).reshape(len(new), -1)])
        return self._known

    # --- models ------------------------------------------------------------------------------------------------------

    def read(self, truth: Bools) -> tuple[Box, Blur]:
        """The guard of a model, true or false by variable, and where the two differ on the steps that are known."""

        def is_true(variable: int) -> bool:
            return bool(truth[variable])

        rows = self._array()
        wanted: Bools = truth[[unless[0] for unless in self._unless]] if self._unless else np.zeros(0, np.bool_)
        fails, box, loose = np.zeros(len(rows), np.int32), list[Bound](), list[_Loose]()
        for place, side in enumerate(self._sides):
            values = rows[:, side.feature]
            low, high = side.room(is_true) if isinstance(side, Threshold) else (0, 0)
            inside: Bools = (low < values) & (values < high)
            if isinstance(side, Threshold) and inside.any():
                loose.append(_Loose(place, side, values, inside))
                fails += (values <= low) if side.side == "at_least" else (values >= high)
            elif (bound := side.read(is_true)) is not None:
                box.append(bound)
                fails += ~_passes(bound, values)
        chosen: list[Bound | None] = []
        for each in loose:
            bound = _settle(each, wanted, fails, each.side.room(is_true))
            chosen.append(bound)
            if bound is not None:
                box.append(bound)
                fails += each.inside & ~each.passes(bound.code)
        box.sort()
        return tuple(box), _find_blur(loose, chosen, wanted, fails == 0)


def _passes(bound: Bound, values: Longs) -> Bools:
    if bound.side == "is":
        return np.equal(values, bound.code)
    return np.greater_equal(values, bound.code) if bound.side == "at_least" else np.less(values, bound.code)


def _settle(loose: _Loose, wanted: Bools, fails: Ints, room: tuple[int, int]) -> Bound | None:
    """The threshold between two cuts that agrees with the model on most steps; None if there needs to be none.

    Steps at which the guard holds must pass; others should not, unless they fail at another side.
    """
    must = np.sort(loose.values[loose.inside & wanted])
    should_not = np.sort(loose.values[loose.inside & ~wanted & (fails == 0)])
    values = np.unique(loose.values[loose.inside])
    cuts = np.append(values, values[-1] + 1)
    if loose.rising:
        errors = WRONGLY_OUT * np.searchsorted(must, cuts) + len(should_not) - np.searchsorted(should_not, cuts)
    else:
        errors = WRONGLY_OUT * (len(must) - np.searchsorted(must, cuts)) + np.searchsorted(should_not, cuts)
    best = np.flatnonzero(errors == errors.min())
    low, high = room
    open_end, all_pass = (low < 0, best[0] == 0) if loose.rising else (high == BEYOND, best[-1] == len(values))
    if open_end and all_pass:
        return None
    at = int(best[len(best) // 2])
    before = int(cuts[at - 1]) if at else low
    behind = int(cuts[at]) if at < len(values) else min(high, int(cuts[at]))
    code = (before + behind + 1) // 2 if before >= 0 else behind
    return Bound(loose.side.feature, loose.side.side, code)


def _find_blur(loose: Sequence[_Loose], chosen: Sequence[Bound | None], wanted: Bools, held: Bools) -> Blur:
    """Of each side, of the steps that should hold or not and do otherwise, the one in the middle."""
    cuts = []
    for each, bound in zip(loose, chosen, strict=True):
        passes = np.ones(len(held), np.bool_) if bound is None else each.passes(bound.code)
        for wrong in (wanted & ~held & ~passes, ~wanted & held):
            values = np.sort(each.values[wrong & each.inside])
            if len(values):
                cuts += [(each.place, int(value)) for value in np.unique(values[len(values) * QUARTERS // 4])]
    return Blur(cuts, np.flatnonzero(~wanted & held).tolist())
