"""Ways without detours, compiled: the shortest known episode that makes some steps, in their order."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at
from markovize.episodes.traces import Ints


@njit(cache=True)
def shortest_way(agent: AgentRef, s: int, points: Ints, longest: int) -> Ints:
    """The transitions of an episode from ``s`` on that passes the trigger labels of these transitions one by one.

    Its last transition has both labels of the last point. Between the points it makes no step that ever ended an
    episode. Nothing where no such way is known, or only one of more than ``longest`` steps.
    """
    arrays = arrays_at(agent)
    transitions, rewards, delta = arrays.transitions, arrays.rewards, arrays.machine.delta
    first = arrays.model.first
    states, n_actions = first.shape
    stamp, parent, queue = np.full(states, -1, np.int32), np.zeros(states, np.int32), np.zeros(states, np.int32)
    out, nothing, length = np.zeros(longest, np.int32), np.zeros(0, np.int32), 0
    for number in range(len(points)):
        goal, is_last = points[number], number == len(points) - 1
        found, head, tail = -1, 0, 1
        queue[0], stamp[s] = s, number
        while head < tail and found < 0:
            here = queue[head]
            head += 1
            for a in range(n_actions):
                x = first[here, a]
                if x < 0:
                    continue
                is_goal = transitions.trigger[x] == transitions.trigger[goal]
                if is_last:
                    is_goal = is_goal and transitions.label[x] == transitions.label[goal]
                if is_goal:
                    found = x
                    break
                ended = False
                for u in range(len(delta)):
                    if rewards.ended[u, transitions.label[x], delta[u, transitions.trigger[x]]] > 0:
                        ended = True
                there = transitions.target[x]
                if stamp[there] != number and not ended:
                    stamp[there], parent[there] = number, x
                    queue[tail] = there
                    tail += 1
        if found < 0:
            return nothing
        steps, here = 1, transitions.source[found]
        while here != s:
            steps += 1
            here = transitions.source[parent[here]]
        if length + steps > longest:
            return nothing
        length += steps
        at, x = length - 1, found
        while True:
            out[at] = x
            here = transitions.source[x]
            if here == s:
                break
            at, x = at - 1, parent[here]
        s = transitions.target[found]
    return out[:length]


@njit(cache=True)
def cell_at_end(agent: AgentRef, delta: Ints, way: Ints) -> tuple[int, int, int]:
    """(u, reward label, u') of the last step, under a machine with these moves."""
    arrays = arrays_at(agent)
    trigger, label = arrays.transitions.trigger, arrays.transitions.label
    before = u = 0
    for x in way:
        before, u = u, delta[u, trigger[x]]
    return before, label[way[-1]], u
