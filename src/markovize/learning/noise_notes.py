"""Notes on what an allowance may have taken for errors although it is chance, or where it holds everything."""

from __future__ import annotations

from math import log2
from typing import Final, TypeAlias

import numpy as np

from markovize.episodes.allowance import Allowance, show_tolerance
from markovize.episodes.columns import Bools, Floats, Ints
from markovize.episodes.traces import Traces
from markovize.episodes.values import Value, show
from markovize.learning.fronts import MANY_OUTLIERS
from markovize.learning.result import Noise

MANY_ALIKE: Final = 5  # steps that pay about the same are no accident
CLEARLY_TWO: Final = 20.0  # bits by which two windows must be shorter than one, beside which label it is
FINEST: Final = 2.0**20  # parts of a range: narrower windows are counted as this
MANY_IN_ONE: Final = 10  # outliers that one label has; likewise

Cells: TypeAlias = tuple[Ints, list[tuple[int, Value, int]]]
"""The number of each step's (u, reward label, u'), and what the numbers mean."""


def name_one_level(traces: Traces, allowance: Allowance) -> str:
    """Whether a tolerance that was chosen holds all rewards, so that no machine can matter; empty where it does not.

    >>> two = Traces.of([(["x", "x", "x"], [0, 0], [0.5, 1.5])])
    >>> name_one_level(two, Allowance(0.5, 0))[:36], name_one_level(two, Allowance(0.25, 0))
    ('a tolerance of 0.5 holds all rewards', '')
    """
    tolerance, rewards = allowance.tolerance, traces.rewards
    if not tolerance or float(np.ptp(rewards)) > allowance.width:
        return ""
    return (
        f"a tolerance of {show_tolerance(tolerance)} holds all rewards, which are one level then, whatever happened "
        "before; where noise is as wide as that, distributions of rewards may still tell histories apart "
        "(--reward random)"
    )


def name_chance(steps_of: Cells, traces: Traces, wrong: Bools, allowance: Allowance) -> list[str]:
    """What may be chance rather than errors, of the steps of each (u, reward label, u'): two values, many outliers."""
    two = name_two_values(steps_of, traces.rewards, wrong, allowance.tolerance) if allowance.tolerance else ""
    return [note for note in (two, name_random_label(steps_of, wrong)) if note]


def name_two_values(steps_of: Cells, rewards: Floats, wrong: Bools, tolerance: float) -> str:
    """The (u, reward label, u') that most clearly pays two things, which the tolerance makes one level; empty if none.

    What two narrow windows save over one is weighed in bits: of many labels, some look like that by chance.
    """
    ids, cells = steps_of
    ids, rewards = ids[~wrong], rewards[~wrong]
    order = np.lexsort((rewards, ids))
    starts = np.searchsorted(ids[order], np.arange(len(cells) + 1))
    best, clearest = log2(max(1, len(cells))) + CLEARLY_TWO, ""
    for (u, label, v), first, last in zip(cells, starts, starts[1:], strict=False):
        paid = rewards[order[first:last]]
        cut = int(np.argmax(np.diff(paid))) + 1 if len(paid) >= 2 * MANY_ALIKE else 0
        if not MANY_ALIKE <= cut <= len(paid) - MANY_ALIKE:
            continue
        wide = max(paid[cut - 1] - paid[0], paid[-1] - paid[cut], (paid[-1] - paid[0]) / FINEST)
        if (saved := len(paid) * log2((paid[-1] - paid[0]) / (2 * wide)) if wide else 0.0) > best:
            best = saved
            clearest = (
                f"a tolerance of {show_tolerance(tolerance)} makes one level of what ({u}, {show(label)}, {v}) pays, "
                f"about {paid[:cut].mean():.3g} in {cut} steps and {paid[cut:].mean():.3g} in {len(paid) - cut}; "
                "where rewards are random by nature, ask for that (--reward random)"
            )
    return clearest


def name_random_label(steps_of: Cells, wrong: Bools) -> str:
    """The (u, reward label, u') with most outliers, where these are many of its steps; empty if there is none."""
    ids, cells = steps_of
    outliers, steps = (np.bincount(some, minlength=len(cells)) for some in (ids[wrong], ids))
    are_many = (outliers >= MANY_IN_ONE) & (outliers > MANY_OUTLIERS * steps)
    if not are_many.any():
        return ""
    worst = int(np.where(are_many, outliers, 0).argmax())
    u, label, v = cells[worst]
    return (
        f"{outliers[worst]} of the {steps[worst]} steps of ({u}, {show(label)}, {v}) are outliers; where rewards are "
        "random by nature, ask for that (--reward random)"
    )


def name_many_outliers(traces: Traces, noise: Noise) -> str:
    """Whether so many steps are outliers that the machine explains little; empty where that is not so."""
    share = len(noise.outliers) / max(1, traces.steps)
    if share <= MANY_OUTLIERS:
        return ""
    return (
        f"{share:.0%} of the steps are outliers: the machine explains little. Where rewards are continuous, allow for "
        "a tolerance (--tolerance auto); where they are random by nature, ask for that (--reward random)"
    )
