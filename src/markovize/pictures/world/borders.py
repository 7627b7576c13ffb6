"""What stands between the cells of a map: walls, open ways, doors. For both kinds of pictures."""

from __future__ import annotations

from enum import Enum

from markovize.worlds import GridMap


class Border(Enum):
    """What is between two neighbours."""

    OPEN = 0
    WALL = 1
    INSIDE = 2  # of a solid block


class Borders:
    """The borders of a map. ``vertical(x, y)`` is left of cell (x, y), ``horizontal(x, y)`` is below it.

    >>> grid = GridMap.parse("+---+-+\\n|@ .|a|\\n+---+-+")
    >>> borders = Borders(grid)
    >>> borders.vertical(1, 0).name, borders.vertical(2, 0).name, borders.horizontal(1, 1).name
    ('OPEN', 'WALL', 'WALL')
    """

    def __init__(self, grid: GridMap) -> None:
        self.width, self.height = grid.width, grid.height
        number = {cell: index for index, cell in enumerate(grid.cells)}
        self.free = frozenset(grid.cells)
        self._right = {cell: grid.moves[index, 1] != index for cell, index in number.items()}
        self._up = {cell: grid.moves[index, 0] != index for cell, index in number.items()}

    def vertical(self, x: int, y: int) -> Border:
        """Between (x - 1, y) and (x, y)."""
        return self._between((x - 1, y), (x, y), self._right)

    def horizontal(self, x: int, y: int) -> Border:
        """Between (x, y - 1) and (x, y)."""
        return self._between((x, y - 1), (x, y), self._up)

    def door(self, x: int, y: int, *, vertical: bool) -> bool:
        """Whether this opening has walls on both sides, in line with it."""
        if vertical:
            sides = [self.vertical(x, y - 1), self.vertical(x, y + 1)]
            return self.vertical(x, y) is Border.OPEN and all(side is Border.WALL for side in sides)
        sides = [self.horizontal(x - 1, y), self.horizontal(x + 1, y)]
        return self.horizontal(x, y) is Border.OPEN and all(side is Border.WALL for side in sides)

    def _between(self, one: tuple[int, int], two: tuple[int, int], passable: dict[tuple[int, int], bool]) -> Border:
        inside = [0 <= x < self.width and 0 <= y < self.height for x, y in (one, two)]
        if one in self.free and two in self.free:
            return Border.OPEN if passable[one] else Border.WALL
        if not any(inside):
            return Border.OPEN
        solid = all(inside) and one not in self.free and two not in self.free
        return Border.INSIDE if solid else Border.WALL
