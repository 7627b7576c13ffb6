"""Compiled pieces of a step: choose an action, update Q, remember the reward, hold an episode."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from numba import njit

from markovize.active.tables import Beliefs, Pool, Record
from markovize.traces import Floats


@njit(cache=True, inline="always")
def best(row: Floats) -> float:
    """The largest entry."""
    top = row[0]
    for value in row:
        if value > top:
            top = value
    return float(top)


@njit(cache=True)
def choose(row: Floats, epsilon: float, first: float, second: float) -> int:
    """ε-greedy with ties broken at random, given two uniform draws."""
    if first < epsilon:
        return int(second * len(row))
    top, ties = row[0], 0
    for value in row:
        if value > top:
            top, ties = value, 1
        elif value == top:
            ties += 1
    skip = int(second * ties)
    for a in range(len(row)):
        if row[a] == top:
            if skip == 0:
                return a
            skip -= 1
    return 0  # unreachable: some entry is the largest


@njit(cache=True)
def update(
    beliefs: Beliefs, u: int, s: int, a: int, v: int, t: int, reward: float, end: bool, alpha: float, gamma: float
) -> None:
    """One step of Q-learning, shaped by the potential."""
    goal = reward - beliefs.potential[u]
    if not end:
        goal += gamma * (beliefs.potential[v] + best(beliefs.q[v, t]))
    beliefs.q[u, s, a] += alpha * (goal - beliefs.q[u, s, a])


@njit(cache=True)
def counterfactual(beliefs: Beliefs, u: int, transition: int, alpha: float, gamma: float) -> None:
    """The same step as it would have been in every other state whose reward is known (CRM)."""
    label, trigger = beliefs.label[transition], beliefs.trigger[transition]
    s, a, t = beliefs.source[transition], beliefs.action[transition], beliefs.target[transition]
    for w in range(len(beliefs.delta)):
        if w != u:
            v = beliefs.delta[w, trigger]
            reward = beliefs.reward[w, label, v]
            if not math.isnan(reward):
                update(beliefs, w, s, a, v, t, reward, beliefs.ends[w, label, v], alpha, gamma)


@njit(cache=True)
def remember(beliefs: Beliefs, u: int, label: int, v: int, reward: float, end: bool) -> int:
    """2 if the reward contradicts the memory, 1 if it is new to it, else 0."""
    known = beliefs.reward[u, label, v]
    if math.isnan(known):
        beliefs.reward[u, label, v] = reward
        beliefs.ends[u, label, v] = end
        return 1
    if end and not beliefs.ends[u, label, v]:
        beliefs.ends[u, label, v] = True
    return 2 if known != reward else 0


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
