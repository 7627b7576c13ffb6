"""Rewards with a tolerance whose levels lie apart: each level is one outcome then, and outcomes are equal or differ.

Two rewards of a reward label fit one level where they differ by at most twice the tolerance. Where the rewards of each
label fall into groups, so that all of a group fit each other and no two of different groups do, a machine explains the
rewards within the tolerance exactly where it explains the groups as they are. So the search need not know of the
tolerance, which makes it as fast as without noise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.columns import Longs
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.learning.windows import sort_into_groups


def with_levels_apart(
    steps: LabelledSteps, allowance: Allowance, order: Longs | None = None
) -> tuple[LabelledSteps, Allowance]:
    """The steps with an outcome for each level of a label, and no tolerance; as they are where levels are not apart.

    Outcomes are numbers then, and have no other meaning: rewards of two labels are never compared. Who asks for several
    tolerances has put the steps in :func:`order_by_level` before.

    >>> from markovize.episodes.labelled_steps import label_traces
    >>> from markovize.episodes.traces import Traces
    >>> steps = label_traces(Traces.of([([*"axxxxa"], [0] * 5, [0.1, 1.0, 0.0, 1.1, 0.5])]), "state", "state")
    >>> apart, allowance = with_levels_apart(steps, Allowance(0.1, 3))
    >>> apart.outcomes.tolist(), allowance
    ([0, 1, 0, 1, 0], Allowance(tolerance=0.0, outliers=3))
    >>> with_levels_apart(steps, Allowance(0.5))[1]
    Allowance(tolerance=0.5, outliers=0)
    """
    if not allowance.tolerance or not len(steps.outcomes):
        return steps, allowance
    groups = _group(steps, order_by_level(steps) if order is None else order, allowance.width)
    if groups is None:
        return steps, allowance
    _, first, group_of_step = np.unique(groups, return_index=True, return_inverse=True)
    number = _number_within(steps.rewards.ids[first].astype(np.int64), first)
    outcomes = number[group_of_step].astype(np.int32)
    values: list[tuple[float, bool | None]] = [(float(code), None) for code in range(int(number.max()) + 1)]
    return replace(steps, outcomes=outcomes, outcome_values=values), replace(allowance, tolerance=0.0)


def order_by_level(steps: LabelledSteps) -> Longs:
    """The steps by their reward labels, of one label by whether they end episodes, and these by what they pay.

    >>> from markovize.episodes.labelled_steps import label_traces
    >>> from markovize.episodes.traces import Traces
    >>> steps = label_traces(Traces.of([([*"axyxya"], [0] * 5, [0.1, 1.0, 0.0, 1.1, 0.5])]), "state", "state")
    >>> order_by_level(steps).tolist()
    [4, 2, 0, 1, 3]
    """
    codes = np.lexsort((steps.levels, steps.ends))
    rank = np.empty(len(codes), np.int64)
    rank[codes] = np.arange(len(codes))
    ascending = sort_into_groups(np.arange(len(steps.outcomes)), rank[steps.outcomes], len(codes))
    by_label: Longs = sort_into_groups(ascending, steps.rewards.ids.astype(np.int64), len(steps.rewards.values))
    return by_label


def _group(steps: LabelledSteps, order: Longs, width: float) -> Longs | None:
    """The group of each step; None where a reward fits two that do not fit each other."""
    outcomes = steps.outcomes[order]
    label, end, level = steps.rewards.ids[order], steps.ends[outcomes], steps.levels[outcomes]
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(label) != 0) | (np.diff(end) != 0) | (np.diff(level) > width)
    start = np.flatnonzero(new)
    last = np.append(start[1:], len(order)) - 1
    if (level[last] - level[start] > width).any():
        return None
    groups = np.empty(len(order), np.int64)
    groups[order] = np.cumsum(new)
    return groups


def _number_within(label: Longs, first: Longs) -> Longs:
    """The number of each group among those of its label, by first appearance: more episodes renumber nothing."""
    order = np.lexsort((first, label))
    label = label[order]
    start = np.flatnonzero(np.append(True, np.diff(label) != 0))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order)) - np.repeat(start, np.diff(np.append(start, len(order))))
    return number
