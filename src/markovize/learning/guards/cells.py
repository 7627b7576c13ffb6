"""What a cell (u, label, valuation of the reward guards, u') pays, as clauses.

Without an allowance each cell has the bits of one outcome. With one, where outcomes may fit without being equal, each
cell has a window, known by where it begins: ``from(c) ≤ v`` for each outcome v in an order encoding that grows. A step
is inside if its window begins at the step's outcome at the latest, and no earlier than the least outcome that fits.
"""

from __future__ import annotations

from bisect import bisect
from typing import Protocol

from markovize.learning.guards.pays import Pays
from markovize.learning.guards.sides import Clauses


class Cells(Protocol):
    """What must hold if a step with an outcome is in a cell."""

    def require(self, cell: tuple[object, ...], outcome: int, *, roughly: bool) -> list[int]:
        """Literals that must all hold; ``roughly``: some that follow from them and take little."""
        ...


class BitCells:
    """Only equal outcomes fit."""

    def __init__(self, clauses: Clauses, n_outcomes: int) -> None:
        self._clauses = clauses
        self._cells: dict[tuple[object, ...], list[int]] = {}
        self._bits = max(1, (n_outcomes - 1).bit_length())

    def require(self, cell: tuple[object, ...], outcome: int, *, roughly: bool) -> list[int]:  # noqa: ARG002 - they are few
        """The bits of the outcome."""
        known = self._cells.get(cell)
        if known is None:
            known = self._cells[cell] = [self._clauses.new() for _ in range(self._bits)]
        return [is_set if outcome >> bit & 1 else -is_set for bit, is_set in enumerate(known)]


class WindowCells:
    """Outcomes of one window fit."""

    def __init__(self, clauses: Clauses, pays: Pays) -> None:
        self._clauses = clauses
        self._fits_from: list[int] = pays.fits_from.tolist()
        self._grid: list[int] = pays.grid.tolist()
        self._begins: dict[tuple[object, ...], dict[int, int]] = {}
        self._order: dict[tuple[object, ...], list[int]] = {}

    def require(self, cell: tuple[object, ...], outcome: int, *, roughly: bool) -> list[int]:
        """The window begins at the outcome at the latest, and not before the least that fits with it."""
        latest, too_early = outcome, self._fits_from[outcome] - 1
        if roughly:
            above, below = bisect(self._grid, latest - 1), bisect(self._grid, too_early) - 1
            latest = self._grid[above]  # the last of the grid is the last outcome
            too_early = self._grid[below] if below >= 0 else -1
        out = [self._begins_by(cell, latest)] if latest < len(self._fits_from) - 1 else []
        return [*out, -self._begins_by(cell, too_early)] if too_early >= 0 else out

    def _begins_by(self, cell: tuple[object, ...], outcome: int) -> int:
        """The variable "the window of the cell begins at this outcome or before"."""
        known, order = self._begins.setdefault(cell, {}), self._order.setdefault(cell, [])
        if outcome in known:
            return known[outcome]
        here, at = self._clauses.new(), bisect(order, outcome)
        if at:
            self._clauses.add([-known[order[at - 1]], here])
        if at < len(order):
            self._clauses.add([-here, known[order[at]]])
        order.insert(at, outcome)
        known[outcome] = here
        return here
