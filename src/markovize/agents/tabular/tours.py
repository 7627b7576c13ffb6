"""Directed exploration, compiled: planning on what is known of S×U, and tours to what is known least.

A *tour* walks from one target to the next by the shortest known way: first to (state, action) pairs never tried, then
to rewards of S×U never seen, then to random places, the less visited the likelier. Ways treat every outcome that an
action has shown as reachable, and are planned anew where a stochastic environment goes another way.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from numba import njit

from markovize.agents.tabular.kernels import best
from markovize.agents.tabular.tables import Beliefs, Model, Way
from markovize.episodes.traces import Ints, Longs

TRIES = 10  # of each action in each state of a stochastic environment, before one looks elsewhere


@njit(cache=True)
def notice(model: Model, beliefs: Beliefs, x: int) -> bool:
    """Counts a transition; True if it is new, or its action has been taken twice as often as at the last such news."""
    s, a = beliefs.source[x], beliefs.action[x]
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
        model.wavers[0] = True
    return model.seen[x] == 1 or (branches > 1 and tries & (tries - 1) == 0)


@njit(cache=True)
def plan(beliefs: Beliefs, model: Model, gamma: float, tolerance: float) -> None:
    """Value iteration on the known part of S×U; what was never tried or seen counts as zero."""
    states, n_actions = model.first.shape
    while True:
        change = 0.0
        for u in range(len(beliefs.delta)):
            for s in range(states):
                for a in range(n_actions):
                    x = model.first[s, a]
                    tries, value = 0, 0.0
                    while x >= 0:
                        v = beliefs.delta[u, beliefs.trigger[x]]
                        label = beliefs.label[x]
                        reward = beliefs.reward[u, label, v]
                        here = 0.0 if math.isnan(reward) else reward
                        if not beliefs.ends[u, label, v]:
                            here += gamma * best(beliefs.q, v, beliefs.target[x])
                        value += model.seen[x] * here
                        tries += model.seen[x]
                        x = model.next[x]
                    if tries > 0:
                        value /= tries
                    change = max(change, abs(value - beliefs.q[u, s, a]))
                    beliefs.q[u, s, a] = value
        if change * gamma <= tolerance * (1.0 - gamma):
            break


@njit(cache=True)
def too_little_tried(seen: Longs, following: Ints, x: int, enough: int) -> bool:
    """Whether an action deserves another try, given the first of its transitions."""
    tries = 0
    while x >= 0 and tries < enough:
        tries += seen[x]
        x = following[x]
    return tries < enough


@njit(cache=True)
def find_way(beliefs: Beliefs, model: Model, way: Way, u: int, s: int, first: float, second: float) -> None:
    """Chooses a target and the way there by breadth-first search, and what to do there: an action at random.

    Staying and bumping are on no shortest way, but may matter as much as moving.
    """
    trigger, label_of, delta, target_of = beliefs.trigger, beliefs.label, beliefs.delta, beliefs.target
    rewards, ends, visits = beliefs.reward, beliefs.ends, beliefs.visits
    outcomes, seen, following = model.first, model.seen, model.next
    parent, by, queue, weight = way.parent, way.by, way.queue, way.weight
    enough = TRIES if model.wavers[0] else 1  # tries of an action
    states, n_actions = outcomes.shape
    parent[:] = -1
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
            if too_little_tried(seen, following, x, enough):  # the nearest such is the target
                target, last = node, a
                break
            while x >= 0:
                label, v = label_of[x], delta[u, trigger[x]]
                if math.isnan(rewards[u, label, v]):
                    if unseen < 0:
                        unseen, unseen_action = node, a
                elif not ends[u, label, v]:
                    there = v * states + target_of[x]
                    if parent[there] < 0:
                        parent[there], by[there] = node, a
                        queue[tail] = there
                        tail += 1
                x = following[x]
        if target >= 0:
            break
        head += 1
    if target < 0 and unseen >= 0:
        target, last = unseen, unseen_action
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
    at, node = 1, target
    while node != start:
        at += 1
        node = parent[node]
    way.place[0], way.place[1] = 0, at
    node, a = target, last
    while at > 0:
        at -= 1
        way.nodes[at], way.actions[at] = node, a
        a, node = by[node], parent[node]


@njit(cache=True)
def tour(beliefs: Beliefs, model: Model, way: Way, u: int, s: int, first: float, second: float) -> int:
    """The next action of a tour; a new way is found only where the old one ends, or was lost."""
    states = model.first.shape[0]
    if way.place[0] >= way.place[1] or way.nodes[way.place[0]] != u * states + s:
        find_way(beliefs, model, way, u, s, first, second)
    a = way.actions[way.place[0]]
    way.place[0] += 1
    return int(a)


@njit(cache=True)
def tour_length(draw: float, promising: bool, longest: int) -> int:
    """How many steps an episode explores before it turns greedy: none, some or all of them."""
    if longest > 0 and (not promising or draw >= 0.75):
        return longest
    return 0 if draw < 0.25 else int((draw - 0.25) * 2.0 * longest)
