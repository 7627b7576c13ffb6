"""Where the parts of a machine's picture are, for all that draws machines: states, arrows, self-loops, labels.

Lines are vertices with codes, as matplotlib's paths have them: 1 start, 2 straight to, 4 a point of a cubic curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markovize.machine.machine import RewardMachine
from markovize.pictures.layout import BEND, LEAD, LOOP, RADIUS, Layout, Point, Route, Size, place

_ABOVE: Final = 0.05  # of a line, in inches: where the lower edge of its label is
_LOOP_ANGLE: Final = math.radians(60)  # of the points where a self-loop leaves its state's circle


@dataclass(frozen=True)
class Line:
    """A line, and where the lower edge of its label is centred."""

    vertices: Sequence[Point]
    codes: Sequence[int]
    label: Point


@dataclass(frozen=True)
class Placement:
    """A machine in the plane, in inches, y upwards: between (0, 0) and (width, height)."""

    width: float
    height: float
    states: tuple[Point, ...]
    arrows: Mapping[tuple[int, int], Line]  # by source and target; self-loops come last
    start: Line


def place_machine(machine: RewardMachine, labels: Mapping[tuple[int, int], Size]) -> Placement:
    """Places a machine whose arrows (source, target) have labels of these sizes.

    >>> placement = place_machine(RewardMachine("state", "state", 2), {(0, 1): Size(1.0, 0.2), (1, 1): Size(0.5, 0.2)})
    >>> list(placement.arrows), placement.states[0][0] < placement.states[1][0]
    ([(0, 1), (1, 1)], True)
    """
    loops = {u: size for (u, v), size in labels.items() if u == v}
    edges = [(u, v, size) for (u, v), size in labels.items() if u != v]
    layout = place(machine.states, machine.initial, loops, edges)
    lines = {(u, v): _line(layout, u, v, route) for (u, v, _), route in zip(edges, layout.routes, strict=True)}
    lines |= {(u, u): _self_loop(layout.states[u]) for u in loops}
    x, y = layout.states[machine.initial]
    start = Line([(x - RADIUS - LEAD, y), (x - RADIUS, y)], [1, 2], (x, y))
    return Placement(layout.width, layout.height, layout.states, lines, start)


def _line(layout: Layout, source: int, target: int, route: Route) -> Line:
    points = list(route.points)
    points[0] = touch(layout.states[source], points[1])
    points[-1] = touch(layout.states[target], points[-2])
    vertices, codes = smooth(points) if route.smooth else (points, [1] + [2] * (len(points) - 1))
    return Line(vertices, codes, (route.label[0], route.label[1] + _ABOVE))


def _self_loop(centre: Point) -> Line:
    x, y = centre
    out, rise = RADIUS * math.cos(_LOOP_ANGLE), RADIUS * math.sin(_LOOP_ANGLE)
    top = y + RADIUS + LOOP * 1.05
    vertices = [(x - out, y + rise), (x - 2.6 * out, top), (x + 2.6 * out, top), (x + out, y + rise)]
    return Line(vertices, [1, 4, 4, 4], (x, y + RADIUS + LOOP * 0.82))


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
