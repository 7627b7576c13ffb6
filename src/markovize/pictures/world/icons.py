"""Small pictures of landmarks: those that a family of worlds has drawn, all others as a letter on a coloured chip.

The shapes are data, in :mod:`markovize.worlds`; here they become pixels, and SVG for a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

from markovize.pictures.world.canvas import PAPER, Canvas, Point
from markovize.worlds import FAMILIES, family
from markovize.worlds.shapes import Box, Icon, Oval, Polygon, Ring, Shape, Stroke

ICONS: Final[Mapping[str, Icon]] = {name: icon for known in FAMILIES for name, icon in family(known).icons.items()}


def draw_chip(canvas: Canvas, centre: Point, size: float, sign: str, colour: str) -> None:
    """A letter on a rounded square."""
    x, y = centre
    half = size / 2
    canvas.box(x - half, y - half, x + half, y + half, colour, round=size * 0.26)
    canvas.text((x, y), sign, size * 0.62, PAPER, bold=True)


def draw_icon(canvas: Canvas, centre: Point, size: float, icon: Icon) -> None:
    """An icon in a square of this size."""
    draw_shapes(canvas, icon.shapes, centre, size / 2)


def draw_shapes(canvas: Canvas, shapes: Iterable[Shape], origin: Point, scale: float) -> None:
    """All shapes, one above the other."""

    def at(x: float, y: float) -> Point:
        return origin[0] + scale * x, origin[1] + scale * y

    for shape in shapes:
        if isinstance(shape, Box):
            corners = (*at(shape.left, shape.top), *at(shape.right, shape.bottom))
            canvas.box(*corners, shape.colour, round=scale * shape.round)
        elif isinstance(shape, Oval):
            canvas.oval(at(shape.x, shape.y), scale * shape.across, scale * shape.down, shape.colour)
        elif isinstance(shape, Ring):
            canvas.ring(at(shape.x, shape.y), scale * shape.radius, shape.colour, scale * shape.width)
        elif isinstance(shape, Stroke):
            canvas.line([at(*point) for point in shape.points], shape.colour, scale * shape.width)
        elif isinstance(shape, Polygon):
            canvas.shape([at(*point) for point in shape.points], shape.colour)
        else:
            canvas.text(at(shape.x, shape.y), shape.words, scale * shape.size, shape.colour, bold=True)


def shapes_svg(shapes: Iterable[Shape], scale: float) -> str:
    """The same as SVG elements, around (0, 0).

    >>> shapes_svg([Box(-1, -0.5, 1, 0.5, "#ffffff", 0.1)], 10)
    '<rect x="-10" y="-5" width="20" height="10" rx="1" fill="#ffffff"/>'
    """
    return "".join(_svg(shape, scale) for shape in shapes)


def _svg(shape: Shape, scale: float) -> str:
    def n(value: float) -> str:
        return f"{round(scale * value, 2):g}"

    if isinstance(shape, Box):
        size = f'width="{n(shape.right - shape.left)}" height="{n(shape.bottom - shape.top)}" rx="{n(shape.round)}"'
        return f'<rect x="{n(shape.left)}" y="{n(shape.top)}" {size} fill="{shape.colour}"/>'
    if isinstance(shape, Oval):
        size = f'rx="{n(shape.across)}" ry="{n(shape.down)}"'
        return f'<ellipse cx="{n(shape.x)}" cy="{n(shape.y)}" {size} fill="{shape.colour}"/>'
    if isinstance(shape, Ring):  # a stroke of SVG lies on both sides of its line
        place = f'cx="{n(shape.x)}" cy="{n(shape.y)}" r="{n(shape.radius - shape.width / 2)}"'
        return f'<circle {place} fill="none" stroke="{shape.colour}" stroke-width="{n(shape.width)}"/>'
    if isinstance(shape, Stroke):
        style = f'fill="none" stroke="{shape.colour}" stroke-width="{n(shape.width)}"'
        points = " ".join(f"{n(x)},{n(y)}" for x, y in shape.points)
        return f'<polyline points="{points}" {style} stroke-linecap="round" stroke-linejoin="round"/>'
    if isinstance(shape, Polygon):
        points = " ".join(f"{n(x)},{n(y)}" for x, y in shape.points)
        return f'<polygon points="{points}" fill="{shape.colour}"/>'
    style = f'font-size="{n(shape.size)}" font-weight="700" text-anchor="middle" fill="{shape.colour}"'
    return f'<text x="{n(shape.x)}" y="{n(shape.y)}" dominant-baseline="central" {style}>{escape(shape.words)}</text>'
