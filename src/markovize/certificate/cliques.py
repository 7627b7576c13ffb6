"""Histories that are pairwise apart: a large set of them, found by trying. The checker checks whatever is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

STARTS: Final = 200  # nodes to begin with


def find_clique(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Nodes of which any two are a pair; not always the most.

    >>> find_clique([(0, 1), (1, 2), (0, 2), (2, 3)])
    [0, 1, 2]
    """
    near: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    best: list[int] = []
    for start in sorted(near, key=lambda v: (-len(near[v]), v))[:STARTS]:
        clique, left = [start], near[start]
        while left:
            each = max(left, key=lambda v: (len(near[v] & left), -v))
            clique.append(each)
            left = left & near[each]
        if len(clique) > len(best):
            best = sorted(clique)
    return best
