"""Paid steps: those whose reward is not what such steps usually bring. They are what episodes say of it."""

from __future__ import annotations

import numpy as np

from markovize.episodes.columns import Ints, Longs
from markovize.episodes.distinct import DENSE


def count_paid(labels: Ints | Longs, rewards: Ints | Longs, weights: Ints | None = None) -> int:
    """How many steps have another reward than their label's commonest. Rewards are numbers from 0, as labels are.

    >>> count_paid(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]))
    1

    A step that stands for several counts as so many, its weight.
    """
    if not len(labels):
        return 0
    width, height = int(labels.max()) + 1, int(rewards.max()) + 1
    if width * height <= DENSE * len(labels):
        keys = rewards * np.int64(width) + labels
        usual = np.bincount(keys, weights, width * height).reshape(height, width).max(axis=0)
    else:
        pairs, of_step = np.unique(labels * np.int64(height) + rewards, return_inverse=True)
        begins = np.flatnonzero(np.diff(pairs // height, prepend=-1))  # where the pairs of another label begin
        usual = np.maximum.reduceat(np.bincount(of_step, weights), begins)
    return int((len(labels) if weights is None else weights.sum()) - usual.sum())
