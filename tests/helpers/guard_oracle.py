"""The smallest machine with guards by trying all of them: slow, short, and nothing shared with the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from markovize import Traces

Row = tuple[float | str, ...]
Walk = list[tuple[Row, float]]
"""An episode: the features of each step, and what it paid."""


@dataclass(frozen=True)
class Instance:
    """Episodes of steps with a few features; which of these are numbers with an order."""

    numeric: tuple[bool, ...]
    walks: list[Walk]

    @property
    def names(self) -> list[str]:
        return [f"f{n}" for n in range(len(self.numeric))]

    def traces(self) -> Traces:
        """As users have them: objects as observations, the same action at every step."""
        out = []
        for walk in self.walks:
            seen = [dict(zip(self.names, row, strict=True)) for row, _ in walk]
            out.append((seen[:1] + seen, [0] * len(walk), [reward for _, reward in walk], False))
        return Traces.of(out)


def draw_instance(rng: np.random.Generator) -> Instance:
    """Walks whose rewards come from a random machine with at most two guards, so that the optimum is small."""
    numeric = tuple(bool(rng.integers(2)) for _ in range(int(rng.integers(1, 3))))
    many = int(rng.integers(2, 5 - len(numeric) + 1))
    boxes = list(_every_box(numeric, [_values(flag, many) for flag in numeric]))
    triggers = int(rng.integers(0, 3))
    moves = [(0, boxes[rng.integers(len(boxes))], 1)] if triggers else []
    if triggers == 2:
        source, target = ((0, 2), (1, 0), (1, 2), (0, 1))[rng.integers(4)]
        moves.append((source, boxes[rng.integers(len(boxes))], target))
    rewards = [boxes[rng.integers(len(boxes))] for _ in range(2 - triggers)]
    paid: dict[tuple[object, ...], float] = {}
    walks = []
    for _ in range(int(rng.integers(4, 12))):
        u, walk = 0, list[tuple[Row, float]]()
        for _ in range(int(rng.integers(2, 7))):
            row = tuple(_values(flag, many)[rng.integers(many)] for flag in numeric)
            v = next((target for source, box, target in moves if source == u and _inside(box, row)), u)
            cell = (u, v, *(_inside(box, row) for box in rewards))
            walk.append((row, paid.setdefault(cell, float(rng.integers(0, 3)))))
            u = v
        walks.append(walk)
    return Instance(numeric, walks)


def smallest(instance: Instance, *, acyclic: bool, most_guards: int = 3) -> tuple[int, int, int] | None:
    """(guards, literals, states) of the best machine; None if it has more guards than that."""
    cheapest, walks = cheapest_guards(instance)
    for guards in range(most_guards + 1):
        best = _best_with(guards, cheapest, walks, acyclic)
        if best is not None:
            return (guards, *best)
    return None


def cheapest_guards(instance: Instance) -> tuple[dict[tuple[bool, ...], int], list[list[tuple[int, float]]]]:
    """For each set of rows on which a guard can hold, the fewest literals; the walks with rows by their numbers."""
    rows = sorted({row for walk in instance.walks for row, _ in walk}, key=repr)
    values = [
        sorted({row[f] for row in rows}, key=lambda v: (isinstance(v, str), v)) for f in range(len(instance.numeric))
    ]
    cheapest: dict[tuple[bool, ...], int] = {}
    for box in _every_box(instance.numeric, values):
        held = tuple(_inside(box, row) for row in rows)
        cheapest[held] = min(len(box), cheapest.get(held, 99))
    number = {row: n for n, row in enumerate(rows)}
    return cheapest, [[(number[row], reward) for row, reward in walk] for walk in instance.walks]


def _best_with(
    guards: int, cheapest: dict[tuple[bool, ...], int], walks: list[list[tuple[int, float]]], acyclic: bool
) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    for triggers in range(guards + 1):
        for rewards in combinations(cheapest, guards - triggers):
            cost = sum(cheapest[held] for held in rewards)
            if best is not None and (cost, 1) >= best:
                continue
            for moves, states in every_delta(triggers, acyclic):
                for held in product(cheapest, repeat=triggers):
                    size = (cost + sum(cheapest[h] for h in held), states)
                    if (best is None or size < best) and _explains(moves, held, rewards, walks):
                        best = size
    return best


def every_delta(triggers: int, acyclic: bool) -> Iterator[tuple[list[tuple[int, int]], int]]:
    """All sources and targets of so many triggers, every state but the first being entered."""
    edges = [(u, v) for u in range(triggers + 1) for v in range(triggers + 1) if u != v]
    for moves in product(edges, repeat=triggers):
        states = {0, *(v for _, v in moves), *(u for u, _ in moves)}
        if states != set(range(len(states))) or not _reaches(moves, states):
            continue
        if not (acyclic and _has_cycle(moves)):
            yield list(moves), len(states)


def _reaches(moves: Sequence[tuple[int, int]], states: set[int]) -> bool:
    met = {0}
    for _ in states:
        met |= {v for u, v in moves if u in met}
    return met == states


def _has_cycle(moves: Sequence[tuple[int, int]]) -> bool:
    ways = set(moves)
    for _ in moves:
        ways |= {(u, w) for u, v in ways for x, w in ways if v == x}
    return any(u == v for u, v in ways)


def _explains(
    moves: list[tuple[int, int]],
    held: tuple[tuple[bool, ...], ...],
    rewards: tuple[tuple[bool, ...], ...],
    walks: list[list[tuple[int, float]]],
) -> bool:
    paid: dict[tuple[object, ...], float] = {}
    every = (reward for walk in walks for _, reward in walk)
    cells = _cells(walks, moves, held, rewards)
    return all(cell is not None and paid.setdefault(cell, r) == r for cell, r in zip(cells, every, strict=False))


def walk_cells(
    walks: list[list[tuple[int, float]]],
    moves: list[tuple[int, int]],
    held: tuple[tuple[bool, ...], ...],
    rewards: tuple[tuple[bool, ...], ...],
) -> list[tuple[object, ...]] | None:
    """The cell of every step; None if two triggers of one state disagree somewhere."""
    found = list(_cells(walks, moves, held, rewards))
    return None if None in found else [cell for cell in found if cell is not None]


def _cells(
    walks: list[list[tuple[int, float]]],
    moves: list[tuple[int, int]],
    held: tuple[tuple[bool, ...], ...],
    rewards: tuple[tuple[bool, ...], ...],
) -> Iterator[tuple[object, ...] | None]:
    """The cells, step by step; None, and no more, where two triggers disagree."""
    for walk in walks:
        u = 0
        for row, _ in walk:
            targets = {v for (source, v), holds in zip(moves, held, strict=True) if source == u and holds[row]}
            if len(targets) > 1:
                yield None
                return
            v = targets.pop() if targets else u
            yield (u, v, *(holds[row] for holds in rewards))
            u = v


def _every_box(
    numeric: tuple[bool, ...], values: Sequence[Sequence[float | str]]
) -> Iterator[tuple[tuple[int, str, float | str], ...]]:
    """All conjunctions: of each feature nothing, one value, or bounds between the values."""
    options = []
    for f, (flag, known) in enumerate(zip(numeric, values, strict=True)):
        if flag:
            bounds = [(low, high) for low in (None, *known[1:]) for high in (None, *known[1:])]
            options.append(
                [
                    tuple((f, side, at) for side, at in (("at_least", low), ("below", high)) if at is not None)
                    for low, high in bounds
                ]
            )
        else:
            options.append([(), *(((f, "is", value),) for value in known)])
    for parts in product(*options):
        yield tuple(literal for part in parts for literal in part)


def _inside(box: tuple[tuple[int, str, float | str], ...], row: Row) -> bool:
    for f, side, at in box:
        value = row[f]
        if side == "is" and value != at:
            return False
        if side == "at_least" and not value >= at:  # type: ignore[operator]
            return False
        if side == "below" and not value < at:  # type: ignore[operator]
            return False
    return True


def _values(numeric: bool, many: int) -> list[float | str]:
    return [n + 0.5 for n in range(many)] if numeric else [f"v{n}" for n in range(many)]
