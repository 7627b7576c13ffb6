"""What was paid so far in each (u, valuation, u'), and which new rewards do not fit that."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.traces import Bools, Floats, Ints
from markovize.learning.windows import outside_of_windows


class PaidRewards:
    """Rewards by cell. Without an allowance a cell pays what it first paid.

    With a tolerance, all that a cell paid must fit into one window; with outliers, but for so many steps in all.

    >>> paid = PaidRewards(Allowance(0.1, 1))
    >>> paid.add(["cell"], np.zeros(3, np.int32), np.array([1.0, 1.1, 5.0])).tolist()  # one outlier
    [False, False, False]
    >>> paid.add(["cell"], np.zeros(2, np.int32), np.array([1.0, 7.0])).tolist()  # two
    [False, True]
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._first: dict[Hashable, float] = {}
        self._numbers: dict[Hashable, int] = {}
        self._entries = np.zeros((0, 2))  # cell and reward, each pair once
        self._counts = np.zeros(0, np.int64)

    def add(self, cells: Sequence[Hashable], of_step: Ints, rewards: Floats) -> Bools:
        """New steps, by the number of their cell; for each, whether it is in conflict with what is known."""
        if not self._allowance.exact:
            return self._add_with_noise(cells, of_step, rewards)
        firsts = dict(zip(*np.unique(of_step, return_index=True), strict=True))
        promised = [self._first.setdefault(cell, float(rewards[firsts[n]])) for n, cell in enumerate(cells)]
        return np.asarray(np.array(promised)[of_step] != rewards)

    def _add_with_noise(self, cells: Sequence[Hashable], of_step: Ints, rewards: Floats) -> Bools:
        numbers = np.array([self._numbers.setdefault(cell, len(self._numbers)) for cell in cells], np.int64)[of_step]
        entries = np.concatenate([self._entries, np.column_stack([numbers, rewards])])
        weights = np.concatenate([self._counts, np.ones(len(rewards), np.int64)])
        self._entries, entry = np.unique(entries, axis=0, return_inverse=True)
        entry = entry.ravel()
        self._counts = np.bincount(entry, weights).astype(np.int64)
        groups, levels = self._entries[:, 0].astype(np.int64), np.ascontiguousarray(self._entries[:, 1])
        width, ends = self._allowance.width, np.zeros(len(groups), np.int32)
        outside, steps = outside_of_windows(groups, ends, levels, self._counts, width)
        if steps <= self._allowance.outliers:
            return np.zeros(len(rewards), np.bool_)
        wrong = np.asarray(outside[entry[len(entry) - len(rewards) :]])
        # where only earlier steps are outside, the new ones have moved the window
        return wrong if wrong.any() else np.isin(numbers, groups[outside])
