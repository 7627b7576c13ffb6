"""The different values of a column, as ``numpy.unique`` has them, without sorting where that is faster.

Steps are many, but their rewards, or the cells (u, label, u') of a machine that they fall into, are few: to sort the
steps takes ten times as long as to mark which values there are.
"""

from __future__ import annotations

from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from markovize.episodes.columns import Floats, Ints, Longs

DENSE: Final = 8  # times as many possible keys as steps, up to which a table of all keys is no waste
FEW: Final = 8  # levels, up to which one look for each is faster than to sort

Column = TypeVar("Column", bound=npt.NDArray[np.generic])


class Distinct(NamedTuple, Generic[Column]):
    """Different values in order, the first step that has each, and for every step the number of its value."""

    values: Column
    first: Longs
    of_step: Longs


def distinct_keys(keys: Ints | Longs) -> Distinct[Longs]:
    """Of numbers from 0 on.

    >>> distinct_keys(np.array([7, 2, 7, 4]))
    Distinct(values=array([2, 4, 7]), first=array([1, 3, 0]), of_step=array([2, 0, 2, 1]))
    """
    if not len(keys) or keys.max() >= DENSE * len(keys):
        return Distinct(*np.unique(keys.astype(np.int64), return_index=True, return_inverse=True))
    first = np.full(int(keys.max()) + 1, -1)
    first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)  # of several, the last has its say: the earliest step
    there = first >= 0
    return Distinct(np.flatnonzero(there), first[there], (np.cumsum(there) - 1)[keys])


def distinct_rewards(rewards: Floats) -> Distinct[Floats]:
    """Of rewards, which are numbers, but often of few levels.

    >>> distinct_rewards(np.array([0.0, 1.5, 0.0, -1.0]))
    Distinct(values=array([-1. ,  0. ,  1.5]), first=array([3, 0, 1]), of_step=array([1, 2, 1, 0]))
    """
    levels, rest = list[float](), rewards
    while len(rest) and len(levels) < FEW:
        levels.append(rest[0])
        rest = rest[rest != rest[0]]
    if len(rest) or not levels:
        return Distinct(*np.unique(rewards, return_index=True, return_inverse=True))
    values = np.sort(np.array(levels))
    of_step = np.searchsorted(values, rewards)
    return Distinct(values, np.array([np.argmax(of_step == n) for n in range(len(values))]), of_step)
