"""Paid steps: those whose reward is not what such steps usually bring. They are what episodes say of it."""

from __future__ import annotations

from typing import Final

import numpy as np

from markovize.episodes.columns import Bools, Floats, Ints, Longs

DENSE: Final = 8  # times as many possible keys as steps, up to which a table of all keys is no waste


def paid_steps(labels: Ints | Longs, rewards: Floats, weights: Ints | None = None) -> Bools:
    """For each step, whether its reward is another than its label's commonest; of equally common ones, nearest to zero.

    >>> paid_steps(np.array([0, 0, 0, 1]), np.array([0.0, 0.0, 1.0, 5.0])).tolist()
    [False, False, True, False]

    A step that stands for several counts as so many, its weight.
    """
    levels = np.unique(rewards)
    many = max(1, len(levels))
    keys = labels.astype(np.int64) * many + np.searchsorted(levels, rewards)
    pairs, of_step, counts = _count_each(keys)
    if weights is not None:
        counts = np.bincount(of_step, weights)
    label, level = pairs // many, levels[pairs % many] if len(pairs) else levels
    order = np.lexsort((level, np.abs(level), -counts, label))
    usual = order[np.r_[True, np.diff(label[order]) != 0]] if len(order) else order
    is_usual = np.zeros(len(pairs), np.bool_)
    is_usual[usual] = True
    return np.asarray(~is_usual[of_step]) if len(pairs) else is_usual


def _count_each(keys: Longs) -> tuple[Longs, Longs, Longs]:
    """Different keys in order, the number of each step's key among them, and how often they occur."""
    if not len(keys) or keys.max() >= DENSE * len(keys):
        return np.unique(keys, return_inverse=True, return_counts=True)
    counts = np.bincount(keys)  # a third of the time
    there = np.flatnonzero(counts)
    return there, (np.cumsum(counts > 0) - 1)[keys], counts[there]
