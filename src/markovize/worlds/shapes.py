"""Pictures of landmarks and places as data: a few shapes, for whatever draws them. The y axis points down.

An icon reaches from -1 to 1 both ways; a scene fills a square of 168 units from (0, 0) on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

OUTLINE: Final = "#1f2d3d"
PAPER: Final = "#ffffff"
SCENE: Final = 168


@dataclass(frozen=True)
class Box:
    """A filled rectangle, with round corners if asked for."""

    left: float
    top: float
    right: float
    bottom: float
    colour: str
    round: float = 0


@dataclass(frozen=True)
class Oval:
    """A filled ellipse of these half axes."""

    x: float
    y: float
    across: float
    down: float
    colour: str


@dataclass(frozen=True)
class Ring:
    """A circle's outline; its width lies within the radius."""

    x: float
    y: float
    radius: float
    colour: str
    width: float


@dataclass(frozen=True)
class Stroke:
    """A line with round ends and corners."""

    points: tuple[tuple[float, float], ...]
    colour: str
    width: float


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    colour: str


@dataclass(frozen=True)
class Words:
    """A word, centred."""

    x: float
    y: float
    words: str
    size: float
    colour: str


Shape: TypeAlias = Box | Oval | Ring | Stroke | Polygon | Words


@dataclass(frozen=True)
class Icon:
    """A small picture of a landmark. ``sign`` is its letter in a text; not ``captioned``: it speaks for itself."""

    shapes: tuple[Shape, ...]
    sign: str = ""
    captioned: bool = True
