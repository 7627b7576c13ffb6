"""The graph of a machine's states."""

from __future__ import annotations

from collections.abc import Iterable


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
    ready = [u for u in range(states) if not waiting[u]]
    out: list[int] = []
    while ready:
        u = min(ready, key=lambda state: prefer[state])
        ready.remove(u)
        out.append(u)
        for v in successors[u]:
            waiting[v] -= 1
            if not waiting[v]:
                ready.append(v)
    return out if len(out) == states else None
