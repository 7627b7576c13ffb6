"""How much noise to allow for: machines of growing size against what they leave unexplained; the shortest is taken.

A machine, its levels, its outliers and what is left within the tolerance are written down in bits. A larger allowance
makes the machine shorter and the rest longer. Candidates for the tolerance are the widths of clusters of rewards,
which the widest gaps between rewards separate. Machines come from :mod:`markovize.learning.label_front`, and for guards
from :mod:`markovize.learning.guards.front`. Nothing is proven here: the search that follows proves what is smallest
with the allowance that was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Protocol, TypeVar

from markovize.episodes.allowance import Allowance
from markovize.episodes.columns import Floats
from markovize.learning.call import Begun
from markovize.learning.description import Ruler
from markovize.learning.engines.base import Delta
from markovize.learning.guards.candidate import Candidate
from markovize.learning.limits import Stop
from markovize.learning.problem import LabelPair
from markovize.learning.result import Choice
from markovize.learning.reward_clusters import tolerances_to_try

MANY_OUTLIERS: Final = 0.1  # a share of the steps; more are hardly errors
FEW: Final = 3  # outliers that are no reason for other labels
SMALL: Final = 8  # states and triggers, likewise
FEW_SHARE: Final = 0.01  # or such a share of all steps
LITTLE_EFFORT: Final = 2_000


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
    def is_small(self) -> bool:
        """Whether the machine is small, and hardly anything is left to be explained."""
        return max(self.states, self.triggers) <= SMALL and self.allowance.outliers <= FEW

    @property
    def _allowed(self) -> tuple[float, int]:
        return self.allowance.tolerance, self.allowance.outliers


@dataclass
class Front:
    """The points that were found; ``stopped``: time was up before all was compared.

    ``unsettled``: the machines without triggers of searches that have not told yet whether rewards are explained as
    they are, where what the shortest machine leaves unexplained is more than rewards that are rare. The widest
    tolerance that was searched ``in_vain``, under which labels and with which effort: no machine was found for it.
    """

    points: list[Point] = field(default_factory=list)
    unsettled: set[Point] = field(default_factory=set)
    stopped: bool = False
    in_vain: dict[tuple[LabelPair, int], float] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Whether it is not known if there is any noise."""
        return bool(self.unsettled)

    def leave_open(self, start: Start) -> None:
        """Rewards may be explained as they are, from here on, where that is possible at all."""
        if start.may_be_exact:
            self.unsettled.add(start.alone)

    def settle(self, start: Start) -> None:
        """Whether they are is known, or it is known that it does not matter."""
        if start.may_be_exact:
            self.unsettled.discard(start.alone)

    @property
    def shortest(self) -> Point | None:
        return min(self.points, key=lambda point: point.bits, default=None)

    @property
    def leaves_much(self) -> bool:
        """Whether other labels may do better: a search found none, or a large machine, or more than a few outliers."""
        return self.shortest is None or not self.shortest.is_small or bool(self.in_vain)


class Start(Protocol):
    """Where to look for machines: the one without any trigger, and the bits that no machine can do without.

    It ``may_be_exact`` where rewards are taken as they are, and no two equal histories contradict each other.
    """

    @property
    def alone(self) -> Point: ...

    @property
    def may_be_exact(self) -> bool: ...

    @property
    def least(self) -> float: ...

    @property
    def rank(self) -> float: ...


S = TypeVar("S", bound=Start)


def collect_points(
    rewards: Floats,
    tolerance: float | None,
    outliers: int | None,
    begin: Callable[[float, bool], list[S]],
    add: Callable[[S, Front], Iterator[float]],
) -> Front:
    """The points of each tolerance that may be shorter than all others; the shortest first.

    Under the usual labels first, and under others (``begin`` is told) where these leave much to be explained. ``add``
    gives way before what takes long, with the bits of the shortest so far: all others have their turn first.
    Of tolerances that promise nothing shorter, the machine with one state where it is within what is given: to compare.
    """
    front, waiting, every_start = Front(), list[tuple[float, Iterator[float]]](), list[S]()
    try:
        every = tolerances_to_try(rewards) if tolerance is None else [tolerance]
        for others in (False, True):
            if others and not front.leaves_much:
                break
            begun = [start for each in every for start in begin(each, others)]
            every_start += begun
            for start in begun:
                front.leave_open(start)
            for start in sorted(begun, key=lambda start: start.rank):
                if start.least < min((point.bits for point in front.points), default=float("inf")):
                    points = add(start, front)  # one by one: time may be up before the last
                    waiting += [(bits, points) for bits in islice(points, 1)]
                else:
                    front.settle(start)
            known = {point.allowance.tolerance for point in front.points}
            alone = [start.alone for start in begun if start.alone.allowance.tolerance not in known]
            front.points += [point for point in alone if point.allowance.outliers <= (outliers or 0)]
        for _, points in sorted(waiting, key=lambda entry: entry[0]):
            for _ in points:
                pass
    except Stop:
        front.stopped = True
        for start in every_start:
            if front.shortest is not None and start.least >= front.shortest.bits:
                front.settle(start)
    front.points.sort(key=lambda point: point.bits)
    return front


def rank(alone: Point, least: float, ruler: Ruler) -> float:
    """Those come first whose one-state machine is short if each of its outliers is named: most is left to be explained.

    Of those that are alike, those that may become short.
    """
    return alone.bits + ruler.spare(alone.allowance.outliers, alone.allowance.tolerance) + least


def few_outliers(ruler: Ruler) -> int:
    """So many are no reason to begin with finer labels."""
    return max(FEW, int(FEW_SHARE * ruler.steps))
