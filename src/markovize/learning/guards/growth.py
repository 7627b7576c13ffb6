"""A machine with guards by hand, literal by literal: soon, never proven, and for rewards with outliers, too.

What is looked at is how many bits the rough outcomes take once the cells (u, reward guards, u') are known, and the bits
of the guards. Of all ways to add a reward guard, a trigger or a literal the shortest is taken, its thresholds are moved
to where they tell most, and so on. Nothing here decides what is smallest: the search does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log2
from typing import Any, Final

import numpy as np

from markovize.episodes.columns import Bools, Floats, Longs
from markovize.learning.guards import kernels
from markovize.learning.guards.candidate import Bound, Box, Candidate, Move
from markovize.learning.guards.judge import AnyJudge
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.limits import Limits
from markovize.machine.graph import topological_order

MOST_STEPS: Final = 30_000  # of the first episodes, which are looked at
CUTS: Final = 16  # thresholds of each numeric feature that are tried at first
FINER: Final = 8  # thresholds that are tried between two neighbours of those, and so on
MOST_VALUES: Final = 64  # of each categorical feature, the commonest
MOST_LITERALS: Final = 24
NEW_GUARD: Final = 10.0  # bits: a literal more in a guard is better than one more guard
PATIENCE: Final = 2  # literals that shorten nothing, before a machine is grown no further


def guard_bits(candidate: Candidate, problem: GuardProblem) -> float:
    """What guards take to write down: of each literal its feature, its side and its value; states of triggers."""
    values = [max(2, int(codes.max(initial=0)) + 1) for codes in problem.codes]
    names = log2(max(2, sum(2 if numeric else 1 for numeric in problem.numeric)))
    literals = sum(names + log2(values[bound.feature]) for box in candidate.boxes for bound in box)
    return literals + len(candidate.moves) * log2(max(2, candidate.states**2))


@dataclass
class Growth:
    """One machine that grows."""

    problem: GuardProblem
    acyclic: bool
    limits: Limits
    _steps: kernels.Steps = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.problem.steps > MOST_STEPS:
            self.problem = self.problem.beginning(MOST_STEPS)
        problem = self.problem
        self._steps = kernels.Steps(
            problem.offsets, problem.labels, problem.n_labels, problem.outcomes, problem.episode_of
        )
        self._kinds = problem.kinds.astype(np.int64)
        self._n_kinds = int(self._kinds.max(initial=0)) + 1
        self._held: dict[Bound, Bools] = {}

    def run(self) -> Iterator[Candidate]:
        """The empty machine, then one with a literal more each time."""
        best, best_bits, idle = Candidate(), self.bits(Candidate()), 0
        yield best
        for _ in range(MOST_LITERALS):
            grown = min(((self.bits(each), n, each) for n, each in enumerate(self._larger(best))), default=None)
            if grown is None or grown[0] == float("inf"):
                return
            best = self.refine(grown[2])
            bits = self.bits(best)
            idle = 0 if bits < best_bits else idle + 1
            if idle > PATIENCE:
                return
            best_bits = min(bits, best_bits)
            yield best

    def bits(self, candidate: Candidate) -> float:
        """Of the guards, and of the rough outcomes of all steps; not to be had where two triggers disagree."""
        n, boxes = self.problem.steps, candidate.boxes
        holds = np.zeros((len(boxes), n), np.bool_)
        for row, box in enumerate(boxes):
            holds[row] = self._holds(box)
        sources, targets = ([getattr(move, side) for move in candidate.moves] for side in ("source", "target"))
        way = kernels.Way(
            np.array(sources, np.int32),
            np.array(targets, np.int32),
            candidate.states,
            holds,
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
        )
        cells = np.zeros(n, np.int64)
        if kernels.run_cells(self._steps, way, cells) >= 0:
            return float("inf")
        guards = guard_bits(candidate, self.problem) + NEW_GUARD * len(candidate.boxes)
        return guards + self._outcome_bits(cells)

    def _outcome_bits(self, cells: Longs) -> float:
        """Given the cell of each step; the more kinds a cell has, the more its shares take: noise is not worth it."""
        counts = np.bincount(cells * self._n_kinds + self._kinds)
        counts = np.append(counts, np.zeros(-len(counts) % self._n_kinds, np.int64)).reshape(-1, self._n_kinds)
        counts = counts[counts.any(axis=1)]
        steps = counts.sum(axis=1)
        shares = (np.count_nonzero(counts, axis=1) - 1) * np.log2(steps) / 2
        return float(_weigh(steps) - _weigh(counts.ravel()) + shares.sum())

    def _holds(self, box: Box) -> Bools:
        out = np.ones(self.problem.steps, np.bool_)
        for bound in box:
            out &= self._holds_bound(bound)
        return out

    def _holds_bound(self, bound: Bound) -> Bools:
        if bound not in self._held:
            codes = self.problem.codes[bound.feature]
            if bound.side == "is":
                self._held[bound] = codes == bound.code
            else:
                self._held[bound] = codes >= bound.code if bound.side == "at_least" else codes < bound.code
        return self._held[bound]

    # --- changes -----------------------------------------------------------------------------------------------------

    def _literals(self) -> Iterator[Bound]:
        for feature, (codes, numeric) in enumerate(zip(self.problem.codes, self.problem.numeric, strict=True)):
            if numeric:
                cuts = np.unique(np.quantile(codes, np.linspace(0, 1, CUTS + 1)[1:-1], method="nearest"))
                for cut in cuts[cuts > codes.min()].tolist():
                    yield Bound(feature, "at_least", int(cut))
                    yield Bound(feature, "below", int(cut))
            else:
                common = np.argsort(-np.bincount(codes), kind="stable")[:MOST_VALUES]
                yield from (Bound(feature, "is", int(code)) for code in common if np.any(codes == code))

    def _larger(self, candidate: Candidate) -> Iterator[Candidate]:
        """All with a literal more."""
        moves, rewards, states = candidate.moves, candidate.reward_boxes, candidate.states
        for bound in self._literals():
            self.limits.check()
            if self.problem.finds_reward_guards:
                yield Candidate(moves, (*rewards, (bound,)))
            for source in range(states):
                for target in range(states + 1):
                    if source != target and self._may_go(moves, source, target):
                        yield Candidate((*moves, Move(source, (bound,), target)), rewards)
            for place, (source, box, target) in enumerate(moves):  # something comes first
                halves = Move(source, (bound,), states), Move(states, box, target)
                if (bound,) != box:
                    yield Candidate((*moves[:place], *halves, *moves[place + 1 :]), rewards)
            for row, box in enumerate(candidate.boxes):
                if all((other.feature, other.side) != (bound.feature, bound.side) for other in box):
                    yield _with_box(candidate, row, (*box, bound))

    def _may_go(self, moves: tuple[Move, ...], source: int, target: int) -> bool:
        if not self.acyclic:
            return True
        edges = [(move.source, move.target) for move in moves] + [(source, target)]
        return topological_order(1 + max(max(edge) for edge in edges), edges) is not None

    def refine(self, candidate: Candidate) -> Candidate:
        """Its thresholds one after the other where the bits are fewest, looked for coarsely, then ever more finely."""
        best = self.bits(candidate)
        for row in range(len(candidate.boxes)):
            for place, bound in enumerate(candidate.boxes[row]):
                if bound.side == "is":
                    continue
                top = len(self.problem.ranked[bound.feature])
                low, high = 0, top
                while high - low > 1:
                    self.limits.check()
                    cuts = np.unique(np.linspace(low, high, 2 * FINER + 1).astype(int))
                    for cut in cuts.tolist():
                        box = candidate.boxes[row]
                        moved = _with_box(candidate, row, (*box[:place], bound._replace(code=cut), *box[place + 1 :]))
                        if 0 < cut < top and (bits := self.bits(moved)) < best:
                            candidate, best = moved, bits
                    at = candidate.boxes[row][place].code
                    step = int(np.diff(cuts).max(initial=1))
                    low, high, before = max(0, at - step), min(top, at + step), high - low
                    if high - low >= before:
                        break
        self._held.clear()
        return candidate


def first_machine(problem: GuardProblem, judge: AnyJudge[Any], limits: Limits, *, acyclic: bool) -> Candidate | None:
    """The first grown machine that explains all steps within the allowance; None if none of them does."""
    growth = Growth(problem, acyclic, limits)
    return next((candidate for candidate in growth.run() if judge.explains(candidate)), None)


def _with_box(candidate: Candidate, row: int, box: Box) -> Candidate:
    boxes = list(candidate.boxes)
    boxes[row] = box
    return candidate.with_boxes(boxes)


def _weigh(counts: Longs) -> Floats:
    """n·log₂ n, summed."""
    some = counts[counts > 0].astype(np.float64)
    total: Floats = (some * np.log2(some)).sum()
    return total
