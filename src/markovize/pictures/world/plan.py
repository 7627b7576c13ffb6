"""Grid worlds as a picture needs them: cells, walls, doors and landmarks, without a framework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from markovize.episodes.values import On
from markovize.errors import InputError

if TYPE_CHECKING:
    import gymnasium as gym


@dataclass(frozen=True)
class Landmark:
    """A place with a name: ``sign`` is a letter for it, ``caption`` what it means."""

    name: str
    sign: str
    caption: str
    cells: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class GridView:
    """A map: cells ``(x, y)``, y upwards; walls and doors as lines ``(x1, y1, x2, y2)`` between corners of cells."""

    width: int
    height: int
    cells: tuple[tuple[int, int], ...]
    walls: tuple[tuple[int, int, int, int], ...]
    doors: tuple[tuple[int, int, int, int], ...]
    landmarks: tuple[Landmark, ...]

    def name_of(self, cell: On) -> str | None:
        """What the landmark at a cell means, if there is one."""
        return next((mark.caption for mark in self.landmarks if cell in mark.cells), None)

    def to_json(self) -> dict[str, Any]:
        """Lists and numbers only."""
        return {
            "width": self.width,
            "height": self.height,
            "cells": [list(cell) for cell in self.cells],
            "walls": [list(line) for line in self.walls],
            "doors": [list(line) for line in self.doors],
            "landmarks": [
                {"name": m.name, "sign": m.sign, "caption": m.caption, "cells": [list(cell) for cell in m.cells]}
                for m in self.landmarks
            ],
        }

    @classmethod
    def from_json(cls, data: Any) -> GridView:
        """Reads what :meth:`to_json` wrote."""
        try:
            if set(data) != {f.name for f in fields(cls)}:
                raise KeyError("other fields")
            return cls(
                int(data["width"]),
                int(data["height"]),
                _cells(data["cells"]),
                _lines(data["walls"]),
                _lines(data["doors"]),
                tuple(Landmark(m["name"], m["sign"], m["caption"], _cells(m["cells"])) for m in data["landmarks"]),
            )
        except (KeyError, TypeError, ValueError):
            raise InputError("a view has other fields than this version writes; run the trial again") from None


def view_of(env: gym.Env[Any, Any]) -> GridView | None:
    """The map behind an environment; None where there is none.

    >>> import gymnasium, markovize
    >>> view = view_of(gymnasium.make("markovize/BreakfastWorld-v0"))
    >>> view.width, view.height, view.name_of((1, 4)), view_of(gymnasium.make("markovize/BeachWorld-v0"))
    (4, 6, 'cook', None)
    """
    from markovize.pictures.world.borders import Border, Borders
    from markovize.pictures.world.scene import signs

    inner = env.unwrapped
    grid = getattr(getattr(inner, "world", None), "grid", None)
    if grid is None:
        return None
    captions: Mapping[str, str] = getattr(inner, "captions", {})
    borders, letters = Borders(grid), signs(grid.landmarks)
    walls, doors = [], []
    for x in range(grid.width + 1):
        for y in range(grid.height + 1):
            for border, vertical, line in (
                (borders.vertical(x, y), True, (x, y, x, y + 1)),
                (borders.horizontal(x, y), False, (x, y, x + 1, y)),
            ):
                if border is Border.WALL:
                    walls.append(line)
                elif borders.door(x, y, vertical=vertical):
                    doors.append(line)
    landmarks = tuple(Landmark(name, letters[name], captions.get(name, name), grid.at(name)) for name in grid.landmarks)
    return GridView(grid.width, grid.height, grid.cells, tuple(walls), tuple(doors), landmarks)


def _cells(data: Any) -> tuple[tuple[int, int], ...]:
    return tuple((int(x), int(y)) for x, y in data)


def _lines(data: Any) -> tuple[tuple[int, int, int, int], ...]:
    return tuple((int(x1), int(y1), int(x2), int(y2)) for x1, y1, x2, y2 in data)
