"""The parts of a layered layout: layers, the order within them, and heights that keep lines straight.

By hand; :mod:`~markovize.pictures.layout` says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_SWEEPS: Final = 12
_CLEAR: Final = 0.16  # between neighbours in a layer


@dataclass(frozen=True)
class Slot:
    """A state, a label or a bend of a line: its rank, and how far it reaches from its centre."""

    rank: int
    up: float
    down: float
    half: float


@dataclass(frozen=True)
class Path:
    """The slots that a line passes, one in each rank, and the one with its label."""

    items: tuple[int, ...]
    label: int


def layer_of(states: int, initial: int, edges: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """The layer of each state by longest path, and the numbers of the edges that go back.

    >>> layer_of(3, 0, [(0, 1), (1, 2), (2, 0)])
    ([0, 1, 2], [2])
    """
    leaving: list[list[int]] = [[] for _ in range(states)]
    for number, (u, _) in enumerate(edges):
        leaving[u].append(number)
    colour = [0] * states  # 0 new, 1 on the way, 2 done
    back: list[int] = []
    finished: list[int] = []
    for root in (initial, *range(states)):
        if colour[root]:
            continue
        colour[root] = 1
        stack = [(root, iter(leaving[root]))]
        while stack:
            u, rest = stack[-1]
            number = next(rest, -1)
            if number < 0:
                colour[u] = 2
                finished.append(u)
                stack.pop()
                continue
            v = edges[number][1]
            if colour[v] == 1:
                back.append(number)
            elif not colour[v]:
                colour[v] = 1
                stack.append((v, iter(leaving[v])))
    layers = [0] * states
    returning = set(back)
    for u in reversed(finished):  # a topological order of what is left
        for number in leaving[u]:
            if number not in returning:
                v = edges[number][1]
                layers[v] = max(layers[v], layers[u] + 1)
    return layers, sorted(back)


def arrange(slots: Sequence[Slot], paths: Sequence[Path], ranks: int, initial: int) -> list[list[int]]:
    """For each rank its slots from top to bottom, by barycentres, with few crossings."""
    before, after = _neighbours(slots, paths)
    order: list[list[int]] = [[] for _ in range(ranks)]
    seen: set[int] = set()
    for root in (initial, *range(len(slots))):  # first order: depth first, so that a tree starts without crossings
        stack = [root]
        while stack:
            item = stack.pop()
            if item not in seen:
                seen.add(item)
                order[slots[item].rank].append(item)
                stack += reversed(after[item])
    best, fewest = [list(row) for row in order], _crossings(order, after)
    for sweep in range(_SWEEPS):
        forwards = sweep % 2 == 0
        beside = before if forwards else after
        position = {item: place for row in order for place, item in enumerate(row)}
        for rank in range(ranks) if forwards else reversed(range(ranks)):
            row = order[rank]
            weight = {
                i: (sum(position[n] for n in beside[i]) / len(beside[i]) if beside[i] else position[i]) for i in row
            }
            row.sort(key=lambda item: weight[item])
            position.update({item: place for place, item in enumerate(row)})
        count = _crossings(order, after)
        if count < fewest:
            best, fewest = [list(row) for row in order], count
    return best


def straighten(slots: Sequence[Slot], paths: Sequence[Path], order: Sequence[Sequence[int]]) -> list[float]:
    """Heights: as near to the neighbours as the sizes allow, by repeated weighted isotonic regression."""
    before, after = _neighbours(slots, paths)
    y = [0.0] * len(slots)
    for row in order:
        for item, height in zip(row, _apart(slots, row, [0.0] * len(row), [1.0] * len(row)), strict=True):
            y[item] = height
    for sweep in range(2 * _SWEEPS):
        for row in order if sweep % 2 == 0 else list(reversed(order)):
            wanted, weights = [], []
            for item in row:
                beside = before[item] if sweep % 2 == 0 else after[item]
                beside = beside or [item] if sweep < _SWEEPS else before[item] + after[item] or [item]
                wanted.append(sum(y[n] for n in beside) / len(beside))
                weights.append(float(len(beside)) if slots[item].rank % 2 == 0 else 2.0)
            for item, height in zip(row, _apart(slots, row, wanted, weights), strict=True):
                y[item] = height
    return y


def _neighbours(slots: Sequence[Slot], paths: Sequence[Path]) -> tuple[list[list[int]], list[list[int]]]:
    before: list[list[int]] = [[] for _ in slots]
    after: list[list[int]] = [[] for _ in slots]
    for path in paths:
        for a, b in pairwise(path.items):
            after[a].append(b)
            before[b].append(a)
    return before, after


def _crossings(order: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> int:
    position = {item: place for row in order for place, item in enumerate(row)}
    total = 0
    for row in order:
        lines = [(position[a], position[b]) for a in row for b in after[a]]
        total += sum(p < r and q > s for n, (p, q) in enumerate(lines) for r, s in lines[n + 1 :])
    return total


def _apart(slots: Sequence[Slot], row: Sequence[int], wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The heights nearest to those wanted that keep order and sizes: least squares by pooling adjacent violators."""
    offsets, total = [], 0.0
    for place, item in enumerate(row):
        if place:
            total += slots[row[place - 1]].down + slots[item].up + _CLEAR
        offsets.append(total)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many; means must fall
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, count = want + offset, 1
        while blocks and blocks[-1][0] < mean:
            other, heavy, many = blocks.pop()
            mean = (mean * weight + other * heavy) / (weight + heavy)
            weight, count = weight + heavy, count + many
        blocks.append((mean, weight, count))
    flat = [mean for mean, _, count in blocks for _ in range(count)]
    return [value - offset for value, offset in zip(flat, offsets, strict=True)]
