"""Clusters of rewards, which the widest gaps between rewards separate: what noisy rewards may be levels of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from markovize.episodes.columns import Floats

MOST_CLUSTERS: Final = 64
APART: Final = 1.5  # times as wide, or two tolerances are taken for one


def tolerances_to_try(rewards: Floats) -> list[float]:
    """Zero, and half the widths of clusters of rewards, ascending, of tolerances that are alike the largest.

    >>> [round(each, 3) for each in tolerances_to_try(np.array([0.0, 0.02, 1.0, 1.04, 5.0]))]
    [0.0, 0.01, 0.02, 0.52, 2.5]
    """
    found: list[float] = []
    for starts, ends in _clusters(np.unique(rewards)):
        tolerance = float((ends - starts).max()) / 2
        if tolerance > 0 and (not found or found[-1] > APART * tolerance):
            found.append(tolerance)
    return [0.0, *reversed(found)]


def snap_rewards(rewards: Floats, tolerance: float) -> Floats | None:
    """Each reward as its cluster's least, of the fewest clusters that the tolerance holds; None if it takes too many.

    >>> snap_rewards(np.array([0.0, 1.04, 1.0, 5.0, 0.02]), 0.03).tolist()
    [0.0, 1.0, 1.0, 5.0, 0.0]
    """
    for starts, ends in _clusters(np.unique(rewards)):
        if (ends - starts).max() <= 2 * tolerance:
            snapped: Floats = starts[np.searchsorted(starts, rewards, side="right") - 1]
            return snapped
    return None


def lie_apart(rewards: Floats) -> bool:
    """Whether rewards are a few clusters, none as wide as the gap to the next: levels that are measured with errors.

    >>> lie_apart(np.array([0.0, 0.1, 1.0, 1.1])), lie_apart(np.array([0.0, 0.1, 0.2, 0.3]))
    (True, False)
    """
    values = np.unique(rewards)
    for starts, ends in _clusters(values):
        if 1 < len(starts) <= len(values) // 2 and (ends - starts).max() < (starts[1:] - ends[:-1]).min():
            return True
    return False


def _clusters(values: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Where the clusters of ascending values start and end: one, two and so on, which the widest gaps separate."""
    widest = np.argsort(-np.diff(values), kind="stable")
    for clusters in range(1, min(len(values), MOST_CLUSTERS + 1)):
        cuts = np.sort(widest[: clusters - 1])
        yield values[np.concatenate([[0], cuts + 1])], values[np.concatenate([cuts, [len(values) - 1]])]
