"""Where states and labels go in a picture: layers from left to right, in inches, y upwards.

The steps are those of Sugiyama's method. Layers of states alternate with layers of labels, so that a label is an
item with a size like any other and nothing can overlap. Arrows that go back are led below everything else. A long
chain is broken into rows. By hand: Graphviz is a program that ``pip`` cannot install, and the layouts of Python
packages have no room for labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from markovize.pictures.layers import Path, Slot, arrange, layer_of, straighten

Point: TypeAlias = tuple[float, float]

RADIUS: Final = 0.24
GAP: Final = 0.34  # between layers: room for arrow heads and for lines that go down
LEAD: Final = 0.42  # the arrow into the initial state
LOOP: Final = 0.4  # how high a self-loop rises above its state
BEND: Final = 0.45  # where the control points of a curve lie, as a part of its width
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
    order = arrange(slots, list(paths.values()), ranks, initial)
    y = dict(enumerate(straighten(slots, list(paths.values()), order)))
    half = [max([slots[i].half for i in order[r]], default=0.0) for r in range(ranks)]
    for number in back:  # a label below needs room between its states too
        u, v, size = edges[number]
        left, right = 2 * layers[v] + 1, 2 * layers[u] - 1
        room = sum(2 * half[r] + GAP for r in range(left, right + 1)) - GAP
        half[left] += max(0.0, size.width - room) / 2
    x, at = [], 0.0
    for r in range(ranks):
        at += half[r] + (GAP + half[r - 1] if r else 0.0)
        x.append(at)
    plan = _Plan(layers, x, half, y, [None] * len(edges))
    for number, path in paths.items():
        label = (x[slots[path.label].rank], y[path.label])
        plan.routes[number] = Route(tuple(_waypoints(path, plan, slots, order)), label, True)
    bottoms = [min([y[i] - slots[i].down for i in order[r]], default=0.0) for r in range(ranks)]
    _lead_back(plan, edges, back, bottoms)
    centres = [(x[2 * layers[u]], y[u]) for u in range(states)]
    tops = [max([y[i] + slots[i].up for i in order[r]], default=0.0) for r in range(ranks)]
    if not back:
        centres = _break_into_rows(plan, centres, order, paths, tops, bottoms)
    return _frame(centres, plan, slots, edges, initial)


def _state_slot(layer: int, loop: Size | None) -> Slot:
    if loop is None:
        return Slot(2 * layer, RADIUS, RADIUS, RADIUS)
    return Slot(2 * layer, RADIUS + LOOP + loop.height, RADIUS, max(RADIUS, loop.width / 2))


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


def _waypoints(path: Path, plan: _Plan, slots: list[Slot], order: list[list[int]]) -> list[Point]:
    """The points of a forward line: level within each rank, up or down only in the gaps between."""
    out: list[Point] = []
    for place, item in enumerate(path.items):
        rank, height = slots[item].rank, plan.y[item]
        left, right = plan.x[rank] - plan.half[rank], plan.x[rank] + plan.half[rank]
        if 0 < place < len(path.items) - 1:
            out += [(left, height), (right, height)] if right > left else [(left, height)]
            continue
        neighbour = path.items[1] if place == 0 else path.items[-2]
        side = 1.0 if place == 0 else -1.0
        beside = slots[neighbour].rank
        far = (plan.x[beside] - side * plan.half[beside], plan.y[neighbour])
        near = (plan.x[rank] + side * RADIUS, height)
        corner = [(right if place == 0 else left, height)] if _hits(far, near, item, plan, slots, order[rank]) else []
        centre = [(plan.x[rank], height)]
        out += centre + corner if place == 0 else corner + centre
    return out


def _hits(far: Point, near: Point, item: int, plan: _Plan, slots: list[Slot], row: list[int]) -> bool:
    """Whether a curve to a state would cut through texts of its layer; then it must change height before the layer."""
    for step in range(1, 24):
        t = step / 24
        # a cubic whose control points lie 45 % inwards, as the drawing has it
        across = 3 * t * (1 - t) * ((1 - t) * BEND + t * (1 - BEND)) + t**3
        x = far[0] + (near[0] - far[0]) * across
        y = far[1] + (near[1] - far[1]) * t * t * (3 - 2 * t)
        for other in row:
            dx, dy = abs(x - plan.x[slots[other].rank]), y - plan.y[other]
            low = RADIUS + LOOP / 2 if other == item else -slots[other].down
            if dx < slots[other].half + 0.04 and low < dy < slots[other].up + 0.04:
                return True
    return False


def _lead_back(plan: _Plan, edges: Sequence[tuple[int, int, Size]], back: Sequence[int], bottoms: list[float]) -> None:
    """Arrows back run in lanes below, short ones nearest."""
    lowest: dict[int, float] = {}
    for u, layer in enumerate(plan.layers):
        lowest[layer] = min(lowest.get(layer, plan.y[u]), plan.y[u])
    # the longest line goes down nearest to its state, so that lines do not cross
    waiting = Counter([(edges[n][0], "left") for n in back] + [(edges[n][1], "right") for n in back])

    def side(state: int, name: str) -> float:
        """How far from the state's centre its lines go down: beside the layer, or beside the state if all is free."""
        waiting[state, name] -= 1
        count = waiting[state, name]
        layer = plan.layers[state]
        free = plan.y[state] <= lowest[layer] + 1e-9
        return (RADIUS if free else plan.half[2 * layer]) + 0.1 + 0.08 * min(count, 3)

    for number in sorted(back, key=lambda n: (plan.layers[edges[n][0]] - plan.layers[edges[n][1]], edges[n][1])):
        u, v, size = edges[number]
        left, right = 2 * plan.layers[v], 2 * plan.layers[u]
        lane = min(bottoms[left : right + 1]) - 0.12 - size.height - 0.07
        for rank in range(left, right + 1):
            bottoms[rank] = lane - 0.06
        start, end = (plan.x[right], plan.y[u]), (plan.x[left], plan.y[v])
        out, into = side(u, "left"), side(v, "right")
        points = (
            start,
            (start[0] - out, start[1] - min(out, 0.45)),
            (start[0] - out, lane),
            (end[0] + into, lane),
            (end[0] + into, end[1] - min(into, 0.45)),
            end,
        )
        middle = (start[0] - out + end[0] + into) / 2
        plan.routes[number] = Route(points, (middle, lane), False)


def _break_into_rows(
    plan: _Plan,
    centres: list[Point],
    order: list[list[int]],
    paths: dict[int, Path],
    tops: list[float],
    bottoms: list[float],
) -> list[Point]:
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
            plan.routes[number] = Route(tuple(moved(p, first) for p in route.points), moved(route.label, first), True)
            continue
        start, end = moved(route.points[0], first), moved(route.points[-1], last)
        label = moved(route.label, first)
        corner = max(moved((x[starts[last] - 1] + half[starts[last] - 1], 0.0), first)[0], label[0]) + GAP / 2
        lane = bottom[first] - dy[first] - 0.27
        turn = end[0] - half[starts[last]] - GAP
        points = (start, (corner, start[1]), (corner, lane), (turn, lane), (turn, end[1]), end)
        plan.routes[number] = Route(points, (label[0], start[1]), False)
    return [moved(centre, row_of[2 * layer]) for centre, layer in zip(centres, plan.layers, strict=True)]


def _frame(
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
