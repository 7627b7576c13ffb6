"""How many bits it takes to write down a machine, what it pays, its outliers and the noise that is left.

What pays alike is a *group*: cells (u, reward label, u') of one level. Of each group is written what its level is and
where around it each reward is; in the shortest of several ways, since noise may be nil here and wide there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import e, isfinite, log2, pi, sqrt
from typing import Final, NamedTuple

import numpy as np

from markovize.episodes.columns import Floats, Longs
from markovize.episodes.traces import Traces
from markovize.learning.engines.base import Delta
from markovize.learning.judge import Judge, size
from markovize.learning.windows import Groups, Inside, count_windows, fullest_window

MANY_STEPS: Final = 100  # from here on rewards should repeat; fewer steps are an example
RATES: Final = (0.1, 0.25, 0.5)  # of what is marked instead of named
WAYS: Final = 2.0  # bits that tell in which way the rewards of a group are written
FIT: Final = 4.0  # bits of a mean and a deviation, beside log2 of the rewards that they are of
OWN: Final = 128.0  # bits that a group must save to be noisy in its own way: most noise is alike everywhere
ROUNDS: Final = 2  # in which the deviation that groups share is looked at again
LITTLE_LESS: Final = 0.9  # of the deviation without triggers, with some


class Description(NamedTuple):
    """The outliers of a machine, and the bits of all of it."""

    outliers: int
    bits: float


@dataclass(frozen=True)
class Ruler:
    """What things take to write down, in bits, in data with these rewards.

    ``grain`` is the smallest difference between rewards: finer than that nothing need be written.
    """

    steps: int
    values: Floats = field(repr=False)  # that rewards have, ascending
    counts: Longs = field(repr=False)  # of the steps that have each

    @classmethod
    def of(cls, traces: Traces) -> Ruler:
        """Looks at the rewards."""
        weights = traces.weights()
        values, of_step = np.unique(traces.rewards, return_inverse=True)
        counts = np.bincount(of_step, weights, len(values)).astype(np.int64)
        return cls(int(counts.sum()), values, counts)

    @cached_property
    def grain(self) -> float:
        return float(np.diff(self.values).min()) if len(self.values) > 1 else 1.0

    @cached_property
    def range(self) -> float:
        return float(self.values[-1] - self.values[0]) if len(self.values) else 0.0

    def hardly_repeats(self, tolerance: float) -> bool:
        """Whether most rewards are unlike all others, so that most steps would be outliers of any small machine."""
        return 2 * int(count_windows(self.values, 2 * tolerance)) > self.steps >= MANY_STEPS

    # --- what a machine takes -----------------------------------------------------------------------------------------

    def measure(self, delta: Delta, judge: Judge, quiet: Groups) -> Description:
        """A machine with triggers on labels. ``quiet`` are labels that have one level whatever the machine."""
        (states, triggers), tree = size(delta), judge.tree
        moves = triggers * log2(max(2, states**2 * tree.n_labels))
        cells, tolerance = states**2 * tree.n_rewards, tree.allowance.tolerance
        return self.sum_up(moves, judge.look(delta), quiet, cells, tree.n_rewards, tolerance)

    def sum_up(
        self, moves: float, inside: Inside, quiet: Groups, cells: int, labels: int, tolerance: float
    ) -> Description:
        """Moves, the special ones of so many cells, what labels pay, outliers, and what is left around all levels.

        Most labels pay what most steps do; only others are named with their level.
        """
        groups, common = inside.groups.and_also(quiet), self._common(tolerance)
        is_common = np.abs(groups.mean - common) <= tolerance
        is_exactly = (groups.low == common) & (groups.high == common)
        special, uncommon = int(groups.special.sum()), int((~is_common & ~groups.special).sum())
        levels = (special + uncommon + 1) * self.level(tolerance)
        named = moves + special * log2(max(2, cells)) + name(uncommon, labels) + levels
        left = self.residuals(groups.joined(is_common & ~is_exactly, is_exactly), tolerance)
        bits = named + self.name_outliers(inside.outliers, tolerance) + left
        return Description(inside.outliers, bits + inside.outliers * self.residual(tolerance))

    def least(self, tolerance: float, outliers: int, finest: Groups, labels: int) -> float:
        """What hardly any machine can do without, if it needs so many outliers.

        Every value has a level near it, or is an outlier's; what a label pays beside its usual level is named. No
        machine has groups that are finer than these.
        """
        levels, more = int(count_windows(self.values, 2 * tolerance)), max(0, len(finest.steps) - labels)
        named = levels * self.other_level(tolerance) + more * log2(max(1, labels))
        left = float(np.minimum(self._by_width(finest), self._by_own_deviation(finest, LITTLE_LESS)).sum())
        return left + max(named, self.name_outliers(outliers, tolerance))

    def level(self, tolerance: float) -> float:
        """What a group pays, as far as the tolerance leaves that open."""
        return log2(1 + self.range / (self.grain + 2 * tolerance))

    def other_level(self, tolerance: float) -> float:
        """The same, if it is known to be something else than one level."""
        return log2(max(1.0, self.range / (self.grain + 2 * tolerance)))

    def name_outliers(self, many: float, tolerance: float) -> float:
        """Which steps they are, and what they pay: none of what their cell does."""
        return name(many, self.steps) + many * self.other_level(tolerance)

    def spare(self, outliers: int, tolerance: float) -> float:
        """What marking outliers spares, where they are many, beside naming each and its level."""
        return outliers * (log2(max(2, self.steps)) + self.level(tolerance)) - self.name_outliers(outliers, tolerance)

    def _common(self, tolerance: float) -> float:
        """What most steps pay: the median of the fullest window of all rewards."""
        if tolerance not in self._usual:
            self._usual[tolerance] = float(fullest_window(self.values, self.counts, 2 * tolerance))
        return self._usual[tolerance]

    @cached_property
    def _usual(self) -> dict[float, float]:
        return {}

    # --- what is left within the tolerance ----------------------------------------------------------------------------

    def residual(self, tolerance: float) -> float:
        """Where in the tolerance one reward is."""
        return log2(1 + 2 * tolerance / self.grain)

    def residuals(self, groups: Groups, tolerance: float) -> float:
        """Where around its level each reward is.

        Groups in which all rewards are the same take next to nothing. The others are uniform in the tolerance, or
        normal with one deviation for all of them; and some may be uniform or normal in their own way.
        """
        if not tolerance or not len(groups.steps):
            return 0.0
        one, wide = self.residual(tolerance), groups.high - groups.low
        parameters = np.minimum(np.log2(np.maximum(groups.steps, 1)) + FIT, 2 * one)
        own = self._by_width(groups) + 2 * one
        own = np.minimum(own, np.where(groups.steps > 2, self._by_own_deviation(groups) + parameters, np.inf)) + OWN
        own = np.where(wide == 0, one, own)
        uniform = np.where(wide <= 2 * tolerance, groups.steps * one, np.inf)
        best, shares = float(np.minimum(own, uniform).sum()), np.asarray(wide > 0)
        for _ in range(ROUNDS):
            if not shares.any():
                break
            deviation = sqrt(float(groups.squares[shares].sum() / groups.steps[shares].sum()))
            if not isfinite(deviation):  # the squares of huge rewards
                break
            normal = self._by_deviation(groups, deviation) + parameters / 2
            best = min(best, float(np.minimum(own, normal).sum()) + log2(max(2, self.steps)) / 2)
            shares = normal < own
        return best + WAYS * len(groups.steps)

    def _by_width(self, groups: Groups) -> Floats:
        """Uniform, each group in its own width."""
        wide: Floats = groups.steps * np.log2(1 + (groups.high - groups.low) / self.grain)
        return wide

    def _by_own_deviation(self, groups: Groups, less: float = 1.0) -> Floats:
        """Normal, each group with its own deviation."""
        deviation = less * np.sqrt(groups.squares / np.maximum(groups.steps - 1, 1))
        own: Floats = groups.steps * (log2(2 * pi * e) / 2 + np.log2(np.maximum(deviation / self.grain, 1.0)))
        return own

    def _by_deviation(self, groups: Groups, deviation: float) -> Floats:
        """Normal, with this deviation around the mean of each group."""
        deviation = max(deviation, self.grain)
        where = groups.steps * log2(sqrt(2 * pi) * deviation / self.grain)
        off: Floats = where + groups.squares / (2 * deviation**2) * log2(e)
        return off


def name(many: float, of: int) -> float:
    """Which of so many they are: each is named; or where there are many, all are marked or not, at a fixed rate.

    >>> name(2, 1024), name(512, 1024)
    (20.0, 1024.0)
    """
    marks = (-many * log2(rate) - (of - many) * log2(1 - rate) for rate in RATES)
    return min(many * log2(max(2, of)), *marks) if many else 0.0
