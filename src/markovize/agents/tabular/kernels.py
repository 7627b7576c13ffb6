"""Compiled pieces of a step: choose an action, update Q, remember the reward, hold an episode."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from numba import njit

from markovize.agents.tabular.tables import Beliefs, Pool, Record
from markovize.episodes.traces import Bools, Floats


@njit(cache=True)
def best(q: Floats, u: int, s: int) -> float:
    """The value of the best action."""
    top = q[u, s, 0]
    for a in range(1, q.shape[2]):
        top = max(top, q[u, s, a])
    return float(top)


@njit(cache=True)
def choose(q: Floats, u: int, s: int, epsilon: float, first: float, second: float) -> int:
    """ε-greedy with ties broken at random, given two uniform draws."""
    n_actions = q.shape[2]
    if first < epsilon:
        return int(second * n_actions)
    top, ties, found = q[u, s, 0], 1, 0
    for a in range(1, n_actions):
        value = q[u, s, a]
        if value > top:
            top, ties, found = value, 1, a
        elif value == top:
            ties += 1
    if ties == 1:
        return found
    skip = int(second * ties)
    for a in range(found, n_actions):
        if q[u, s, a] == top:
            if skip == 0:
                return a
            skip -= 1
    return found  # unreachable: there are more ties than are skipped


@njit(cache=True)
def update(
    q: Floats,
    potential: Floats,
    u: int,
    s: int,
    a: int,
    v: int,
    t: int,
    reward: float,
    end: bool,
    alpha: float,
    gamma: float,
) -> None:
    """One step of Q-learning, shaped by the potential."""
    goal = reward - potential[u]
    if not end:
        goal += gamma * (potential[v] + best(q, v, t))
    q[u, s, a] += alpha * (goal - q[u, s, a])


@njit(cache=True)
def counterfactual(beliefs: Beliefs, u: int, x: int, alpha: float, gamma: float) -> None:
    """The same step as it would have been in every other state whose reward is known (CRM)."""
    q, potential, delta, rewards, ends = beliefs.q, beliefs.potential, beliefs.delta, beliefs.reward, beliefs.ends
    label, trigger = beliefs.label[x], beliefs.trigger[x]
    s, a, t = beliefs.source[x], beliefs.action[x], beliefs.target[x]
    for w in range(len(delta)):
        if w != u:
            v = delta[w, trigger]
            reward = rewards[w, label, v]
            if not math.isnan(reward):
                update(q, potential, w, s, a, v, t, reward, ends[w, label, v], alpha, gamma)


@njit(cache=True)
def remember(rewards: Floats, ends: Bools, u: int, label: int, v: int, reward: float, end: bool, endings: bool) -> int:
    """2 if the reward contradicts the memory (or the ending, if ``endings`` matter), 1 if it is new to it, else 0."""
    known = rewards[u, label, v]
    if math.isnan(known):
        rewards[u, label, v] = reward
        ends[u, label, v] = end
        return 1
    contradicts = known != reward or (endings and end != ends[u, label, v])
    if end and not ends[u, label, v]:
        ends[u, label, v] = True
    return 2 if contradicts else 0


@njit(cache=True)
def hold(beliefs: Beliefs, pool: Pool, record: Record, kept: bool) -> None:
    """Files the episode in the pool if it is the shortest so far to show some label's reward."""
    length, row = record.outcome[0], -1
    for n in range(length):
        u, v, label = record.before[n], record.after[n], beliefs.label[record.transitions[n]]
        if length >= beliefs.shortest[u, label, v]:
            continue
        if row < 0:
            pool.free_rows[0] -= 1
            row = pool.free[pool.free_rows[0]]
            pool.transitions[row, :length] = record.transitions[:length]
            pool.rewards[row, :length] = record.rewards[:length]
            pool.lengths[row] = length
            pool.terminated[row] = record.outcome[1] == 1
            pool.kept[row] = kept
        old = beliefs.holder[u, label, v]
        if old >= 0:
            pool.references[old] -= 1
            if pool.references[old] == 0:
                pool.free[pool.free_rows[0]] = old
                pool.free_rows[0] += 1
        pool.references[row] += 1
        beliefs.holder[u, label, v] = row
        beliefs.shortest[u, label, v] = length
