"""Rewards of time that follow no line: what a step pays is a function of its (s, a, s') and its number in the episode.

As with :mod:`~markovize.conflicts.clock`, a machine explains that only by counting steps. But what few episodes show of
a small machine may look like it, too. So this is only a suspicion: whoever holds it looks for a small machine first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from markovize.conflicts.clock import ADVICE, LEAST_TIMES
from markovize.conflicts.labels import conflicting_labels
from markovize.episodes.labelling import labelling_named
from markovize.episodes.traces import Longs, Traces

LEAST_COMPARED: Final = 40
"""Steps that paid something unusual for their (s, a, s'), and were confirmed by an equal one at the same time that came
after another step. Walks in our worlds refute the step number long before."""


@dataclass(frozen=True)
class Timetable:
    """Every step paid what its (s, a, s') and its number say.

    >>> str(Timetable(steps=40, times=22))[-33:]
    ' (40 steps, 22 different numbers)'
    """

    steps: int
    times: int

    def __str__(self) -> str:
        return (
            "the reward is one of time: (s, a, s') and the number of the step determine it, (s, a, s') alone does not "
            f"({self.steps} steps, {self.times} different numbers)"
        )

    @property
    def advice(self) -> str:
        """What to do about it."""
        return ADVICE

    def to_json(self) -> dict[str, Any]:
        return {"steps": self.steps, "times": self.times}


def find_timetable(traces: Traces) -> Timetable | None:
    """Whether the step number, beside (s, a, s'), determines every reward, as far as many comparisons show.

    >>> rng = np.random.default_rng(0)
    >>> cells = rng.integers(0, 2, (30, 21))
    >>> pays = [n in (2, 3, 5, 7, 11, 13, 17, 19) for n in range(1, 21)]
    >>> find_timetable(Traces.of([(row, [0] * 20, row[1:] * pays) for row in cells])).times
    8
    """
    if not traces.steps:
        return None
    _, codes = np.unique(traces.rewards, return_inverse=True)
    labels = labelling_named("transition").label_steps(traces)
    disputed = np.flatnonzero(
        conflicting_labels(labels.ids, codes.astype(np.int32), max(1, len(labels.values)))[labels.ids]
    )
    if not len(disputed):
        return None
    times = traces.depths()
    groups = np.unique(labels.ids[disputed] * (int(times.max()) + 1) + times[disputed], return_inverse=True)[1]
    if _differs(groups, codes[disputed]).any():
        return None
    before = np.concatenate([[-1], labels.ids[:-1]]).astype(np.int64)
    firsts = traces.offsets[:-1]
    before[firsts[firsts < len(before)]] = -2 - np.arange(int((firsts < len(before)).sum()))
    own = labels.ids[disputed].astype(np.int64)
    compared = _differs(groups, before[disputed]) & unusual(own, codes[disputed])
    numbers = np.unique(times[disputed][compared])
    if int(compared.sum()) < LEAST_COMPARED or len(numbers) < LEAST_TIMES:
        return None
    return Timetable(int(compared.sum()), len(numbers))


def _differs(groups: Longs, values: Longs) -> npt.NDArray[np.bool_]:
    """Of each step, whether steps of its group have different values."""
    low, high = np.full(int(groups.max()) + 1, np.iinfo(np.int64).max), np.full(int(groups.max()) + 1, -(2**62))
    np.minimum.at(low, groups, values)
    np.maximum.at(high, groups, values)
    out: npt.NDArray[np.bool_] = (low < high)[groups]
    return out


def unusual(keys: Longs, codes: Longs) -> npt.NDArray[np.bool_]:
    """Of each step, whether it paid something else than most steps with its key.

    Only these tell time from history: that nothing is paid at equal times says little where little is ever paid.

    >>> unusual(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 6])).tolist()
    [False, False, True, False]
    """
    pairs, of_step, counts = np.unique(np.stack([keys, codes]), axis=1, return_inverse=True, return_counts=True)
    order = np.lexsort((-counts, pairs[0]))
    _, first = np.unique(pairs[0][order], return_index=True)
    usual = np.zeros(len(counts), np.bool_)
    usual[order[first]] = True
    return ~usual[of_step.reshape(-1)]
