"""Where states and labels go in a picture: layers from left to right, in inches, y upwards.

The steps are those of Sugiyama's method. Layers of states alternate with layers of labels, so that a label is an
item with a size like any other and nothing can overlap. Arrows that go back are led below everything else. A long
chain is broken into rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from markovize.formats.layers import Path, Slot, arranged, layer_of, straightened

Point: TypeAlias = tuple[float, float]

RADIUS: Final = 0.24
GAP: Final = 0.34  # between layers: room for arrow heads and for lines that go down
LEAD: Final = 0.42  # the arrow into the initial state
WIDEST: Final = 13.0


@dataclass(frozen=True)
class Size:
    """Width and height of a text."""

    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True)
class Route:
    """The line of one arrow: points to pass, and where the lower edge of its label is centred."""

    points: tuple[Point, ...]
    label: Point
    smooth: bool  # curves between layers; otherwise straight lines with round corners


@dataclass(frozen=True)
class Layout:
    """Positions of everything; the picture reaches from (0, 0) to (width, height)."""

    states: tuple[Point, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


@dataclass
class _Plan:
    """Everything while it moves."""

    layers: list[int]
    x: list[float]  # the middle of each rank
    half: list[float]  # and half its width
    y: dict[int, float]
    routes: list[Route | None] = field(default_factory=list)


def place(states: int, initial: int, loops: dict[int, Size], edges: Sequence[tuple[int, int, Size]]) -> Layout:
    """The layout of a machine; ``loops`` has the size of the text above a state.

    >>> layout = place(2, 0, {}, [(0, 1, Size(1.0, 0.2))])
    >>> layout.states[0][0] < layout.states[1][0]
    True
    """
    layers, back = layer_of(states, initial, [(u, v) for u, v, _ in edges])
    ranks = 2 * max(layers) + 1
    slots = [_state_slot(layers[u], loops.get(u)) for u in range(states)]
    paths: dict[int, Path] = {}
    for number, (u, v, size) in enumerate(edges):
        if number not in back:
            paths[number] = _forward(slots, u, v, layers, size)
    order = arranged(slots, list(paths.values()), ranks, initial)
    y = dict(enumerate(straightened(slots, list(paths.values()), order)))
    half = [max([slots[i].half for i in order[r]], default=0.0) for r in range(ranks)]
    for number in back:  # a label below needs its width too
        u, v, size = edges[number]
        middle = layers[v] + layers[u]
        half[middle] = max(half[middle], size.width / 2)
    x, at = [], 0.0
    for r in range(ranks):
        at += half[r] + (GAP + half[r - 1] if r else 0.0)
        x.append(at)
    plan = _Plan(layers, x, half, y, [None] * len(edges))
    for number, path in paths.items():
        points = [(x[slots[i].rank], y[i]) for i in path.items]
        wide: list[Point] = []
        for i, (px, py) in zip(path.items, points, strict=True):
            flat = half[slots[i].rank] if slots[i].rank % 2 else 0.0
            wide += [(px - flat, py), (px + flat, py)] if flat else [(px, py)]
        label = points[path.items.index(path.label)]
        plan.routes[number] = Route(tuple(wide), label, True)
    bottoms = [min([y[i] - slots[i].down for i in order[r]], default=0.0) for r in range(ranks)]
    _lead_back(plan, edges, back, bottoms)
    centres = [(x[2 * layers[u]], y[u]) for u in range(states)]
    tops = [max([y[i] + slots[i].up for i in order[r]], default=0.0) for r in range(ranks)]
    if not back:
        centres = _rows(plan, centres, order, paths, tops, bottoms)
    return _framed(centres, plan, slots, edges, initial)


def _state_slot(layer: int, loop: Size | None) -> Slot:
    if loop is None:
        return Slot(2 * layer, RADIUS, RADIUS, RADIUS)
    return Slot(2 * layer, RADIUS + LOOP + loop.height, RADIUS, max(RADIUS, loop.width / 2))


LOOP: Final = 0.4  # how high a self-loop rises above its state


def _forward(slots: list[Slot], u: int, v: int, layers: list[int], size: Size) -> Path:
    first, last = 2 * layers[u] + 1, 2 * layers[v] - 1
    middle = 2 * ((layers[u] + layers[v] - 1) // 2) + 1
    items = [u]
    label = u
    for rank in range(first, last + 1):
        items.append(len(slots))
        if rank == middle:
            label = len(slots)
            slots.append(Slot(rank, size.height + 0.07, 0.06, size.width / 2))
        else:
            slots.append(Slot(rank, 0.1, 0.1, 0.0))
    return Path((*items, v), label)


def _lead_back(plan: _Plan, edges: Sequence[tuple[int, int, Size]], back: Sequence[int], bottoms: list[float]) -> None:
    """Arrows back run in lanes below, short ones nearest."""
    for number in sorted(back, key=lambda n: (plan.layers[edges[n][0]] - plan.layers[edges[n][1]], edges[n][1])):
        u, v, size = edges[number]
        left, right = 2 * plan.layers[v], 2 * plan.layers[u]
        lane = min(bottoms[left : right + 1]) - 0.12 - size.height - 0.07
        for rank in range(left, right + 1):
            bottoms[rank] = lane - 0.06
        xr = plan.x[right] - plan.half[right] - GAP / 2
        xl = plan.x[left] + plan.half[left] + GAP / 2
        drop = RADIUS * 0.7
        start, end = (plan.x[right], plan.y[u]), (plan.x[left], plan.y[v])
        points = (start, (xr, start[1] - drop - (start[0] - drop - xr) * 0.3), (xr, lane), (xl, lane),
                  (xl, end[1] - drop - (xl - end[0] - drop) * 0.3), end)  # fmt: skip
        plan.routes[number] = Route(points, ((plan.x[left + 1] + plan.x[right - 1]) / 2, lane), False)


def _rows(
    plan: _Plan, centres: list[Point], order: list[list[int]], paths: dict[int, Path],
    tops: list[float], bottoms: list[float],
) -> list[Point]:  # fmt: skip
    """Breaks a wide picture where a single arrow crosses, and puts the pieces below each other."""
    x, half = plan.x, plan.half
    starts = [0]  # the first rank of each row
    for rank in range(1, len(x), 2):
        begin = x[starts[-1]] - half[starts[-1]]
        after = rank + 2 if rank + 2 < len(x) else rank + 1
        if x[after] + half[after] - begin > WIDEST and len(order[rank]) == 1 and rank + 1 < len(x):
            starts.append(rank + 1)
    if len(starts) == 1:
        return centres
    row_of = [sum(rank >= start for start in starts) - 1 for rank in range(len(x))]
    rows = range(len(starts))
    top = [max(t for t, row in zip(tops, row_of, strict=True) if row == r) for r in rows]
    bottom = [min(b for b, row in zip(bottoms, row_of, strict=True) if row == r) for r in rows]
    dx = [x[starts[r]] - x[0] for r in rows]
    dy = [0.0]
    for r in rows[1:]:
        dy.append(dy[-1] + top[r] - bottom[r - 1] + 0.55)

    def moved(point: Point, row: int) -> Point:
        return point[0] - dx[row], point[1] - dy[row]

    for number, path in paths.items():
        route = plan.routes[number]
        assert route is not None
        first, last = (row_of[2 * plan.layers[path.items[end]]] for end in (0, -1))
        if first == last:
            plan.routes[number] = Route(
                tuple(moved(p, first) for p in route.points), moved(route.label, first), True
            )
            continue
        start, end = moved(route.points[0], first), moved(route.points[-1], last)
        label = moved(route.label, first)
        corner = max(moved((x[starts[last] - 1] + half[starts[last] - 1], 0.0), first)[0], label[0]) + GAP / 2
        lane = bottom[first] - dy[first] - 0.27
        turn = end[0] - half[starts[last]] - GAP
        points = (start, (corner, start[1]), (corner, lane), (turn, lane), (turn, end[1]), end)
        plan.routes[number] = Route(points, (label[0], start[1]), False)
    return [moved(centre, row_of[2 * layer]) for centre, layer in zip(centres, plan.layers, strict=True)]


def _framed(
    centres: list[Point], plan: _Plan, slots: list[Slot], edges: Sequence[tuple[int, int, Size]], initial: int
) -> Layout:
    """Moves everything so that it just fits between (0, 0) and (width, height)."""
    margin = 0.12
    xs = [centres[initial][0] - RADIUS - LEAD]
    ys: list[float] = []
    for (cx, cy), slot in zip(centres, slots, strict=False):
        xs += [cx - slot.half, cx + slot.half]
        ys += [cy - slot.down, cy + slot.up]
    routes = [route for route in plan.routes if route is not None]
    for route, (_, _, size) in zip(routes, edges, strict=True):
        xs += [px for px, _ in route.points] + [route.label[0] - size.width / 2, route.label[0] + size.width / 2]
        ys += [py for _, py in route.points] + [route.label[1] + size.height + 0.07]
    left, low = min(xs) - margin, min(ys) - margin

    def moved(point: Point) -> Point:
        return point[0] - left, point[1] - low

    shifted = tuple(
        replace(route, points=tuple(moved(p) for p in route.points), label=moved(route.label)) for route in routes
    )
    return Layout(tuple(moved(c) for c in centres), shifted, max(xs) + margin - left, max(ys) + margin - low)
