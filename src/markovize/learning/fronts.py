"""How much noise to allow for: machines of growing size against what they leave unexplained; the shortest is taken.

A machine, its levels, its outliers and what is left within the tolerance are written down in bits. A larger allowance
makes the machine shorter and the rest longer. Candidates for the tolerance are the widths of clusters of rewards,
which the widest gaps between rewards separate. Machines come from :mod:`markovize.learning.label_front`, and for guards
from :mod:`markovize.learning.guards.front`. Nothing is proven here: the search that follows proves what is smallest
with the allowance that was chosen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import e, log2, pi, sqrt
from typing import Final, Protocol, TypeVar

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.columns import Floats
from markovize.episodes.traces import Traces
from markovize.learning.call import Begun
from markovize.learning.engines.base import Delta
from markovize.learning.guards.candidate import Candidate
from markovize.learning.judge import Judge, size
from markovize.learning.limits import Stop
from markovize.learning.problem import LabelPair
from markovize.learning.result import Choice
from markovize.learning.reward_clusters import tolerances_to_try
from markovize.learning.windows import count_windows

MANY_STEPS: Final = 100  # from here on rewards should repeat; fewer steps are an example
MANY_OUTLIERS: Final = 0.1  # a share of the steps; more are hardly errors
RATES: Final = (0.1, 0.25, 0.5)  # of outliers, where they are marked instead of named
FEW: Final = 3  # outliers that are no reason for finer labels
FEW_SHARE: Final = 0.01  # or such a share of all steps
LITTLE_EFFORT: Final = 2_000
LITTLE_LESS: Final = 0.9  # of the deviation without triggers, with some


@dataclass(frozen=True)
class Point:
    """One allowance, the machine that it takes under which labels, and the bits of all that."""

    allowance: Allowance
    states: int
    triggers: int
    bits: float
    delta: Delta = field(default_factory=dict, repr=False, compare=False)
    labels: LabelPair = field(default=("", ""), repr=False)
    candidate: Candidate | None = field(default=None, repr=False, compare=False)  # with guards, in place of delta
    before: bool = False  # with guards, whether features of s are used
    begun: Begun | None = field(default=None, repr=False, compare=False)  # the search that found it, in all the data

    @property
    def choice(self) -> Choice:
        """As results have it."""
        guards = (None, None) if self.candidate is None else self.candidate.size[:2]
        return Choice(*self._allowed, self.states, self.triggers, round(self.bits, 1), *guards)

    @property
    def _allowed(self) -> tuple[float, int]:
        return self.allowance.tolerance, self.allowance.outliers


@dataclass(frozen=True)
class Ruler:
    """What things take to write down, in bits, in data with these rewards.

    ``grain`` is the smallest difference between rewards: finer than that nothing need be written.
    """

    steps: int
    values: Floats = field(repr=False)  # that rewards have, ascending

    @classmethod
    def of(cls, traces: Traces) -> Ruler:
        """Looks at the rewards."""
        weights = traces.weights()
        return cls(traces.steps if weights is None else int(weights.sum()), np.unique(traces.rewards))

    @cached_property
    def grain(self) -> float:
        return float(np.diff(self.values).min()) if len(self.values) > 1 else 1.0

    @cached_property
    def range(self) -> float:
        return float(self.values[-1] - self.values[0]) if len(self.values) else 0.0

    def least(self, tolerance: float, outliers: int, squares: float) -> float:
        """What hardly any machine can do without, if it needs so many outliers.

        Every value has a level near it, or is an outlier's. ``squares`` is what the machine without triggers leaves
        within the tolerance: triggers only tell apart what the tolerance does not hold.
        """
        levels = int(count_windows(self.values, 2 * tolerance))
        named = levels * self.other_level(tolerance)  # each has one, or an outlier does
        left = min(self.residuals(tolerance), self.steps * self.normal(LITTLE_LESS * self.deviation(squares, 0)))
        return left + max(named, self.name_outliers(outliers, tolerance))

    def hardly_repeats(self, tolerance: float) -> bool:
        """Whether most rewards are unlike all others, so that most steps would be outliers of any small machine."""
        return 2 * int(count_windows(self.values, 2 * tolerance)) > self.steps >= MANY_STEPS

    def residuals(self, tolerance: float) -> float:
        """Where in the tolerance each reward is."""
        return self.steps * log2(1 + 2 * tolerance / self.grain)

    def deviation(self, squares: float, outliers: int) -> float:
        """The standard deviation of what is left within the tolerance; not less than the grain."""
        return max(self.grain, sqrt(squares / max(1, self.steps - outliers)))

    def normal(self, deviation: float) -> float:
        """Where around its level a reward is, in the mean, if that is normal with this deviation."""
        return log2(sqrt(2 * pi * e) * max(self.grain, deviation) / self.grain)

    def level(self, tolerance: float) -> float:
        """What a cell pays, as far as the tolerance leaves that open."""
        return log2(1 + self.range / (self.grain + 2 * tolerance))

    def name_outliers(self, many: float, tolerance: float) -> float:
        """Which steps they are, and what they pay; where in the tolerance of that is counted with all other steps.

        Each is named by its number; or, where they are many, every step is marked as one or not, at a fixed rate. What
        one pays is none of what its cell does.
        """
        marks = (-many * log2(rate) - (self.steps - many) * log2(1 - rate) for rate in RATES)
        return min(many * log2(max(2, self.steps)), *marks) + many * self.other_level(tolerance)

    def spare(self, allowance: Allowance) -> float:
        """What marking outliers spares, where they are many, beside naming each and its level."""
        tolerance, many = allowance.tolerance, allowance.outliers
        return many * (log2(max(2, self.steps)) + self.level(tolerance)) - self.name_outliers(many, tolerance)

    def other_level(self, tolerance: float) -> float:
        """What a cell pays, if it is known to be something else than one level."""
        return log2(max(1.0, self.range / (self.grain + 2 * tolerance)))

    def measure(self, delta: Delta, judge: Judge, quiet: float) -> tuple[int, float]:
        """The outliers of a machine, and the bits of all of it.

        Each reward label has a level; only cells of it that pay something else are written down. ``quiet`` are the
        squares of labels that have one level whatever the machine.
        """
        (states, triggers), tolerance = size(delta), judge.tree.allowance.tolerance
        outliers, special, squares = judge.look(delta)
        moves, labels = triggers * log2(max(2, states**2 * judge.tree.n_labels)), judge.tree.n_rewards
        cells = states**2 * labels
        return outliers, self.sum_up(moves, special, cells, labels, outliers, tolerance, squares + quiet)

    def sum_up(
        self, moves: float, special: int, cells: int, labels: int, outliers: int, tolerance: float, squares: float
    ) -> float:
        """Moves, the special ones of so many cells, a level for each label, outliers and residuals.

        Residuals are uniform in the tolerance or normal around their levels, whichever is shorter. Where they are
        normal, a level is as open as the deviation leaves it, and outliers are written as before.
        """
        named = moves + special * log2(max(2, cells)) + self.name_outliers(outliers, tolerance)
        uniform = named + (special + labels) * self.level(tolerance) + self.residuals(tolerance)
        if not tolerance:
            return uniform
        deviation = self.deviation(squares, outliers)
        normal = (self.steps - outliers) * self.normal(deviation) + outliers * self.residuals(tolerance) / self.steps
        levels = (special + labels) * self.level(sqrt(3) * deviation)  # of a tolerance that deviates by as much
        return min(uniform, named + levels + normal + log2(max(2, self.steps)) / 2)


@dataclass
class Front:
    """The points that were found; ``open``: time was up before it was known whether rewards are explained as they are.

    That is so only as long as what is left unexplained is more than rewards that are rare.
    """

    points: list[Point] = field(default_factory=list)
    open: bool = False

    @property
    def shortest(self) -> Point | None:
        return min(self.points, key=lambda point: point.bits, default=None)


class Start(Protocol):
    """Where to look for machines: the one without any trigger, and the bits that no machine can do without."""

    @property
    def alone(self) -> Point: ...

    @property
    def least(self) -> float: ...


S = TypeVar("S", bound=Start)


def collect_points(
    rewards: Floats,
    ruler: Ruler,
    tolerance: float | None,
    outliers: int | None,
    begin: Callable[[float], list[S]],
    add: Callable[[S, Front], Iterator[float]],
) -> Front:
    """The points of each tolerance that may be shorter than all others; the shortest first.

    Those come first whose one-state machine is short if each of its outliers is named: what is left to be explained
    weighs most then. ``add`` gives way before what takes long, with the bits of the shortest so far: all others have
    their turn first.
    Of tolerances that promise nothing shorter, the machine with one state where it is within what is given: to compare.
    """
    front, waiting = Front(), list[tuple[float, Iterator[float]]]()
    with contextlib.suppress(Stop):
        every = tolerances_to_try(rewards) if tolerance is None else [tolerance]
        begun = [start for each in every for start in begin(each)]
        for start in sorted(begun, key=lambda start: start.alone.bits + ruler.spare(start.alone.allowance)):
            if start.least < min((point.bits for point in front.points), default=float("inf")):
                points = add(start, front)  # one by one: time may be up before the last
                waiting += [(bits, points) for bits in islice(points, 1)]
        for _, points in sorted(waiting, key=lambda entry: entry[0]):
            for _ in points:
                pass
        known = {point.allowance.tolerance for point in front.points}
        alone = [start.alone for start in begun if start.alone.allowance.tolerance not in known]
        front.points += [point for point in alone if point.allowance.outliers <= (outliers or 0)]
    front.points.sort(key=lambda point: point.bits)
    return front


def few_outliers(ruler: Ruler) -> int:
    """So many are no reason for finer labels."""
    return max(FEW, int(FEW_SHARE * ruler.steps))
