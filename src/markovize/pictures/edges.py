"""The lines between states, for all that draws machines: vertices and codes as matplotlib's paths have them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from markovize.pictures.layout import BEND, RADIUS, Point


def touch(centre: Point, towards: Point) -> Point:
    """Where a line from that point meets the circle of a state."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    length = math.hypot(dx, dy) or 1.0
    return centre[0] + RADIUS * dx / length, centre[1] + RADIUS * dy / length


def smooth(points: Sequence[Point]) -> tuple[list[Point], list[int]]:
    """Curves with level tangents at every point, so that lines are flat below their labels."""
    vertices, codes = [points[0]], [1]
    for (x1, y1), (x2, y2) in pairwise(points):
        bend = (x2 - x1) * BEND
        vertices += [(x1 + bend, y1), (x2 - bend, y2), (x2, y2)]
        codes += [4, 4, 4]
    return vertices, codes
