"""Rewards of one cell within a tolerance: the fullest window, and what is outside of it.

A cell's rewards have one level exactly where they fit into a window as wide as twice the tolerance. With outliers, the
least number of them is what the fullest window leaves outside.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit

from markovize.episodes.columns import Bools, Floats, Ints, Longs

DENSE: Final = 4  # times as many groups as entries, up to which a table of all groups is faster than to sort


def outside_of_windows(
    groups: Ints | Longs,
    ends: Ints,
    levels: Floats,
    counts: Ints | Longs,
    width: float,
    *,
    ascending: Longs | None = None,
    n_groups: int | None = None,
) -> tuple[Bools, int]:
    """For each entry, whether it is outside of the fullest window of its group; how many steps these are in all.

    Entries of one window have equal ends. Of windows that are equally full the first counts. Who asks often about the
    same entries gives them in the order of their ends and levels, ``ascending``, and how many groups there may be.

    >>> outside, steps = outside_of_windows(
    ...     np.array([0, 0, 0, 1]), np.zeros(4, np.int32), np.array([1.0, 5.0, 1.1, 7.0]), np.array([1, 1, 1, 9]), 0.5
    ... )
    >>> outside.tolist(), steps
    ([False, True, False, False], 1)
    """
    if ascending is None:
        order = np.lexsort((levels, ends, groups))
    elif n_groups is not None and n_groups <= DENSE * len(ascending):
        order = sort_into_groups(ascending, np.asarray(groups, np.int64), n_groups)
    else:
        order = ascending[np.argsort(groups[ascending], kind="stable")]
    outside = np.ones(len(order), np.bool_)
    many = np.asarray(counts, np.int64)
    steps = fill_windows(np.asarray(groups, np.int64)[order], ends[order], levels[order], many[order], width, outside)
    back = np.empty(len(order), np.bool_)
    back[order] = outside
    return back, int(steps)


class Groups(NamedTuple):
    """What pays alike, group by group: how many steps, their mean, the squares of what is left, and the extremes."""

    steps: Floats
    mean: Floats
    squares: Floats
    low: Floats
    high: Floats
    special: Bools  # whether it is a cell that pays something else than its label mostly does

    @classmethod
    def none(cls) -> Groups:
        """No group at all.

        >>> len(Groups.none().steps)
        0
        """
        no = np.zeros(0)
        return cls(no, no, no, no, no, np.zeros(0, np.bool_))

    @classmethod
    def gather(cls, groups: Ints | Longs, levels: Floats, counts: Ints | Longs) -> Groups:
        """Entries of these groups, which are numbered from 0; none of them special.

        >>> Groups.gather(np.array([0, 0, 1]), np.array([1.0, 3.0, 5.0]), np.array([1, 1, 4])).mean.tolist()
        [2.0, 5.0]
        """
        n = int(groups.max(initial=-1)) + 1
        low, high = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(low, groups, levels)
        np.maximum.at(high, groups, levels)
        with np.errstate(over="ignore", invalid="ignore"):  # of huge rewards; the sums are of no use then, and say so
            steps = np.bincount(groups, counts, n).astype(np.float64)
            mean = np.where(low == high, low, np.bincount(groups, counts * levels, n) / np.maximum(1, steps))
            squares = np.bincount(groups, counts * (levels - mean[groups]) ** 2, n).astype(np.float64)
        return cls(steps, mean, squares, low, high, np.zeros(n, np.bool_))

    def and_also(self, other: Groups) -> Groups:
        """These and others."""
        if not len(other.steps):
            return self
        return Groups(
            np.concatenate([self.steps, other.steps]),
            np.concatenate([self.mean, other.mean]),
            np.concatenate([self.squares, other.squares]),
            np.concatenate([self.low, other.low]),
            np.concatenate([self.high, other.high]),
            np.concatenate([self.special, other.special]),
        )

    def joined(self, *which: Bools) -> Groups:
        """With some of them as one, and others as another; these come last.

        >>> one = Groups.gather(np.array([0, 1, 2]), np.array([1.0, 3.0, 9.0]), np.ones(3, np.int64))
        >>> both = one.joined(np.array([True, True, False]))
        >>> both.mean.tolist(), both.squares.tolist(), both.high.tolist()
        ([9.0, 2.0], [0.0, 2.0], [9.0, 3.0])
        """
        names = np.arange(len(self.steps))
        for number, those in enumerate(which):
            names[those] = len(names) + number
        of = np.unique(names, return_inverse=True)[1]
        n = int(of.max(initial=-1)) + 1
        low, high, special = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n, np.bool_)
        np.minimum.at(low, of, self.low)
        np.maximum.at(high, of, self.high)
        np.logical_or.at(special, of, self.special)
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.bincount(of, self.steps, n).astype(np.float64)
            mean = np.where(low == high, low, np.bincount(of, self.steps * self.mean, n) / np.maximum(1, steps))
            squares = np.bincount(of, self.squares + self.steps * (self.mean - mean[of]) ** 2, n).astype(np.float64)
        return Groups(steps, mean, squares, low, high, special)


class Inside(NamedTuple):
    """How many steps no window holds, and what is inside of the windows."""

    outliers: int
    groups: Groups


def look_inside(cells: Longs, labels: Ints, levels: Floats, counts: Ints | Longs, width: float) -> Groups:
    """What pays alike: of each label the cells that pay what it mostly does, and each other cell on its own.

    Entries are those inside of the windows. A cell pays what its label's fullest cell does where one window holds the
    rewards of both.

    >>> one = np.ones(3, np.int64)
    >>> groups = look_inside(np.array([0, 0, 1]), np.zeros(3, np.int32), np.array([1.0, 1.2, 5.0]), one, 0.5)
    >>> groups.special.tolist(), groups.squares.round(3).tolist()
    ([False, True], [0.02, 0.0])
    """
    if not len(cells):
        return Groups.none()
    numbers, of_entry = np.unique(cells, return_inverse=True)
    each = Groups.gather(of_entry, levels, counts)
    label = np.zeros(len(numbers), np.int32)
    label[of_entry] = labels
    order = np.lexsort((-each.steps, label))
    usual = order[np.searchsorted(label[order], label)]  # each label's fullest cell
    special = np.maximum(each.high, each.high[usual]) - np.minimum(each.low, each.low[usual]) > width
    names, alike = np.unique(np.where(special, np.arange(len(numbers)), usual), return_inverse=True)
    return Groups.gather(alike[of_entry], levels, counts)._replace(special=special[names])


def finest_groups(labels: Ints, ends: Ints, levels: Floats, counts: Ints | Longs, order: Longs, width: float) -> Groups:
    """The windows that it takes to cover the levels of each label: no machine tells more apart.

    ``order`` has the entries by label, end and level.

    >>> one, no = np.ones(3, np.int64), np.zeros(3, np.int32)
    >>> finest_groups(no, no, np.array([5.0, 1.0, 1.2]), one, np.array([1, 2, 0]), 0.5).mean.round(3).tolist()
    [1.1, 5.0]
    """
    groups = number_windows(labels[order].astype(np.int64), ends[order], levels[order], width)
    return Groups.gather(groups, levels[order], counts[order])


@njit(cache=True)
def number_windows(labels: Longs, ends: Ints, levels: Floats, width: float) -> Longs:
    """Of entries by label, end and level: the number of the window that holds each."""
    out = np.zeros(len(labels), np.int64)
    start, number = 0, 0
    for at in range(len(labels)):
        is_alike = labels[at] == labels[start] and ends[at] == ends[start]
        if not is_alike or levels[at] - levels[start] > width:
            start, number = at, number + 1
        out[at] = number
    return out


@njit(cache=True)
def fullest_window(values: Floats, counts: Longs, width: float) -> float:
    """The median of the window of ascending values that has most steps.

    >>> fullest_window(np.array([0.0, 0.5, 0.75, 3.0]), np.array([1, 2, 3, 3]), 0.5)
    0.75
    """
    low, full, best, first, last = 0, 0, -1, 0, 0
    for at in range(len(values)):
        full += counts[at]
        while values[at] - values[low] > width:
            full -= counts[low]
            low += 1
        if full > best:
            best, first, last = full, low, at
    half = best
    for at in range(first, last + 1):
        half -= 2 * counts[at]
        if half <= 0:
            first = at
            break
    return float(values[first]) if len(values) else 0.0


@njit(cache=True)
def count_windows(values: Floats, width: float) -> int:
    """How many windows it takes to cover ascending values.

    >>> int(count_windows(np.array([0.0, 0.5, 0.6, 3.0]), 0.5))
    3
    """
    windows, start = 0, -np.inf
    for value in values:
        if value - start > width:
            windows, start = windows + 1, value
    return windows


@njit(cache=True)
def fill_windows(groups: Longs, ends: Ints, levels: Floats, counts: Longs, width: float, outside: Bools) -> int:
    """Entries sorted by group, end and level; those inside of the fullest windows are marked, the others counted."""
    total, n = 0, len(groups)
    first = 0
    while first < n:
        low, full, best, best_low, best_high = first, 0, -1, first, first
        at = first
        while at < n and groups[at] == groups[first]:
            full += counts[at]
            while ends[low] != ends[at] or levels[at] - levels[low] > width:
                full -= counts[low]
                low += 1
            if full > best:
                best, best_low, best_high = full, low, at
            at += 1
        for inside in range(best_low, best_high + 1):
            outside[inside] = False
        for entry in range(first, at):
            if outside[entry]:
                total += counts[entry]
        first = at
    return total


@njit(cache=True)
def sort_into_groups(order: Longs, groups: Longs, n_groups: int) -> Longs:
    """The entries group by group; those of one group are in the given order."""
    start = np.zeros(n_groups + 1, np.int64)
    for entry in order:
        start[groups[entry] + 1] += 1
    for group in range(n_groups):
        start[group + 1] += start[group]
    out = np.empty(len(order), np.int64)
    for entry in order:
        out[start[groups[entry]]] = entry
        start[groups[entry]] += 1
    return out


@njit(cache=True)
def clashing_pairs(
    groups: Longs, ends: Ints, levels: Floats, counts: Ints, outside: Bools, width: float, most: int
) -> Ints:
    """Pairs of entries of one group that no level fits both, one of them outside of the window; each entry once.

    An entry that many steps have may be in so many pairs. Entries are looked at in their order, and so are groups by
    their first entry outside.
    """
    n = len(groups)
    order = np.argsort(groups, kind="mergesort")
    start = np.zeros(n, np.int64)  # of the entry's group in that order
    for at in range(1, n):
        same = groups[order[at]] == groups[order[at - 1]]
        start[order[at]] = start[order[at - 1]] if same else at
    left = counts.astype(np.int64)
    pairs = np.zeros((most, 2), np.int32)
    found = 0
    for one in range(n):
        if not outside[one]:
            continue
        for at in range(start[one], n):
            if found == most:
                return pairs
            other = order[at]
            if groups[other] != groups[one] or left[one] == 0:
                break
            if left[other] > 0 and (ends[other] != ends[one] or abs(levels[other] - levels[one]) > width):
                pairs[found, 0], pairs[found, 1] = min(one, other), max(one, other)
                found += 1
                taken = min(left[one], left[other])
                left[one] -= taken
                left[other] -= taken
    return pairs[:found]
