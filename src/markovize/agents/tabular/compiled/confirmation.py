"""Confirming the machine, compiled: routes that would show it if a step moved the machine elsewhere.

A label that never fires in the machine held true may be a trigger all the same: as long as nothing is done after it
that pays differently in other states, nobody knows. So what the machine says of (u, trigger label) is *confirmed* only
by an episode in which, after such a step and before the next trigger, comes a *telling* step: one that the machine's
states pay differently. If it pays as the machine says, the state was the right one; else there is a conflict. Who tests
automata calls such steps a separating suffix.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from numba import njit

from markovize.agents.tabular.compiled.arrays import AgentArrays
from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at
from markovize.agents.tabular.compiled.routes import reach, write_route
from markovize.agents.tabular.compiled.updates import share_going_on


@njit(cache=True)
def is_telling(arrays: AgentArrays, u: int, x: int) -> bool:
    """Whether another state of the machine is known to pay something else for this transition.

    With a tolerance that is what no level fits both.
    """
    delta, paid, width = arrays.machine.delta, arrays.rewards.paid, arrays.control.how[0].width
    low, high = arrays.rewards.low, arrays.rewards.high
    label, trigger = arrays.transitions.label[x], arrays.transitions.trigger[x]
    v = delta[u, trigger]
    reward = paid[u, label, v]
    if math.isnan(reward):
        return False
    for w in range(len(delta)):
        t = delta[w, trigger]
        other = paid[w, label, t]
        if w == u or other == reward or math.isnan(other):
            continue
        if width == 0.0 or max(high[w, label, t], high[u, label, v]) - min(low[w, label, t], low[u, label, v]) > width:
            return True
    return False


@njit(cache=True)
def note_confirmed(agent: AgentRef) -> bool:
    """Takes note of what the episode at hand has confirmed; whether its last steps wait for a telling one."""
    arrays = arrays_at(agent)
    episode, trigger, confirmed = arrays.episode, arrays.transitions.trigger, arrays.machine.confirmed
    told, last, waits = False, True, False  # of the steps after this one; whether the state is still the present one
    for n in range(episode.status[0].length - 1, -1, -1):
        x, u = episode.transitions[n], episode.before[n]
        tells = is_telling(arrays, u, x)
        told = told or tells
        if told:
            confirmed[u, trigger[x]] = True
        elif last and not confirmed[u, trigger[x]]:
            waits = True
        last = last and not told and episode.after[n] == u
        if episode.after[n] != u:
            told = tells
    return waits


@njit(cache=True)
def find_confirming_route(agent: AgentRef, start: int) -> bool:
    """The shortest route over a step that is not confirmed to a telling one, if there is any.

    Nodes from U·S on are those after such a step, where the machine's state must stay as it is until it is told.
    """
    waits = note_confirmed(agent)
    arrays = arrays_at(agent)
    trigger, label_of, target_of = arrays.transitions.trigger, arrays.transitions.label, arrays.transitions.target
    delta, confirmed = arrays.machine.delta, arrays.machine.confirmed
    rewards = arrays.rewards
    outcomes, following, route = arrays.model.first, arrays.model.next, arrays.route
    states, n_actions = outcomes.shape
    nodes, status = len(delta) * states, route.status[0]
    parent, by, queue = route.parent[nodes:], route.by[nodes:], route.queue[nodes:]  # the first are those of find_route
    parent[: 2 * nodes] = -1
    status.expanded += 2 * nodes
    first = start + nodes if waits else start
    parent[first] = first
    queue[0] = first
    head, tail, target, last = 0, 1, -1, -1
    while head < tail and target < 0:
        node = queue[head]
        head += 1
        after = node >= nodes
        u, s = (node - nodes if after else node) // states, node % states
        for a in range(n_actions):
            x = outcomes[s, a]
            while x >= 0:
                label, v = label_of[x], delta[u, trigger[x]]
                known, is_open = not math.isnan(rewards.paid[u, label, v]), not confirmed[u, trigger[x]]
                if known and (after or is_open) and is_telling(arrays, u, x):
                    target, last = node, a
                    break
                if known and share_going_on(rewards, u, label, v) > 0.0 and (not after or v == u):
                    there = v * states + target_of[x] + (nodes if after or is_open else 0)
                    tail = reach(parent, by, queue, tail, there, node, a)
                x = following[x]
            if target >= 0:
                break
    status.expanded += head
    if target < 0:
        return False
    write_route(route, parent, by, first, target, last, nodes)
    return True
