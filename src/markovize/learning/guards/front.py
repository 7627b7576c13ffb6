"""How much noise to allow for where triggers are guards: the same bits and the same choice as for labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.features import FeatureTable
from markovize.episodes.labelling import AUTO
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.traces import Traces
from markovize.learning.description import Description, Ruler
from markovize.learning.fronts import LITTLE_EFFORT, Front, Point, collect_points, few_outliers, rank
from markovize.learning.guards.answer import GuardOptions, label_for_guards, read_features
from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.formula import Split
from markovize.learning.guards.growth import Growth, guard_bits
from markovize.learning.guards.noisy_judge import NoisyJudge
from markovize.learning.guards.polish import drop_literals
from markovize.learning.guards.problem import GuardProblem, pose_guards
from markovize.learning.guards.search import GuardSearch
from markovize.learning.limits import Limits
from markovize.learning.soon import EFFORT
from markovize.learning.windows import Groups, finest_groups


@dataclass(frozen=True)
class GuardQuestion:
    """What is left open: the tolerance, the number of outliers, or both; what is given for the other."""

    tolerance: float | None
    outliers: int | None
    options: GuardOptions


def draw_guard_front(traces: Traces, question: GuardQuestion, limits: Limits) -> Front:
    """The points that were found, the shortest first.

    Features of s are used only where they leave far fewer steps unexplained whatever the machine, unless it is said.
    """
    front = _Front(traces, question, limits)
    return collect_points(traces.rewards, question.tolerance, question.outliers, front.begin, front.add)


@dataclass(frozen=True)
class _Start:
    """One tolerance: the problem, the machine without any guard, and the bits that none can do without."""

    problem: GuardProblem
    before: bool
    needed: int  # outliers, whatever the machine
    alone: Point
    least: float
    rank: float

    @property
    def may_be_exact(self) -> bool:
        return not self.needed and not self.alone.allowance.tolerance


class _Front:
    def __init__(self, traces: Traces, question: GuardQuestion, limits: Limits) -> None:
        self._traces, self._question, self._limits = traces, question, limits
        self.ruler = Ruler.of(traces)
        self._steps = label_for_guards(traces, question.options)
        self._tables: dict[bool, FeatureTable] = {}
        self._shortest = float("inf")  # bits of a machine within what is given

    def begin(self, tolerance: float, others: bool) -> list[_Start]:
        """The problem with a tolerance: with the features that it takes, or with all others."""
        ruler, question = self.ruler, self._question
        few = few_outliers(ruler) if question.outliers is None else question.outliers
        found: list[tuple[int, bool, GuardProblem]] = []
        for before in (False, True) if question.options.before == AUTO else (question.options.before is True,):
            self._limits.check()
            problem = self._pose(tolerance, before)
            assert problem.pays is not None
            found.append((problem.pays.needed_outliers(problem.first_alike(), problem.outcomes), before, problem))
            if found[-1][0] <= few and not others:
                break  # more features tell more apart, outliers included
        first = next((entry for entry in found if entry[0] <= few), min(found, key=lambda entry: entry[0]))
        return [
            self._start(tolerance, *entry)
            for entry in found
            if (entry is first) != others and (not others or question.outliers is None or entry[0] <= few)
        ]

    def _start(self, tolerance: float, needed: int, before: bool, problem: GuardProblem) -> _Start:
        alone, pays = self._point(Candidate(), NoisyJudge(problem), before), problem.pays
        assert pays is not None
        ones, ends = np.ones(problem.steps, np.int64), pays.ends[problem.outcomes]
        order = np.lexsort((pays.rewards, ends, problem.labels))
        finest = finest_groups(problem.labels, ends, pays.rewards, ones, order, pays.allowance.width)
        least = self.ruler.least(tolerance, needed, finest, problem.n_labels)
        return _Start(problem, before, needed, alone, least, rank(alone, least, self.ruler))

    def _pose(self, tolerance: float, before: bool) -> GuardProblem:
        options = self._question.options
        if before not in self._tables:
            self._tables[before] = read_features(self._traces, options, before=before)
        finds, allowance = options.reward_labels is None, Allowance(tolerance, 1)  # so that outliers are counted
        return pose_guards(self._steps, self._tables[before], finds_reward_guards=finds, allowance=allowance)

    def add(self, start: _Start, front: Front) -> Iterator[float]:
        """The points of one tolerance, each as soon as it is found; all before others have their turn."""
        for point in self.points(start, front):
            front.points.append(point)
        front.settle(start)
        yield from ()

    def points(self, start: _Start, front: Front) -> Iterator[Point]:
        """With one tolerance, a machine for each number of outliers that is worth it."""
        counting, allowed = NoisyJudge(start.problem), self._question.outliers
        if allowed is not None and start.needed > allowed:
            return
        best: Point | None = None
        fewest = start.problem.steps
        for candidate in Growth(start.problem, self._question.options.acyclic, self._limits).run():
            judge = NoisyJudge(start.problem.with_outliers(counting.try_out(candidate).outliers))
            point = self._point(drop_literals(candidate, judge, self._limits), counting, start.before)
            best = point if best is None or point.bits < best.bits else best
            fewest = min(fewest, point.allowance.outliers)
            if allowed is None or point.allowance.outliers <= allowed:
                self._shortest = min(self._shortest, point.bits)
                yield point
            if fewest <= (allowed or 0):
                return  # larger ones explain no more
        assert best is not None and best.candidate is not None
        if allowed is None or fewest <= allowed:
            front.settle(start)
        wanted = {allowed} if allowed is not None else {0, best.allowance.outliers // 2}
        for outliers in sorted(wanted):
            has, named = best.allowance, self.ruler.name_outliers
            least = best.bits - named(has.outliers, has.tolerance) + named(outliers, has.tolerance)  # if no larger
            if start.needed <= outliers < fewest and least < self._shortest:
                yield from self._search(start, outliers, counting, best.candidate)

    def _point(self, candidate: Candidate, judge: NoisyJudge, before: bool) -> Point:
        outliers, bits = measure(candidate, judge, self.ruler)
        allowance, size = Allowance(judge.pays.allowance.tolerance, outliers), (candidate.states, len(candidate.moves))
        return Point(allowance, *size, bits, labels=(GUARDS, ""), candidate=candidate, before=before)

    def _search(self, start: _Start, outliers: int, counting: NoisyJudge, near: Candidate) -> Iterator[Point]:
        """A machine with so many outliers, by formulas: with as many guards and states as this one, and little work."""
        search = GuardSearch(
            start.problem.with_outliers(outliers),
            self._limits,
            acyclic=self._question.options.acyclic,
            effort=EFFORT,
            grows=False,
        )
        guards, _, states, triggers = near.size
        if guards:
            search.ask_once(Split(states, triggers, guards - triggers), None, LITTLE_EFFORT)
        if search.best is None and self._shortest == float("inf"):
            search.run()
        if search.best is not None:
            yield self._point(search.best, counting, start.before)
        self._limits.check()


def measure(candidate: Candidate, judge: NoisyJudge, ruler: Ruler) -> Description:
    """The outliers of a machine, and the bits of all of it."""
    problem, tolerance = judge.problem, judge.pays.allowance.tolerance
    guards, cells = guard_bits(candidate, problem), judge.n_cells(candidate)
    return ruler.sum_up(guards, judge.look(candidate), Groups.none(), cells, problem.n_labels, tolerance)
