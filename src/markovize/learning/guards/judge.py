"""Runs candidates over all the data: whether they explain it, and where not. No code is shared with the formulas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Generic, TypeVar

import numpy as np

from markovize.episodes.columns import Bools, Ints, Longs
from markovize.learning.guards import kernels
from markovize.learning.guards.candidate import Bound, Box, Candidate, Move
from markovize.learning.guards.problem import GuardProblem

FRONT_STEPS: Final = 50_000  # of the first episodes, which are looked at first: most candidates fail there
MOST_PAIRS: Final = 40  # cells with several outcomes that are looked at, the rarest first
NEAR_CODES: Final = 1_000  # next to a bound, among which the end of its room is looked for first
WIDER: Final = 8  # times as many, if all of these may change sides


@dataclass(frozen=True, eq=False)
class Trial:
    """What came of a candidate: its way through the steps and the cell of each."""

    way: kernels.Way = field(repr=False)
    cells: Longs = field(repr=False)
    torn: int  # the first step at which two triggers with different targets hold, or -1

    @property
    def explains(self) -> bool:
        """Whether every cell has one outcome, and no two triggers disagree."""
        return self.torn < 0 and self.fits

    @property
    def fits(self) -> bool:
        """Whether every cell has one outcome."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class CountedTrial(Trial):
    """With what each cell was paid."""

    counts: Longs = field(repr=False)  # a row for each cell, a column for each outcome

    @property
    def mixed(self) -> Longs:
        """The cells that have several outcomes."""
        return np.flatnonzero(np.count_nonzero(self.counts, axis=1) > 1)

    @property
    def fits(self) -> bool:
        return not len(self.mixed)


T = TypeVar("T", bound=Trial)


class AnyJudge(ABC, Generic[T]):
    """Holds all the steps and tells where a candidate does not explain them."""

    def __init__(self, problem: GuardProblem, *, large: bool | None = None) -> None:
        self.problem = problem
        self._steps = kernels.Steps(
            problem.offsets, problem.labels, problem.n_labels, problem.outcomes, problem.episode_of
        )
        large = problem.steps > 2 * FRONT_STEPS if large is None else large
        self._front = type(self)(problem.beginning(FRONT_STEPS), large=False) if large else None

    def holds(self, box: Box) -> Bools:
        """For each step, whether all these bounds hold."""
        out = np.ones(self.problem.steps, np.bool_)
        for bound in box:
            out &= self._holds_bound(bound)
        return out

    def _holds_bound(self, bound: Bound) -> Bools:
        codes = self.problem.codes[bound.feature]
        if bound.side == "is":
            return np.equal(codes, bound.code)
        return np.greater_equal(codes, bound.code) if bound.side == "at_least" else np.less(codes, bound.code)

    def _begin(self, candidate: Candidate) -> kernels.Way:
        """Where its guards hold; its way is still to be gone."""
        n, boxes = self.problem.steps, candidate.boxes
        holds = np.zeros((len(boxes), n), np.bool_)
        for row, box in enumerate(boxes):
            holds[row] = self.holds(box)
        return kernels.Way(
            np.array([move.source for move in candidate.moves], np.int32),
            np.array([move.target for move in candidate.moves], np.int32),
            candidate.states,
            holds,
            np.zeros(n, np.int32),
            np.zeros(n, np.int32),
        )

    def n_cells(self, candidate: Candidate) -> int:
        """How many cells there are, seen or not."""
        n: int = candidate.states**2 * self.problem.n_labels * 2 ** len(candidate.reward_boxes)
        return n

    @abstractmethod
    def try_out(self, candidate: Candidate) -> T:
        """Runs a candidate over all episodes."""

    @abstractmethod
    def violations(self, trial: T, known: set[int], most: int) -> list[int]:
        """Steps that tell against the candidate; of each kind at most so many that are not known yet."""

    @abstractmethod
    def _shift(self, candidate: Candidate, row: int, flips: Longs, groups: Longs) -> int:
        """How many groups of steps may change sides of a guard, one after the other, and all is still explained."""

    def explains(self, candidate: Candidate) -> bool:
        """Whether replaying all episodes never needs two outcomes for one cell."""
        if self._front is not None and not self._front.explains(candidate):
            return False
        return self.try_out(candidate).explains

    def object_to(self, candidate: Candidate, known: set[int], most: int) -> list[int] | None:
        """Steps that tell against a candidate, if possible of the first episodes; None if it explains everything."""
        if self._front is not None and (early := self._front.object_to(candidate, known, most)):
            return early
        trial = self.try_out(candidate)
        return None if trial.explains else self.violations(trial, known, most)

    def _fresh(self, steps: Longs, known: set[int], most: int) -> list[int]:
        """Of steps by depth, the first of each episode, those that are not known yet."""
        steps = steps[np.sort(np.unique(self.problem.episode_of[steps], return_index=True)[1])]
        return [step for step in steps[: most + len(known)].tolist() if step not in known][:most]

    def prune(self, candidate: Candidate) -> Candidate:
        """Without what has no effect on the data: triggers that never fire, guards that never or always hold.

        States that are never entered go with the triggers; the others are numbered in the order of their first visit.
        """
        trial = self.try_out(candidate)
        way, n = trial.way, len(candidate.moves)
        fired = [
            bool(np.any(way.holds[row] & (way.before == move.source) & (way.after == move.target)))
            for row, move in enumerate(candidate.moves)
        ]
        visited, first = np.unique(way.after, return_index=True)
        order = [0, *(int(u) for u in visited[np.argsort(first)] if u != 0)]
        name = {u: number for number, u in enumerate(order)}
        moves = tuple(
            Move(name[move.source], move.box, name[move.target])
            for move, used in zip(candidate.moves, fired, strict=True)
            if used
        )
        rewards = tuple(
            box
            for row, box in enumerate(candidate.reward_boxes, n)
            if way.holds[row].any() and not way.holds[row].all()
        )
        smaller = Candidate(moves, rewards)
        return smaller if self.explains(smaller) or not trial.explains else candidate

    def room(self, candidate: Candidate, row: int, bound: Bound) -> tuple[int, int]:
        """The least and the greatest code that this bound of a guard may have, with all others as they are.

        The bound with any code in between explains the data as well; the candidate must.
        """
        box = candidate.boxes[row]
        codes = self.problem.codes[bound.feature]
        steps = np.flatnonzero(self.holds(tuple(other for other in box if other is not bound)))
        of_step, top = codes[steps], len(self.problem.ranked[bound.feature])
        up, reach = None, 0
        while up is None and bound.code + reach < top:  # most rooms are narrow: few steps have to be sorted
            reach = WIDER * reach or NEAR_CODES
            here = (bound.code <= of_step) & (of_step < bound.code + reach)
            up = self._harmless(candidate, row, *_sort(steps[here], of_step[here]))
        down, reach = None, 0
        while down is None and bound.code - reach > 0:
            reach = WIDER * reach or NEAR_CODES
            here = (bound.code - reach <= of_step) & (of_step < bound.code)
            ordered, their_codes = _sort(steps[here], of_step[here])
            down = self._harmless(candidate, row, ordered[::-1], their_codes[::-1], backwards=True)
        return 0 if down is None else int(down) + 1, top if up is None else int(up)

    def _harmless(
        self, candidate: Candidate, row: int, steps: Longs, codes: Ints, *, backwards: bool = False
    ) -> int | None:
        """The first code, in this order, whose steps may not change sides; None if all may."""
        if not len(steps):
            return None
        new = np.flatnonzero(np.diff(codes) != 0) + 1
        groups = np.concatenate([[0], new, [len(steps)]]).astype(np.int64)
        flips = steps.astype(np.int64)
        if backwards:  # the steps of a group are in ascending order
            for first, last in pairwise(groups):
                flips[first:last] = flips[first:last][::-1]
        done = self._shift(candidate, row, flips, groups)
        return None if done == len(groups) - 1 else int(codes[groups[done]])


def _sort(steps: Longs, codes: Ints) -> tuple[Longs, Ints]:
    order = np.argsort(codes, kind="stable")
    return steps[order], codes[order]


class Judge(AnyJudge[CountedTrial]):
    """Where rewards are explained exactly."""

    def try_out(self, candidate: Candidate) -> CountedTrial:
        way, cells = self._begin(candidate), np.zeros(self.problem.steps, np.int64)
        counts = np.zeros((self.n_cells(candidate), self.problem.n_outcomes), np.int64)
        torn = int(kernels.run_all(self._steps, way, cells, counts))
        return CountedTrial(way, cells, torn, counts)

    def violations(self, trial: CountedTrial, known: set[int], most: int) -> list[int]:
        """Of every outcome of every cell that has several, the first of each episode, the shallowest first.

        What is early in its episode is explained by little.
        """
        problem, out = self.problem, [trial.torn] if trial.torn >= 0 else []
        mixed = trial.mixed
        rare = np.argsort(trial.counts[mixed].sum(axis=1), kind="stable")
        for cell in mixed[rare][:MOST_PAIRS].tolist():
            here = np.flatnonzero(trial.cells == cell)
            here = here[np.argsort(problem.depth[here], kind="stable")]
            for outcome in np.flatnonzero(trial.counts[cell]).tolist():
                out += self._fresh(here[problem.outcomes[here] == outcome], known, most)
        return out

    def _shift(self, candidate: Candidate, row: int, flips: Longs, groups: Longs) -> int:
        trial = self.try_out(candidate)
        return int(kernels.shift_bound(self._steps, trial.way, trial.counts, row, flips, groups))
