"""Maps as pictures: floor, thick walls, doors, landmarks, the agent and its trail."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Final

from markovize.pictures.style import INK, LABEL
from markovize.pictures.world import canvas as colours
from markovize.pictures.world.borders import Border, Borders
from markovize.pictures.world.canvas import CHIPS, PAPER, Canvas, Point, text_width
from markovize.pictures.world.icons import ICONS, draw_chip, draw_icon
from markovize.pictures.world.scene import View, signs
from markovize.worlds import GridMap

CELL: Final = 48
SMALLEST: Final = 16
READABLE: Final = 36  # from this size on a cell has room for words
LARGEST: Final = 1200
"""Pixels; the cells of larger maps shrink, as far as they can be seen."""


class MapPicture:
    """Draws one map again and again; what never moves is drawn once.

    >>> grid = GridMap.parse("+---+\\n|@ .|\\n+---+")
    >>> MapPicture(grid).size
    (112, 64)
    """

    def __init__(self, grid: GridMap) -> None:
        self.grid = grid
        self.cell = max(SMALLEST, min(CELL, LARGEST // max(grid.width, grid.height)))
        self.margin = self.cell / 6
        self.wall = self.cell / 9
        self.signs = signs(grid.landmarks)
        self.at = {state: name for name, states in grid.landmarks.items() for state in states}

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        width, height = (count * self.cell + round(2 * self.margin) for count in (self.grid.width, self.grid.height))
        return width, height

    def draw(self, view: View, width: int, height: int) -> Canvas:
        """The map of this view, in the upper left of a canvas of this size."""
        canvas = self._empty.copy(width, height)
        if view.trail:
            way = [self._centre(state) for state in (view.world.start, *view.trail)]
            canvas.line(way, colours.TRAIL, self.cell / 12)
        for state, name in self.at.items():
            self._landmark(canvas, self._centre(state), name, view.captions)
        x, y = self._centre(view.state)
        if view.state in self.at:  # beside it, so that both are seen
            x, y = x + self.cell * 0.3, y - self.cell * 0.28
        agent(canvas, (x, y), self.cell * (0.17 if view.state in self.at else 0.29))
        return canvas

    @cached_property
    def _empty(self) -> Canvas:
        borders, cell = Borders(self.grid), self.cell
        canvas = Canvas(*self.size)
        for x in range(self.grid.width):
            for y in range(self.grid.height):
                left, bottom = self._corner(x, y)
                free = (x, y) in borders.free
                canvas.box(left, bottom - cell, left + cell, bottom, colours.GRID if free else colours.SOLID)
                if free:
                    canvas.box(left + 0.5, bottom - cell + 0.5, left + cell - 0.5, bottom - 0.5, colours.FLOOR)
        for x in range(self.grid.width + 1):
            for y in range(self.grid.height + 1):
                upright, level = borders.vertical(x, y), borders.horizontal(x, y)
                self._border(canvas, upright, borders.door(x, y, vertical=True), self._corner(x, y), (0, -1))
                self._border(canvas, level, borders.door(x, y, vertical=False), self._corner(x, y), (1, 0))
        return canvas

    def _border(self, canvas: Canvas, border: Border, door: bool, start: Point, way: tuple[int, int]) -> None:
        """A wall, or the posts and the sill of a door."""

        def bar(near: float, far: float, thick: float, colour: str, round: float) -> None:
            ends = [(start[0] + way[0] * d, start[1] + way[1] * d) for d in (near, far)]
            xs, ys = sorted(x for x, _ in ends), sorted(y for _, y in ends)
            aside = (abs(way[1]) * thick / 2, abs(way[0]) * thick / 2)
            canvas.box(xs[0] - aside[0], ys[0] - aside[1], xs[1] + aside[0], ys[1] + aside[1], colour, round)

        half, cell = self.wall / 2, self.cell
        if border is Border.WALL:
            bar(-half, cell + half, self.wall, INK, half * 0.6)
        elif door:
            post = cell / 6
            bar(0, cell, self.wall * 0.45, colours.DOOR, 0)
            bar(-half, post, self.wall, INK, half * 0.6)
            bar(cell - post, cell + half, self.wall, INK, half * 0.6)

    def _landmark(self, canvas: Canvas, centre: Point, name: str, captions: Mapping[str, str]) -> None:
        cell, (x, y) = self.cell, centre
        caption = captions.get(name, name)
        icon = ICONS.get(name)
        said = caption != self.signs[name] and cell >= READABLE and (icon is None or icon.captioned)
        high = y - cell * 0.11 if said else y
        if icon is not None:
            draw_icon(canvas, (x, high), cell * (0.5 if said else 0.62), icon)
        else:
            number = list(self.grid.landmarks).index(name)
            draw_chip(canvas, (x, high), cell * (0.52 if said else 0.6), self.signs[name], CHIPS[number % len(CHIPS)])
        if said:
            room, size = cell - self.wall - 2, 9.5
            while size > 8 and text_width(caption, size) > room:
                size -= 0.5
            while len(caption) > 1 and text_width(caption, size) > room:
                caption = caption.rstrip("…")[:-1] + "…"
            canvas.text((x, y + cell * 0.31), caption, size, LABEL)

    def _corner(self, x: int, y: int) -> Point:
        """The lower left of a cell; the picture's y grows downwards."""
        return self.margin + x * self.cell, self.margin + (self.grid.height - y) * self.cell

    def _centre(self, state: int) -> Point:
        left, bottom = self._corner(*self.grid.cells[state])
        return left + self.cell / 2, bottom - self.cell / 2


@lru_cache(maxsize=4)  # each keeps a picture of its map
def map_picture(grid: GridMap) -> MapPicture:
    """The painter of a map."""
    return MapPicture(grid)


def agent(canvas: Canvas, centre: Point, radius: float) -> None:
    """A disc with a light rim, so that it stands out from everything."""
    canvas.disc(centre, radius + 1.5, colours.AGENT, PAPER, 2)
    canvas.disc((centre[0] - radius * 0.3, centre[1] - radius * 0.32), radius * 0.2, "#ffd9bf")
