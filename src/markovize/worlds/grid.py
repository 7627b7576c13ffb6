"""Grids drawn as text: cells with walls, doors, solid blocks, landmarks and a start, as a table of moves.

A drawing has a line and a column for every cell and for every border between cells, so that walls are seen
where they stand. ``.`` is floor, ``#`` solid, ``@`` the start; any other character is a landmark, named by
itself or by ``names``. Between cells a blank is open and anything else is a wall.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from markovize.episodes.traces import Ints
from markovize.errors import InputError

ACTIONS: Final = ("up", "right", "down", "left", "stay")
OFFSETS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0), (0, 0))


@dataclass(frozen=True, eq=False)
class GridMap:
    """A parsed map. Cells that are not solid are numbered row by row from the bottom left; y grows upwards.

    ``moves[cell, action]`` is the cell after an action (0 up, 1 right, 2 down, 3 left, 4 stay); a bump stays.

    >>> grid = GridMap.parse('''
    ...     +-+-+
    ...     |.|#|
    ...     + +-+
    ...     |@ k|
    ...     +-+-+''', names={"k": "key"})
    >>> grid.cells, grid.start, dict(grid.landmarks)
    (((0, 0), (1, 0), (0, 1)), 0, {'key': (1,)})
    >>> grid.moves.tolist()
    [[2, 1, 0, 0, 0], [1, 1, 1, 0, 1], [2, 2, 0, 2, 2]]
    """

    width: int
    height: int
    cells: tuple[tuple[int, int], ...]
    start: int
    moves: Ints = field(repr=False)
    landmarks: Mapping[str, tuple[int, ...]]

    @classmethod
    def parse(cls, text: str, names: Mapping[str, str] | None = None) -> GridMap:
        """Reads a drawing; ``names`` renames landmarks (the start ``@`` is a landmark only if named)."""
        lines = textwrap.dedent(text.strip("\n")).rstrip().split("\n")
        height, width = len(lines) // 2, max(map(len, lines)) // 2
        if len(lines) % 2 == 0 or not height or not width:
            raise InputError(f"a map of n rows is drawn in 2n+1 lines, with borders; this has {len(lines)}")
        lines = [line.ljust(2 * width + 1) for line in lines]
        marks = {(x, y): lines[2 * (height - y) - 1][2 * x + 1] for y in range(height) for x in range(width)}
        if blank := [cell for cell, mark in marks.items() if mark in " |-+"]:
            raise InputError(f"cell {blank[0]} is drawn as {marks[blank[0]]!r}; floor is '.', solid is '#'")
        starts = [cell for cell, mark in marks.items() if mark == "@"]
        if len(starts) != 1:
            raise InputError(f"a map has one start '@', not {len(starts)}")
        cells = tuple(cell for cell, mark in marks.items() if mark != "#")
        number = {cell: index for index, cell in enumerate(cells)}
        moves = np.empty((len(cells), len(OFFSETS)), np.int32)
        for index, (x, y) in enumerate(cells):
            for action, (dx, dy) in enumerate(OFFSETS):
                border = lines[2 * (height - y) - 1 - dy][2 * x + 1 + dx]
                free = border == " " or (dx, dy) == (0, 0)
                moves[index, action] = number.get((x + dx, y + dy), index) if free else index
        named = {"@": "", ".": ""} | dict(names or {})
        landmarks: dict[str, tuple[int, ...]] = {}
        for index, cell in enumerate(cells):
            name = named.get(marks[cell], marks[cell])
            if name:
                landmarks[name] = (*landmarks.get(name, ()), index)
        return cls(width, height, cells, number[starts[0]], moves, landmarks)

    def at(self, name: str) -> tuple[tuple[int, int], ...]:
        """The coordinates of a landmark's cells.

        >>> GridMap.parse("+++++++\\n|@ a a|\\n+++++++").at("a")
        ((1, 0), (2, 0))
        """
        return tuple(self.cells[index] for index in self.landmarks[name])
