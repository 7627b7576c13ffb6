"""Paid steps: those whose reward is not what such steps usually bring. They are what episodes say of it."""

from __future__ import annotations

import numpy as np

from markovize.episodes.columns import Bools, Floats, Ints, Longs


def paid_steps(labels: Ints | Longs, rewards: Floats, weights: Ints | None = None) -> Bools:
    """For each step, whether its reward is another than its label's commonest; of equally common ones, nearest to zero.

    >>> paid_steps(np.array([0, 0, 0, 1]), np.array([0.0, 0.0, 1.0, 5.0])).tolist()
    [False, False, True, False]

    A step that stands for several counts as so many, its weight.
    """
    levels, codes = np.unique(rewards, return_inverse=True)
    many = max(1, len(levels))
    pairs, of_step, counts = np.unique(labels.astype(np.int64) * many + codes, return_inverse=True, return_counts=True)
    if weights is not None:
        counts = np.bincount(of_step, weights)
    label, level = pairs // many, levels[pairs % many] if len(pairs) else levels
    order = np.lexsort((level, np.abs(level), -counts, label))
    usual = order[np.r_[True, np.diff(label[order]) != 0]] if len(order) else order
    is_usual = np.zeros(len(pairs), np.bool_)
    is_usual[usual] = True
    return np.asarray(~is_usual[of_step]) if len(pairs) else is_usual
