"""Rewards with an allowance for noise: which of them one level fits, as small integers.

Outcomes that fit the same outcomes are one: whether a machine explains the steps, and how many outliers it needs, only
depends on who fits whom. Where levels lie further apart than the noise is wide, few are left, and no two of them fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.columns import Floats, Ints, Longs
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.learning.windows import outside_of_windows

FEW: Final = 64  # outcomes, up to which all of them are points of the grid
GRID: Final = 24  # points otherwise, beside the ends of kinds


@dataclass(frozen=True, eq=False)
class Pays:
    """Outcomes by numbers that ascend with their level; those that end episodes come after all others.

    ``fits_from`` has for each outcome the least that may have the same level; all in between may as well.
    """

    allowance: Allowance
    levels: Floats = field(repr=False)  # of each outcome, one of those that it stands for
    ends: Ints = field(repr=False)
    fits_from: Ints = field(repr=False)
    rewards: Floats = field(repr=False)  # of each step, as they are

    @property
    def is_partition(self) -> bool:
        """Whether no two different outcomes fit."""
        return bool(np.array_equal(self.fits_from, np.arange(len(self.fits_from))))

    @cached_property
    def kind_of(self) -> Ints:
        """Of each outcome, the number of its kind: as many neighbours as one level fits are of one kind."""
        kinds, kind, start = np.zeros(len(self.levels), np.int32), 0, 0
        for outcome, least in enumerate(self.fits_from.tolist()):
            if least > start:
                kind, start = kind + 1, outcome
            kinds[outcome] = kind
        return kinds

    @cached_property
    def grid(self) -> Longs:
        """Some of the outcomes, ascending: as many as a rough look needs."""
        n = len(self.levels)
        if n <= FEW:
            return np.arange(n)
        last_of_kind = np.flatnonzero(np.diff(self.kind_of, append=-1))
        return np.unique(np.concatenate([np.linspace(0, n - 1, GRID).astype(np.int64), last_of_kind]))

    def with_outliers(self, outliers: int) -> Pays:
        """The same with another number of outliers."""
        return replace(self, allowance=replace(self.allowance, outliers=outliers))

    def needed_outliers(self, groups: Ints | Longs, outcomes: Ints) -> int:
        """Of steps in these groups, how many the fullest windows leave outside."""
        ones = np.ones(len(groups), np.int64)
        width = self.allowance.width
        return outside_of_windows(groups, self.ends[outcomes], self.levels[outcomes], ones, width)[1]

    def most_windows(self, labels: Ints, outcomes: Ints) -> int:
        """How many windows a label needs at the most, for all its outcomes; with outliers at least one."""
        if self.allowance.outliers:
            return 1
        n, most, windows, start, last = len(self.levels), 1, 0, 0, -1
        for pair in np.unique(labels.astype(np.int64) * n + outcomes).tolist():
            label, outcome = divmod(pair, n)
            windows = windows if label == last else 0
            if not windows or self.fits_from[outcome] > start:
                windows, start, last = windows + 1, outcome, label
            most = max(most, windows)
        return most


def weigh(steps: LabelledSteps, allowance: Allowance) -> tuple[Ints, Pays]:
    """The outcome of every step, by the new numbers, and what these mean."""
    seen = np.unique(steps.outcomes)
    levels = np.array([steps.outcome_values[code][0] for code in seen.tolist()], np.float64)
    ends = np.array([bool(steps.outcome_values[code][1]) for code in seen.tolist()], np.int32)
    order = np.lexsort((levels, ends))
    least, most = _fitting(levels[order], ends[order], allowance.width)
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(least) != 0) | (np.diff(most) != 0)
    number = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    names = np.zeros(int(steps.outcomes.max(initial=0)) + 1, np.int32)
    names[seen[order]] = number
    fits_from = number[least[first]].astype(np.int32) if len(first) else np.zeros(0, np.int32)
    by_code = np.array([reward for reward, _ in steps.outcome_values], np.float64)
    rewards = by_code[steps.outcomes] if len(by_code) else np.zeros(0)
    pays = Pays(allowance, levels[order][first], ends[order][first], fits_from, rewards)
    return names[steps.outcomes], pays


def _fitting(levels: Floats, ends: Ints, width: float) -> tuple[Longs, Longs]:
    """The least and the last that each fits, where they ascend by end and level."""
    least, most = np.zeros(len(levels), np.int64), np.zeros(len(levels), np.int64)
    low = 0
    for at in range(len(levels)):
        while ends[low] != ends[at] or levels[at] - levels[low] > width:
            most[low] = at - 1
            low += 1
        least[at] = low
    most[low:] = len(levels) - 1
    return least, most
