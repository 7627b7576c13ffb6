"""Which labels are in conflict: seen with two or more outcomes."""

from __future__ import annotations

import numpy as np

from markovize.episodes.traces import Bools, Ints


def conflicting_labels(labels: Ints, outcomes: Ints, n_labels: int, fits_from: Ints | None = None) -> Bools:
    """For each label, whether it was seen with two or more outcomes.

    With ``fits_from``, for each outcome the least that may go with it, whether it was seen with two that may not.

    >>> conflicting_labels(np.array([0, 1, 0, 1]), np.array([5, 7, 5, 8]), 2).tolist()
    [False, True]
    >>> conflicting_labels(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 2]), 2, np.array([0, 0, 1])).tolist()
    [False, True]
    """
    low = np.full(n_labels, np.iinfo(np.int32).max, np.int32)
    high = np.full(n_labels, -1, np.int32)
    np.minimum.at(low, labels, outcomes)
    np.maximum.at(high, labels, outcomes)
    return np.asarray(high > low if fits_from is None else fits_from[np.maximum(high, 0)] > low)
