"""Directed exploration, compiled: routes to what is known least.

A *tour* walks from one target to the next by the shortest known route: first to (state, action) pairs never tried, then
to rewards of S×U never seen, then to random places, the less visited the likelier; and, once for long nothing was new,
to steps that may refute the machine (:mod:`~markovize.agents.tabular.compiled.confirmation` and, where rewards are
noisy, :mod:`~markovize.agents.tabular.compiled.separation`). Routes treat every
outcome that an action has shown as reachable, and are searched anew where a stochastic environment goes another way.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from numba import njit

from markovize.agents.tabular.compiled.arrays import Model, Transitions
from markovize.agents.tabular.compiled.confirmation import find_confirming_route
from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at
from markovize.agents.tabular.compiled.routes import reach, write_route
from markovize.agents.tabular.compiled.separation import find_telling_route
from markovize.agents.tabular.compiled.updates import share_going_on
from markovize.episodes.traces import Ints, Longs

CONFIRMING = 0.5  # of the routes with nothing new to see, once the machine is to be confirmed
TRIES = 10  # of each action in each state of a stochastic environment, before one looks elsewhere


@njit(cache=True)
def count_transition(model: Model, transitions: Transitions, x: int) -> bool:
    """Counts a transition; True if it is new, or its action has been taken twice as often as at the last such news."""
    s, a = transitions.source[x], transitions.action[x]
    if model.seen[x] == 0:
        model.next[x] = model.first[s, a]
        model.first[s, a] = x
    model.seen[x] += 1
    tries, branches, y = 0, 0, model.first[s, a]
    while y >= 0:
        tries += model.seen[y]
        branches += 1
        y = model.next[y]
    if branches > 1:
        model.flags[0].stochastic = True
    return model.seen[x] == 1 or (branches > 1 and tries & (tries - 1) == 0)


@njit(cache=True)
def is_little_tried(seen: Longs, following: Ints, x: int, enough: int) -> bool:
    """Whether an action deserves another try, given the first of its transitions."""
    tries = 0
    while x >= 0 and tries < enough:
        tries += seen[x]
        x = following[x]
    return tries < enough


@njit(cache=True)
def find_route(agent: AgentRef, u: int, s: int, first: float, second: float) -> None:
    """Chooses a target and the route there by breadth-first search, and what to do there: an action at random.

    Staying and bumping are on no shortest route, but may matter as much as moving.
    """
    arrays = arrays_at(agent)
    trigger, label_of, target_of = arrays.transitions.trigger, arrays.transitions.label, arrays.transitions.target
    delta, rewards, visits = arrays.machine.delta, arrays.rewards, arrays.values.visits
    outcomes, seen, following = arrays.model.first, arrays.model.seen, arrays.model.next
    route = arrays.route
    parent, by, queue, weight = route.parent, route.by, route.queue, route.weight
    enough = TRIES if arrays.model.flags[0].stochastic else 1  # tries of an action
    states, n_actions = outcomes.shape
    nodes = len(delta) * states
    parent[:nodes] = -1
    start = u * states + s
    parent[start] = start
    queue[0] = start
    head, tail, target, last = 0, 1, -1, -1
    unseen, unseen_action = -1, -1
    total = 0.0
    while head < tail:
        node = queue[head]
        u = node // states
        s = node - u * states
        total += 1.0 / (1.0 + visits[u, s])
        weight[head] = total
        for a in range(n_actions):
            x = outcomes[s, a]
            if is_little_tried(seen, following, x, enough):  # the nearest such is the target
                target, last = node, a
                break
            while x >= 0:
                label, v = label_of[x], delta[u, trigger[x]]
                if math.isnan(rewards.paid[u, label, v]):
                    if unseen < 0:
                        unseen, unseen_action = node, a
                elif share_going_on(rewards, u, label, v) > 0.0:
                    tail = reach(parent, by, queue, tail, v * states + target_of[x], node, a)
                x = following[x]
        if target >= 0:
            break
        head += 1
    if target < 0 and unseen >= 0:
        target, last = unseen, unseen_action
    if target < 0 and arrays.control.how[0].confirm:
        if first < CONFIRMING and not route.status[0].confirmed:
            if arrays.control.how[0].width > 0.0:
                found = find_telling_route(agent, start)
            else:
                found = find_confirming_route(agent, start)
            if found:
                return
            route.status[0].confirmed = True
        first = first / CONFIRMING if first < CONFIRMING else (first - CONFIRMING) / (1.0 - CONFIRMING)
    if target < 0:
        last = int(second * n_actions)
        low, high, aim = 0, tail - 1, first * total
        while low < high:
            middle = (low + high) // 2
            if weight[middle] > aim:
                high = middle
            else:
                low = middle + 1
        target = queue[low]
    route.status[0].expanded += head + nodes
    write_route(route, parent, by, start, target, last, nodes)


@njit(cache=True)
def next_of_tour(agent: AgentRef, u: int, s: int, first: float, second: float) -> int:
    """The next action of a tour; a new route is searched only where the old one ends, or was lost."""
    arrays = arrays_at(agent)
    route, status = arrays.route, arrays.route.status[0]
    states = arrays.model.first.shape[0]
    if status.position >= status.length or route.nodes[status.position] != u * states + s:
        find_route(agent, u, s, first, second)
    a = route.actions[status.position]
    status.position += 1
    return int(a)


@njit(cache=True)
def tour_length(draw: float, promising: bool, longest: int) -> int:
    """How many steps an episode explores before it turns greedy: none, some or all of them."""
    if longest > 0 and (not promising or draw >= 0.75):
        return longest
    return 0 if draw < 0.25 else int((draw - 0.25) * 2.0 * longest)
