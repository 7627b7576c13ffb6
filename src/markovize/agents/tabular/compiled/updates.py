"""What one step changes: the value of its action, the memory of its reward, the witnesses of rewards."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from numba import njit

from markovize.agents.tabular.compiled.arrays import Rewards
from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at
from markovize.episodes.traces import Floats

KNOWN, NEW, CONTRADICTS, MOVED = 0, 1, 2, 3


@njit(cache=True)
def best_value(q: Floats, u: int, s: int) -> float:
    """The value of the best action."""
    top = q[u, s, 0]
    for a in range(1, q.shape[2]):
        top = max(top, q[u, s, a])
    return float(top)


@njit(cache=True)
def choose_greedily(q: Floats, u: int, s: int, epsilon: float, first: float, second: float) -> int:
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
    raise AssertionError  # there are more ties than are skipped


@njit(cache=True)
def update_value(
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
        goal += gamma * (potential[v] + best_value(q, v, t))
    q[u, s, a] += alpha * (goal - q[u, s, a])


@njit(cache=True)
def update_counterfactuals(agent: AgentRef, u: int, x: int, alpha: float, gamma: float) -> None:
    """The same step as it would have been in every other state whose reward is known (CRM)."""
    arrays = arrays_at(agent)
    transitions, rewards = arrays.transitions, arrays.rewards
    q, potential, delta = arrays.values.q, arrays.machine.potential, arrays.machine.delta
    label, trigger = transitions.label[x], transitions.trigger[x]
    s, a, t = transitions.source[x], transitions.action[x], transitions.target[x]
    for w in range(len(delta)):
        if w != u:
            v = delta[w, trigger]
            reward = rewards.paid[w, label, v]
            if not math.isnan(reward):
                end = share_going_on(rewards, w, label, v) < 0.5
                update_value(q, potential, w, s, a, v, t, reward, end, alpha, gamma)


@njit(cache=True)
def remember_reward(rewards: Rewards, u: int, label: int, v: int, reward: float, end: bool, endings: bool) -> int:
    """Whether the reward is :data:`KNOWN`, :data:`NEW`, or :data:`CONTRADICTS` the memory (or its ending does, where
    ``endings`` matter)."""
    known, ended = rewards.paid[u, label, v], rewards.ended[u, label, v] > 0
    rewards.made[u, label, v] += 1
    if end:
        rewards.ended[u, label, v] += 1
    if math.isnan(known):
        rewards.paid[u, label, v] = reward
        return NEW
    return CONTRADICTS if known != reward or (endings and end != ended) else KNOWN


@njit(cache=True)
def remember_level(
    rewards: Rewards, u: int, label: int, v: int, reward: float, end: bool, endings: bool, width: float
) -> int:
    """The same where rewards of one level may differ by ``width``: their mean is remembered.

    :data:`MOVED` says that it is worth another look: rewards reach farther than before, or there are twice as many.
    Apart from :func:`remember_reward`, which is in the innermost loop: there every branch counts.
    """
    known, ended = rewards.paid[u, label, v], rewards.ended[u, label, v] > 0
    rewards.made[u, label, v] += 1
    if end:
        rewards.ended[u, label, v] += 1
    if math.isnan(known):
        rewards.paid[u, label, v] = rewards.low[u, label, v] = rewards.high[u, label, v] = reward
        return NEW
    low, high = rewards.low[u, label, v], rewards.high[u, label, v]
    wider = reward < low or reward > high
    if wider:
        low, high = min(low, reward), max(high, reward)
        rewards.low[u, label, v], rewards.high[u, label, v] = low, high
    made = rewards.made[u, label, v]
    rewards.paid[u, label, v] += (reward - known) / made
    if high - low > width or (endings and end != ended):
        return CONTRADICTS
    return MOVED if wider or (high > low and made & (made - 1) == 0) else KNOWN


@njit(cache=True)
def share_going_on(rewards: Rewards, u: int, label: int, v: int) -> float:
    """How often, from 0 to 1, an episode went on after such a step; 1 if there was none."""
    made = rewards.made[u, label, v]
    return 1.0 if made == 0 else 1.0 - rewards.ended[u, label, v] / made


@njit(cache=True)
def file_episode(agent: AgentRef, kept: bool) -> None:
    """Files the episode among the witnesses if it is the shortest so far to show some label's reward."""
    arrays = arrays_at(agent)
    transitions, rewards, witnesses, episode = arrays.transitions, arrays.rewards, arrays.witnesses, arrays.episode
    status, free = episode.status[0], witnesses.free_rows[0]
    length, row = status.length, -1
    for n in range(length):
        u, v, label = episode.before[n], episode.after[n], transitions.label[episode.transitions[n]]
        if length >= rewards.shortest[u, label, v]:
            continue
        if row < 0:
            free.count -= 1
            row = witnesses.free[free.count]
            witnesses.transitions[row, :length] = episode.transitions[:length]
            witnesses.rewards[row, :length] = episode.rewards[:length]
            witnesses.lengths[row] = length
            witnesses.terminated[row] = status.terminated
            witnesses.kept[row] = kept
        old = rewards.witness[u, label, v]
        if old >= 0:
            witnesses.references[old] -= 1
            if witnesses.references[old] == 0:
                witnesses.free[free.count] = old
                free.count += 1
        witnesses.references[row] += 1
        rewards.witness[u, label, v] = row
        rewards.shortest[u, label, v] = length
