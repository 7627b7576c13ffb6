"""Episodes without what is probably noise: a reward that a label hardly ever has becomes what it mostly pays.

A step that is paid wrongly nearly always stands out: its label pays something like that nowhere else. Without such
steps an exact search finds the machine, which is then measured on the rewards as they are. Nothing is proven by this.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from markovize.episodes.columns import Floats, Longs
from markovize.episodes.labelling import LabelOn, labelling_of
from markovize.episodes.traces import Traces


def trim_rewards(traces: Traces, reward_on: LabelOn, width: float, rare: int) -> tuple[Traces, int]:
    """The episodes with rare rewards replaced, and how many steps that were.

    Rewards of a label that are no further apart than the width count as one; rare are those of so many steps or fewer.

    >>> walks = Traces.of([(["hall", "hall", "hall", "hall"], ["stay"] * 3, [0, 0, 1])])
    >>> trimmed, steps = trim_rewards(walks, "state", 0.0, 1)
    >>> trimmed.rewards.tolist(), steps
    ([0.0, 0.0, 0.0], 1)
    """
    labels = labelling_of(reward_on).label_steps(traces).ids
    weights = traces.weights()
    counts = np.ones(traces.steps, np.int64) if weights is None else np.asarray(weights, np.int64)
    order = np.lexsort((traces.rewards, labels))
    rewards = traces.rewards.copy()
    steps = _trim(np.asarray(labels, np.int64), rewards, counts, order, width, rare)
    return replace(traces, rewards=rewards), int(steps)


@njit(cache=True)
def _trim(labels: Longs, rewards: Floats, counts: Longs, order: Longs, width: float, rare: int) -> int:
    """Steps in the order of their label and reward; rewards are replaced in place."""
    replaced, n, first = 0, len(order), 0
    cluster, sizes = np.zeros(n, np.int64), np.zeros(n, np.int64)
    while first < n:
        at, last, low = first, 0, rewards[order[first]]
        while at < n and labels[order[at]] == labels[order[first]]:
            reward = rewards[order[at]]
            if reward - low > width:
                last, low = last + 1, reward
                sizes[last] = 0
            if at == first:
                sizes[0] = 0
            cluster[at] = last
            sizes[last] += counts[order[at]]
            at += 1
        usual = 0
        for number in range(last + 1):
            if sizes[number] > sizes[usual]:
                usual = number
        pays = 0.0
        for entry in range(first, at):
            if cluster[entry] == usual:
                pays = rewards[order[entry]]
                break
        for entry in range(first, at):
            if cluster[entry] != usual and sizes[cluster[entry]] <= rare:
                rewards[order[entry]] = pays
                replaced += counts[order[entry]]
        first = at
    return replaced
