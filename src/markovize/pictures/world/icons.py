"""Small pictures of landmarks: known ones as what they are, all others as a letter on a coloured chip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from markovize.pictures.world.canvas import INK, PAPER, Canvas, Point

LEAF, STEM, POT = "#3f9b57", "#2e7d45", "#c56a3d"
CUP, COFFEE = "#ffffff", "#6f4e37"
STEAM, SCREEN = "#9fb0c3", "#3b6fb6"


def chip(canvas: Canvas, centre: Point, size: float, sign: str, colour: str) -> None:
    """A letter on a rounded square."""
    x, y = centre
    half = size / 2
    canvas.box(x - half, y - half, x + half, y + half, colour, round=size * 0.26)
    canvas.text((x, y), sign, size * 0.62, PAPER, bold=True)


def plant(canvas: Canvas, centre: Point, size: float) -> None:
    """A pot with leaves."""
    x, y = centre
    s = size / 2
    canvas.line([(x, y + s * 0.3), (x, y - s * 0.5)], STEM, s * 0.12)
    canvas.oval((x, y - s * 0.62), s * 0.24, s * 0.42, LEAF)
    canvas.oval((x - s * 0.42, y - s * 0.16), s * 0.42, s * 0.22, LEAF)
    canvas.oval((x + s * 0.42, y - s * 0.16), s * 0.42, s * 0.22, STEM)
    canvas.shape(
        [(x - s * 0.5, y + s * 0.25), (x + s * 0.5, y + s * 0.25), (x + s * 0.36, y + s), (x - s * 0.36, y + s)], POT
    )
    canvas.box(x - s * 0.58, y + s * 0.15, x + s * 0.58, y + s * 0.4, POT, round=s * 0.08)


def coffee(canvas: Canvas, centre: Point, size: float) -> None:
    """A cup that steams."""
    x, y = centre
    s = size / 2
    for dx in (-0.36, 0.02):
        points = [(x + s * (dx + 0.09 * (-1) ** k), y - s * (0.42 + 0.17 * k)) for k in range(4)]
        canvas.line(points, STEAM, s * 0.1)
    canvas.ring((x + s * 0.46, y + s * 0.3), s * 0.32, COFFEE, s * 0.14)
    canvas.box(x - s * 0.78, y - s * 0.22, x + s * 0.46, y + s * 0.8, COFFEE, round=s * 0.26)
    canvas.box(x - s * 0.78, y - s * 0.22, x + s * 0.46, y + s * 0.2, COFFEE)
    canvas.box(x - s * 0.95, y + s * 0.82, x + s * 0.75, y + s * 0.98, COFFEE, round=s * 0.08)


def mail(canvas: Canvas, centre: Point, size: float) -> None:
    """An envelope."""
    x, y = centre
    s = size / 2
    canvas.box(x - s * 0.95, y - s * 0.62, x + s * 0.95, y + s * 0.7, INK, round=s * 0.14)
    canvas.box(x - s * 0.83, y - s * 0.5, x + s * 0.83, y + s * 0.58, "#fff6dd", round=s * 0.06)
    canvas.line([(x - s * 0.82, y - s * 0.48), (x, y + s * 0.16), (x + s * 0.82, y - s * 0.48)], INK, s * 0.12)


def office(canvas: Canvas, centre: Point, size: float) -> None:
    """A desk with a screen."""
    x, y = centre
    s = size / 2
    canvas.box(x - s * 0.72, y - s * 0.85, x + s * 0.72, y + s * 0.2, INK, round=s * 0.12)
    canvas.box(x - s * 0.6, y - s * 0.73, x + s * 0.6, y + s * 0.08, "#bcd6f5", round=s * 0.05)
    canvas.box(x - s * 0.12, y + s * 0.2, x + s * 0.12, y + s * 0.44, INK)
    canvas.box(x - s, y + s * 0.42, x + s, y + s * 0.6, "#a9744f", round=s * 0.06)
    for side in (-0.8, 0.8):
        canvas.box(x + s * (side - 0.09), y + s * 0.58, x + s * (side + 0.09), y + s, "#a9744f")


ICONS: Final[dict[str, Callable[[Canvas, Point, float], None]]] = {
    "plant": plant,
    "coffee": coffee,
    "mail": mail,
    "office": office,
}
