"""Rewards of time: what is paid rises or falls with the step number, as MiniGrid's 1 − 0.9·t/T does.

A machine explains such a reward only by counting steps. So it is recognised and named instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from markovize.conflicts.labels import conflicting_labels
from markovize.episodes.distinct import distinct_rewards
from markovize.episodes.labelling.base import number_steps
from markovize.episodes.traces import Floats, Longs, Traces

LEAST_TIMES: Final = 5
"""Different step numbers, each with a reward of its own, that must lie on one line. A machine's rewards are few levels,
paid at various times; none of the samples of our worlds comes near this."""
ADVICE: Final = (
    "Put the time into the observation (gymnasium.wrappers.TimeAwareObservation), or record what is paid without it, "
    "for example 1 for any success"
)
ROUNDING: Final = 1e-6  # of the largest reward: what is computed in single precision is still on its line


@dataclass(frozen=True)
class Clock:
    """Every paid step paid ``start`` + ``slope`` · n, where n is the number of the step in its episode, from 1.

    >>> print(Clock(start=1.0, slope=-0.009, steps=40, times=22))
    the reward is one of time: what is paid is 1 - 0.009·n at step n of an episode (40 steps, 22 different n)
    """

    start: float
    slope: float
    steps: int
    times: int

    def __str__(self) -> str:
        sign = "-" if self.slope < 0 else "+"
        return (
            f"the reward is one of time: what is paid is {self.start:.6g} {sign} {abs(self.slope):.6g}·n at step n of "
            f"an episode ({self.steps} steps, {self.times} different n)"
        )

    @property
    def advice(self) -> str:
        """What to do about it."""
        return ADVICE

    def to_json(self) -> dict[str, Any]:
        return {"start": self.start, "slope": self.slope, "steps": self.steps, "times": self.times}


def find_clock(traces: Traces) -> Clock | None:
    """The line on which all paid rewards lie, if (s, a, s') alone does not determine them; else None.

    Paid are, among the steps whose (s, a, s') was seen with different rewards, those with another reward than the
    commonest of all steps.

    >>> find_clock(Traces.of([([0] * n + [1], [0] * n, [0] * (n - 1) + [1 - n / 100]) for n in range(1, 9)]))
    Clock(start=1.0, slope=-0.01, steps=8, times=8)
    """
    levels, _, codes = distinct_rewards(traces.rewards)
    if len(levels) < LEAST_TIMES:
        return None
    weights = traces.weights()
    counts = np.bincount(codes, weights)
    different, _, steps = number_steps(traces)
    conflicting = conflicting_labels(steps.astype(np.int32), codes.astype(np.int32), max(1, len(different)))
    number = traces.depths() + 1
    disputed = conflicting[steps]
    paid = np.flatnonzero(disputed & (codes != np.argmax(counts))) if counts.max() > 1 else np.flatnonzero(disputed)
    count = len(paid) if weights is None else int(weights[paid].sum())
    return fit_clock(number[paid], traces.rewards[paid], count)


def fit_clock(times: Longs, rewards: Floats, steps: int) -> Clock | None:
    """The line on which these rewards lie; ``steps`` paid them, and each (time, reward) need stand here only once."""
    if len(times) == 0 or len(np.unique(times)) < LEAST_TIMES:
        return None
    first, last = int(np.argmin(times)), int(np.argmax(times))
    slope = float((rewards[last] - rewards[first]) / (times[last] - times[first]))
    start = float(rewards[first] - slope * times[first])
    allowed = ROUNDING * float(np.abs(rewards).max())
    if abs(slope) <= 10 * allowed or float(np.abs(start + slope * times - rewards).max()) > allowed:
        return None
    start, slope = float(f"{start:.9g}"), float(f"{slope:.9g}")
    return Clock(start, slope, steps, len(np.unique(times)))
