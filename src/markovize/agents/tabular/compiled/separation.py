"""Confirming every move of a machine, compiled: from each state that it could have led to, by what tells them apart.

:mod:`~markovize.agents.tabular.compiled.confirmation` looks for one step that some other state pays differently. That
is little: two states may differ only in what may be done *next*. Who fetches equipment, then gold, then delivers it is
paid on delivery alone, and a delivery without gold says nothing about the equipment. So here a move u → v on a trigger
label is *told* from u → w once an episode went on from there in a way that pays differently from w: the machine is run
from both, side by side, through further triggers, until their rewards differ. Where automata are tested this is the
W-method (Chow 1978); that the machine has no more states than are known is taken for granted.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

import numpy as np
from numba import njit

from markovize.agents.tabular.compiled.arrays import AgentArrays
from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at
from markovize.agents.tabular.compiled.routes import reach, write_route
from markovize.agents.tabular.compiled.updates import share_going_on
from markovize.episodes.traces import Bools

MOST_NODES = 2_000_000  # of the graph of pairs: where it is larger, machines are not confirmed in this way


@njit(cache=True)
def differs(arrays: AgentArrays, u: int, w: int, x: int) -> bool:
    """Whether two states of the machine are known to pay a transition differently: no level fits both."""
    delta, rewards, width = arrays.machine.delta, arrays.rewards, arrays.control.how[0].width
    label, trigger = arrays.transitions.label[x], arrays.transitions.trigger[x]
    v, t = delta[u, trigger], delta[w, trigger]
    one, other = rewards.paid[u, label, v], rewards.paid[w, label, t]
    if math.isnan(one) or math.isnan(other) or one == other:
        return False
    low = min(rewards.low[u, label, v], rewards.low[w, label, t])
    return bool(max(rewards.high[u, label, v], rewards.high[w, label, t]) - low > width)


@njit(cache=True)
def note_told(agent: AgentRef) -> None:
    """Takes note of what the episode at hand has told, from its end to its beginning."""
    arrays = arrays_at(agent)
    episode, trigger, machine = arrays.episode, arrays.transitions.trigger, arrays.machine
    told, delta = machine.told, machine.delta
    states = len(delta)
    later, now = np.zeros(states, np.bool_), np.zeros(states, np.bool_)  # states from which it would be paid otherwise
    for n in range(episode.status[0].length - 1, -1, -1):
        x, u, v = episode.transitions[n], episode.before[n], episode.after[n]
        for w in range(states):
            if later[w]:
                told[u, trigger[x], w] = True
            follower = delta[w, trigger[x]]
            now[w] = w != u and (differs(arrays, u, w, x) or (follower != v and later[follower]))
        later[:] = now


@njit(cache=True)
def open_states(agent: AgentRef) -> Bools:
    """The states that the machine could be in by now instead, for all that the episode at hand has told."""
    arrays = arrays_at(agent)
    episode, trigger, machine = arrays.episode, arrays.transitions.trigger, arrays.machine
    told, delta = machine.told, machine.delta
    states = len(delta)
    may, now = np.zeros(states, np.bool_), np.zeros(states, np.bool_)
    for n in range(episode.status[0].length):
        x, u, v = episode.transitions[n], episode.before[n], episode.after[n]
        for w in range(states):
            now[w] = not told[u, trigger[x], w]
        for w in range(states):
            if may[w] and not differs(arrays, u, w, x):
                now[delta[w, trigger[x]]] = True
        now[v] = False
        may[:] = now
    return may


@njit(cache=True)
def find_telling_route(agent: AgentRef, start: int) -> bool:
    """The shortest route over a step whose move is not told from another one, on to where they pay differently.

    Nodes are u·S + s before that step, and U·S + (v·U + w)·S + s after it: the machine is in v, and would be in w.
    """
    note_told(agent)
    arrays = arrays_at(agent)
    trigger, label_of, target_of = arrays.transitions.trigger, arrays.transitions.label, arrays.transitions.target
    delta, told, rewards = arrays.machine.delta, arrays.machine.told, arrays.rewards
    outcomes, following, route = arrays.model.first, arrays.model.next, arrays.route
    states, n_actions = outcomes.shape
    machine_states, status = len(delta), route.status[0]
    single = machine_states * states
    nodes = single * (1 + machine_states)
    if nodes > MOST_NODES:
        return False
    root = nodes  # from which all places lead where the episode is, or may be
    parent, by = np.full(nodes + 1, -1, np.int32), np.zeros(nodes + 1, np.int32)
    queue = np.zeros(nodes, np.int32)
    here = start // states
    parent[start] = root
    queue[0] = start
    head, tail, target, last = 0, 1, -1, -1
    may = open_states(agent)
    for w in range(machine_states):
        if may[w]:
            tail = reach(
                parent, by, queue, tail, single + (here * machine_states + w) * states + start % states, root, 0
            )
    status.expanded += nodes
    while head < tail and target < 0:
        node = queue[head]
        head += 1
        s, is_pair = node % states, node >= single
        pair = (node - single) // states
        u, w = (pair // machine_states, pair % machine_states) if is_pair else (node // states, -1)
        for a in range(n_actions):
            x = outcomes[s, a]
            while x >= 0:
                label, v, t = label_of[x], delta[u, trigger[x]], target_of[x]
                if math.isnan(rewards.paid[u, label, v]):
                    x = following[x]
                    continue
                if is_pair and differs(arrays, u, w, x):
                    target, last = node, a
                    break
                if share_going_on(rewards, u, label, v) > 0.0:
                    if is_pair:
                        other = delta[w, trigger[x]]
                        if other != v:
                            there = single + (v * machine_states + other) * states + t
                            tail = reach(parent, by, queue, tail, there, node, a)
                    else:
                        tail = reach(parent, by, queue, tail, v * states + t, node, a)
                        for other in range(machine_states):
                            if other != v and not told[u, trigger[x], other]:
                                there = single + (v * machine_states + other) * states + t
                                tail = reach(parent, by, queue, tail, there, node, a)
                x = following[x]
            if target >= 0:
                break
    if target < 0:
        return False
    first, length = target, 1
    while parent[first] != root:
        first = parent[first]
        length += 1
    if length > len(route.nodes):
        return False
    write_route(route, parent, by, first, target, last, nodes)
    for n in range(length):
        node = route.nodes[n]
        if node >= single:
            pair = (node - single) // states
            route.nodes[n] = pair // machine_states * states + node % states
    return True
