"""What breadth-first searches of routes have in common, compiled: how they grow, and the way back from a target."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from numba import njit

from markovize.agents.tabular.compiled.arrays import Route
from markovize.episodes.traces import Ints


@njit(cache=True)
def reach(parent: Ints, by: Ints, queue: Ints, tail: int, there: int, node: int, action: int) -> int:
    """A node that is found for the first time joins the queue; how long that is now."""
    if parent[there] < 0:
        parent[there], by[there] = node, action
        queue[tail] = there
        tail += 1
    return tail


@njit(cache=True)
def write_route(route: Route, parent: Ints, by: Ints, start: int, target: int, last: int, nodes: int) -> None:
    """The route from the start to the target and the last action there; node numbers are taken modulo ``nodes``."""
    at, node = 1, target
    while node != start:
        at += 1
        node = parent[node]
    status = route.status[0]
    status.position, status.length = 0, at
    node, a = target, last
    while at > 0:
        at -= 1
        route.nodes[at], route.actions[at] = node % nodes, a
        a, node = by[node], parent[node]
