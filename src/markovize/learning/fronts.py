"""How much noise to allow for: machines of growing size against what they leave unexplained; the shortest is taken.

A machine, its levels, its outliers and what is left within the tolerance are written down in bits. A larger allowance
makes the machine shorter and the rest longer. Candidates for the tolerance are the widths of clusters of rewards,
which the widest gaps between rewards separate. For outliers a machine grows trigger by trigger; where that leaves many,
rare rewards are taken for noise and a machine is searched for without them. Nothing is proven here: the search that
follows proves what is smallest with the allowance that was chosen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log2
from typing import Final, Protocol, TypeVar

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.columns import Floats
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.traces import Traces
from markovize.learning.engines.base import Delta, Engine
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.greedy import grow_machine, shrink, swap_triggers
from markovize.learning.guards.candidate import Candidate
from markovize.learning.inquiry import Goal
from markovize.learning.judge import Judge, size
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import PrefixTree
from markovize.learning.problem import LabelPair, pose
from markovize.learning.result import Choice
from markovize.learning.search import Deepening, Plan
from markovize.learning.trimming import trim_rewards
from markovize.learning.windows import outside_of_windows

MOST_CLUSTERS: Final = 64
APART: Final = 1.5  # times as wide, or two tolerances are taken for one
FEW: Final = 3  # outliers that are no reason for finer labels
FEW_SHARE: Final = 0.01  # or such a share of all steps
EFFORT: Final = 20_000  # counted, of a question to the engine
SOME_EFFORT: Final = 5_000  # where noise is likely
LITTLE_EFFORT: Final = 2_000
LEAST_EFFORT: Final = 500  # where there are many to try
PATIENCE: Final = 8  # triggers that shorten nothing, before a machine is grown no further
MOST_TRIGGERS: Final = 32
RARE: Final = (2, 8)  # steps of a label that pay alike, or fewer, may be noise
HALVES: Final = 8  # random ones of the data, in the hope that one of them has no noise left


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

    @property
    def choice(self) -> Choice:
        """As results have it."""
        guards = (None, None) if self.candidate is None else self.candidate.size[:2]
        return Choice(*self._allowed, self.states, self.triggers, round(self.bits, 1), *guards)

    @property
    def _allowed(self) -> tuple[float, int]:
        return self.allowance.tolerance, self.allowance.outliers


@dataclass(frozen=True)
class Question:
    """What is left open: the tolerance, the number of outliers, or both; what is given for the other."""

    tolerance: float | None
    outliers: int | None
    acyclic: bool
    explain: Explain
    engine: Engine


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

    def least(self, tolerance: float, outliers: int) -> float:
        """Whatever the machine, if it needs so many outliers: every value has a level near it, or is an outlier's."""
        levels, start = 0, -np.inf
        for value in self.values.tolist():
            if value - start > 2 * tolerance:
                levels, start = levels + 1, value
        named = levels * min(self.level(tolerance), self.outlier(tolerance))
        return self.residuals(tolerance) + max(named, outliers * self.outlier(tolerance))

    def residuals(self, tolerance: float) -> float:
        """Where in the tolerance each reward is."""
        return self.steps * log2(1 + 2 * tolerance / self.grain)

    def level(self, tolerance: float) -> float:
        """What a cell pays, as far as the tolerance leaves that open."""
        return log2(1 + self.range / (self.grain + 2 * tolerance))

    def outlier(self, tolerance: float) -> float:
        """Which step, and what it pays; where in the tolerance of that is counted with all other steps."""
        return log2(max(2, self.steps)) + self.level(tolerance)

    def measure(self, delta: Delta, judge: Judge) -> tuple[int, float]:
        """The outliers of a machine, and the bits of all of it.

        Each reward label has a level; only cells of it that pay something else are written down.
        """
        (states, triggers), tolerance = size(delta), judge.tree.allowance.tolerance
        outliers, special = judge.look(delta)
        moves, labels = triggers * log2(max(2, states**2 * judge.tree.n_labels)), judge.tree.n_rewards
        return outliers, self.sum_up(moves, special, states**2 * labels, labels, outliers, tolerance)

    def sum_up(self, moves: float, special: int, cells: int, labels: int, outliers: int, tolerance: float) -> float:
        """Moves, the special ones of so many cells, a level for each label, outliers and residuals."""
        pays = special * (log2(max(2, cells)) + self.level(tolerance)) + labels * self.level(tolerance)
        return moves + pays + outliers * self.outlier(tolerance) + self.residuals(tolerance)


def tolerances_to_try(rewards: Floats) -> list[float]:
    """Zero, and half the widths of clusters of rewards, ascending, of tolerances that are alike the largest.

    >>> [round(each, 3) for each in tolerances_to_try(np.array([0.0, 0.02, 1.0, 1.04, 5.0]))]
    [0.0, 0.01, 0.02, 0.52, 2.5]
    """
    values = np.unique(rewards)
    widest = np.argsort(-np.diff(values), kind="stable")
    found: list[float] = []
    for clusters in range(1, min(len(values), MOST_CLUSTERS + 1)):
        cuts = np.sort(widest[: clusters - 1])
        starts, ends = values[np.concatenate([[0], cuts + 1])], values[np.concatenate([cuts, [len(values) - 1]])]
        tolerance = float((ends - starts).max()) / 2
        if tolerance > 0 and (not found or found[-1] > APART * tolerance):
            found.append(tolerance)
    return [0.0, *reversed(found)]


@dataclass
class Front:
    """The points that were found; ``open``: time was up before it was known whether rewards are explained as they are.

    That is so only as long as what is left unexplained is more than rewards that are rare.
    """

    points: list[Point] = field(default_factory=list)
    open: bool = False


def draw_front(traces: Traces, question: Question, labels: Sequence[LabelPair], limits: Limits) -> Front:
    """The points that were found, the shortest first; those of one tolerance differ in their outliers.

    Labels are the coarsest, unless finer ones leave far fewer steps unexplained whatever the machine.
    """
    ruler = Ruler.of(traces)
    return collect_points(
        traces.rewards,
        question.tolerance,
        lambda tolerance: _begin(traces, question, labels, tolerance, ruler, limits),
        lambda start, front: _add_points(traces, start, question, ruler, limits, front),
    )


class Start(Protocol):
    """Where to look for machines: the bits without any trigger, and those that no machine can do without."""

    @property
    def bits(self) -> float: ...

    @property
    def least(self) -> float: ...


S = TypeVar("S", bound=Start)


def collect_points(
    rewards: Floats, tolerance: float | None, begin: Callable[[float], S], add: Callable[[S, Front], None]
) -> Front:
    """The points of each tolerance that may be shorter than all others; the shortest first."""
    front = Front()
    with contextlib.suppress(Stop):
        every = tolerances_to_try(rewards) if tolerance is None else [tolerance]
        begun = [begin(each) for each in every]
        for start in sorted(begun, key=lambda start: start.bits):
            if start.least < min((point.bits for point in front.points), default=float("inf")):
                add(start, front)  # one by one: time may be up before the last
    front.points.sort(key=lambda point: point.bits)
    return front


def few_outliers(ruler: Ruler) -> int:
    """So many are no reason for finer labels."""
    return max(FEW, int(FEW_SHARE * ruler.steps))


@dataclass(frozen=True)
class _Start:
    """One tolerance: under which labels, the bits without any trigger, and those that no machine can do without."""

    labels: LabelPair
    tree: PrefixTree
    needed: int  # outliers, whatever the machine
    bits: float
    least: float


def _begin(
    traces: Traces, question: Question, labels: Sequence[LabelPair], tolerance: float, ruler: Ruler, limits: Limits
) -> _Start:
    few = few_outliers(ruler) if question.outliers is None else question.outliers
    found: list[tuple[int, LabelPair, PrefixTree]] = []
    for pair in labels:
        tree = _tree(traces, pair, question.explain, tolerance, limits)
        found.append((_least_outliers(tree), pair, tree))
        if found[-1][0] <= few:
            break  # finer labels tell more apart, outliers included
    needed, pair, tree = min(found, key=lambda entry: entry[0])
    bits = ruler.measure({}, Judge(tree))[1]
    return _Start(pair, tree, needed, bits, ruler.least(tolerance, needed))


def _add_points(traces: Traces, start: _Start, question: Question, ruler: Ruler, limits: Limits, front: Front) -> None:
    """With one tolerance, a machine for each number of outliers that is worth it, each as soon as it is found."""
    counting, points = Judge(start.tree), list[Point]()

    def note(delta: Delta) -> int:
        outliers, bits = ruler.measure(delta, counting)
        allowance = Allowance(start.tree.allowance.tolerance, outliers)
        points.append(Point(allowance, *size(delta), bits, delta, start.labels))
        front.points.append(points[-1])
        return outliers

    def search(outliers: int, effort: int) -> bool:
        allowance = replace(start.tree.allowance, outliers=outliers)
        tree = pose(traces, start.labels, question.explain, limits, allowance).tree
        found = _search(tree, question, limits, effort)
        return found is not None and note(found) <= outliers

    def explore(parts: Iterable[tuple[PrefixTree, int]], effort: int, always: bool = False) -> None:
        """Searches in data without rare rewards, unless the shortest so far has hardly more outliers than these."""
        for tree, steps in parts:
            least, fewest = _least_outliers(tree), min(points, key=lambda p: p.bits).allowance.outliers
            if steps and (always or fewest > max(steps + least + FEW, steps * 5 // 4)):
                allowance = replace(start.tree.allowance, outliers=least)
                delta = _search(replace(tree, allowance=allowance), question, limits, effort)
                if delta is not None:
                    note(delta)

    if question.outliers is not None:
        if start.needed <= question.outliers:
            search(question.outliers, EFFORT)
        return
    front.open = not start.needed and not start.tree.allowance.tolerance
    for delta in _growing(start, question, limits):
        note(delta)
        if len(points) - min(range(len(points)), key=lambda n: points[n].bits) > PATIENCE:
            break
    best = min(points, key=lambda p: p.bits)
    most = note(swap_triggers(best.delta, counting, acyclic=question.acyclic, limits=limits))
    if not most:
        front.open = False
        return
    trimmed = [_trim(traces, start, question, rare, limits) for rare in RARE]
    explore(trimmed[:1], LEAST_EFFORT, always=True)
    explore(trimmed, LITTLE_EFFORT)
    explore(((half, trimmed[0][1]) for half in _halves(trimmed[0][0])), LEAST_EFFORT)
    explore(trimmed[:1], EFFORT)
    if not start.needed:  # perhaps there is no noise at all
        fewest = min(points, key=lambda p: p.bits).allowance.outliers
        front.open &= all(fewest > steps for _, steps in trimmed)
        search(0, EFFORT if front.open else SOME_EFFORT)
        front.open = False
    most = min(points, key=lambda p: p.bits).allowance.outliers
    while (most := most // 2) > max(start.needed, 1):
        if not search(most, LITTLE_EFFORT):
            break


def _trim(traces: Traces, start: _Start, question: Question, rare: int, limits: Limits) -> tuple[PrefixTree, int]:
    """The tree without rare rewards, and how many steps have these."""
    allowance = start.tree.allowance
    trimmed, steps = trim_rewards(traces, start.labels[1], allowance.width, rare)
    return pose(trimmed, start.labels, question.explain, limits, replace(allowance, outliers=1)).tree, steps


def _halves(tree: PrefixTree) -> Iterator[PrefixTree]:
    """The tree with random halves of its marks: noise that is left may be in the other half."""
    rng = np.random.default_rng(0)
    for _ in range(HALVES):
        kept = rng.random(len(tree.mark_node)) < 0.5
        columns = {"mark_node", "mark_label", "mark_outcome", "mark_count"}
        yield replace(tree, **{name: getattr(tree, name)[kept] for name in columns})


def _search(tree: PrefixTree, question: Question, limits: Limits, effort: int) -> Delta | None:
    """A machine for the tree within its allowance, by the engine, with an effort that leaves questions open."""
    if not len(tree.mark_node) or Judge(tree).explains({}):
        return {}
    plan = Plan(effort, last_resort=False)
    exemplars = ExemplarSets(question.engine, acyclic=question.acyclic)
    search = Deepening(tree, exemplars, Goal("triggers", question.acyclic), limits, plan=plan)
    search.run()
    limits.check()
    return search.best


def _growing(start: _Start, question: Question, limits: Limits) -> Iterator[Delta]:
    """Machines with one trigger more each time, and without what is of no use."""
    yield {}
    tolerance = Allowance(start.tree.allowance.tolerance)
    counting, strict = Judge(start.tree), Judge(replace(start.tree, allowance=tolerance))
    for delta in grow_machine(strict, limits, MOST_TRIGGERS):
        judge = Judge(replace(start.tree, allowance=replace(tolerance, outliers=counting.outliers(delta))))
        yield shrink(delta, judge, acyclic=question.acyclic, limits=limits)


def _tree(traces: Traces, labels: LabelPair, explain: Explain, tolerance: float, limits: Limits) -> PrefixTree:
    """With all marks and their counts, as outliers need them."""
    return pose(traces, labels, explain, limits, Allowance(tolerance, 1)).tree


def _least_outliers(tree: PrefixTree) -> int:
    """Whatever the machine: of a machine that follows all histories."""
    groups = tree.mark_node.astype(np.int64) * max(1, tree.conflicting_labels) + tree.mark_label
    levels, ends = tree.levels[tree.mark_outcome], tree.ends[tree.mark_outcome]
    return outside_of_windows(groups, ends, levels, tree.mark_count, tree.allowance.width)[1]
