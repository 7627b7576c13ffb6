"""Rewards of one cell within a tolerance: the fullest window, and what is outside of it.

A cell's rewards have one level exactly where they fit into a window as wide as twice the tolerance. With outliers, the
least number of them is what the fullest window leaves outside.
"""

from __future__ import annotations

from typing import Final

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


def look_inside(cells: Longs, labels: Ints, levels: Floats, counts: Ints | Longs, width: float) -> tuple[int, float]:
    """The cells that pay something else than their label mostly does; the squares of what is left, summed.

    Entries are those inside of the windows. A cell pays what its label's fullest cell does where one window holds the
    rewards of both. What is left is the distance to the mean of all cells that pay alike.

    >>> one = np.ones(3, np.int64)
    >>> special, squares = look_inside(np.array([0, 0, 1]), np.zeros(3, np.int32), np.array([1.0, 1.2, 5.0]), one, 0.5)
    >>> special, round(squares, 3)
    (1, 0.02)
    """
    numbers, of_entry = np.unique(cells, return_inverse=True)
    low, high = np.full(len(numbers), np.inf), np.full(len(numbers), -np.inf)
    np.minimum.at(low, of_entry, levels)
    np.maximum.at(high, of_entry, levels)
    steps, label = np.bincount(of_entry, counts, len(numbers)), np.zeros(len(numbers), np.int32)
    label[of_entry] = labels
    order = np.lexsort((-steps, label))
    usual = order[np.searchsorted(label[order], label)]  # each label's fullest cell
    special = np.maximum(high, high[usual]) - np.minimum(low, low[usual]) > width
    alike = np.where(special, np.arange(len(numbers)), usual)[of_entry]
    return int(np.count_nonzero(special)), sum_squares(alike, levels, counts) if width else 0.0


def sum_squares(groups: Ints | Longs, levels: Floats, counts: Ints | Longs) -> float:
    """Of the distances to the mean of each group.

    >>> round(sum_squares(np.array([0, 0, 1]), np.array([1.0, 1.2, 5.0]), np.ones(3, np.int64)), 3)
    0.02
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of huge rewards; the sum is of no use then, and says so
        mean = np.bincount(groups, counts * levels) / np.maximum(1, np.bincount(groups, counts))
        return float(np.sum(counts * (levels - mean[groups]) ** 2))


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
