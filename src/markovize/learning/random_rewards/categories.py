"""Rewards as categories: what a test of chance counts.

Few different rewards are categories as they are. Where a label paid many, as continuous rewards do, they are put into
four groups of about equal size, by rank. So nothing is supposed of shape, scale or tails of a distribution: in cells
that pay alike, the groups of a label have equal chances, whatever it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from markovize.episodes.traces import Floats, Ints, Longs

FEW: Final = 8  # different rewards of a label, up to which each is a category
GROUPS: Final = 4  # of a label that paid more: shifts of the middle and of the width both show


@dataclass(frozen=True)
class Categories:
    """The category of each step within its label, and what the categories of each label are.

    ``low`` and ``high`` are the least and the greatest reward of each category; those of label y stand from
    ``blocks[y]`` on.
    """

    codes: Ints
    blocks: Longs
    low: Floats
    high: Floats

    @property
    def many(self) -> Longs:
        """How many categories each label has."""
        return np.diff(self.blocks)


def categorise(rewards: Floats, labels: Ints, n_labels: int) -> Categories:
    """The categories of rewards, label by label.

    >>> found = categorise(np.array([0.0, 1.0, 0.0, 5.0]), np.array([0, 0, 0, 1], np.int32), 2)
    >>> found.codes.tolist(), found.many.tolist(), found.low.tolist()
    ([0, 1, 0, 0], [2, 1], [0.0, 1.0, 5.0])
    >>> found = categorise(np.arange(100.0), np.zeros(100, np.int32), 1)
    >>> np.bincount(found.codes).tolist(), found.low.tolist(), found.high.tolist()
    ([25, 25, 25, 25], [0.0, 25.0, 50.0, 75.0], [24.0, 49.0, 74.0, 99.0])
    """
    order = np.lexsort((rewards, labels))
    label, paid = labels[order], rewards[order]
    begins = np.r_[True, label[1:] != label[:-1]] if len(order) else np.zeros(0, np.bool_)
    other = begins | np.r_[True, paid[1:] != paid[:-1]] if len(order) else begins
    place = np.cumsum(other) - 1
    firsts = np.flatnonzero(begins)
    rank = place - np.repeat(place[firsts], np.diff(np.r_[firsts, len(order)])) if len(order) else place
    many = np.zeros(n_labels, np.int64)
    np.maximum.at(many, label, rank + 1)
    for number in np.flatnonzero(many > FEW).tolist():
        start, end = np.searchsorted(label, [number, number + 1])
        rank[start:end] = _group(paid[start:end])
        many[number] = rank[end - 1] + 1
    blocks = np.r_[0, np.cumsum(many)]
    codes = np.empty(len(order), np.int32)
    codes[order] = rank
    low, high = np.full(blocks[-1], np.inf), np.full(blocks[-1], -np.inf)
    np.minimum.at(low, blocks[labels] + codes, rewards)
    np.maximum.at(high, blocks[labels] + codes, rewards)
    return Categories(codes, blocks, low, high)


def _group(paid: Floats) -> Longs:
    """The group of each of these rewards, which are in order; equal ones are in one group.

    >>> _group(np.array([0.0] * 6 + [1.0, 2.0, 3.0, 4.0])).tolist()
    [0, 0, 0, 0, 0, 0, 1, 2, 2, 2]
    """
    last = np.arange(1, GROUPS) * len(paid) // GROUPS - 1
    groups = np.searchsorted(np.unique(paid[np.maximum(last, 0)]), paid, side="left")
    return np.asarray(np.unique(groups, return_inverse=True)[1])
