"""The graph of a machine's states."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush


def topological_order(
    states: int, edges: Iterable[tuple[int, int]], rank: Iterable[int] | None = None
) -> list[int] | None:
    """States so that every edge points forwards, ties by ``rank``; None if there is a cycle.

    >>> topological_order(3, [(0, 2), (2, 1)])
    [0, 2, 1]
    """
    prefer = list(range(states)) if rank is None else list(rank)
    waiting = [0] * states
    successors: list[list[int]] = [[] for _ in range(states)]
    for source, target in set(edges):
        successors[source].append(target)
        waiting[target] += 1
    ready = [(prefer[u], n, u) for n, u in enumerate(u for u in range(states) if not waiting[u])]
    heapify(ready)  # of equals, the one that was ready first
    seen = len(ready)
    out: list[int] = []
    while ready:
        u = heappop(ready)[2]
        out.append(u)
        for v in successors[u]:
            waiting[v] -= 1
            if not waiting[v]:
                heappush(ready, (prefer[v], seen, v))
                seen += 1
    return out if len(out) == states else None
