"""When two rewards count as one: float rounding is no conflict."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

RELATIVE: Final = 1e-9  # of the largest reward; doubles have 1e-16, and sums of a few thousand terms lose some of it
SINGLE: Final = 1e-5  # the same for rewards computed in single precision, which has 1e-7


class RewardScale:
    """The rewards seen so far: between which they lie, the largest, and the rounding error that it allows.

    >>> scale = RewardScale()
    >>> scale.see(-100.0)
    >>> scale.same(0.1 + 0.2, 0.3), scale.same(0.3, 0.300001), scale.codes(np.array([0.3, 0.1 + 0.2, 1.0])).tolist()
    (True, False, [0, 0, 1])
    """

    def __init__(self) -> None:
        self.largest = 0.0
        self.single = False
        self.range = (np.inf, -np.inf)

    def see(self, reward: Any) -> None:
        """Takes note of a reward, as the environment gave it."""
        if isinstance(reward, (np.float32, np.float16)):
            self.single = True
        self.largest = max(self.largest, abs(float(reward)))
        self.range = (min(self.range[0], float(reward)), max(self.range[1], float(reward)))

    @property
    def constant(self) -> bool:
        """Whether no two rewards were seen that differ."""
        return self.range[1] - self.range[0] <= self.tolerance

    @property
    def tolerance(self) -> float:
        return (SINGLE if self.single else RELATIVE) * self.largest

    def same(self, first: float, second: float) -> bool:
        """Whether two rewards differ by no more than rounding."""
        return abs(first - second) <= self.tolerance

    def codes(self, rewards: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """A number for each reward, equal where they are the same; 0 for the smallest."""
        order = np.argsort(rewards, kind="stable")
        codes = np.zeros(len(rewards), np.int64)
        if len(rewards):
            jumps: Any = np.diff(rewards[order]) > self.tolerance
            codes[order[1:]] = np.cumsum(jumps)
        return codes
