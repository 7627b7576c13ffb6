"""Problems of the search for guards, random candidates, and a plain replay that shares nothing with the judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from guard_oracle import Instance, draw_instance

from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.features import extract_features
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.guards.candidate import Bound, Box, Candidate, Move
from markovize.learning.guards.judge import AnyJudge
from markovize.learning.guards.problem import GuardProblem, pose_guards


def problem_of(instance: Instance, allowance: Allowance = EXACT) -> GuardProblem:
    """As ``learn`` poses it, without features of s."""
    traces = instance.traces()
    steps = label_traces(traces, lambda *_: 0, lambda *_: 0)
    return pose_guards(steps, extract_features(traces), finds_reward_guards=True, allowance=allowance)


def draw_problem(rng: np.random.Generator) -> GuardProblem:
    """One whose features are not all constant."""
    while True:
        problem = problem_of(draw_instance(rng))
        if problem.n_features:
            return problem


def draw_candidate(rng: np.random.Generator, problem: GuardProblem) -> Candidate:
    """Up to three triggers between up to three states, and up to two reward guards."""
    moves = []
    for _ in range(int(rng.integers(0, 4))):
        source, target = rng.choice(3, 2, replace=False).tolist()
        moves.append(Move(source, draw_box(rng, problem), target))
    return Candidate(tuple(moves), tuple(draw_box(rng, problem) for _ in range(int(rng.integers(0, 3)))))


def draw_box(rng: np.random.Generator, problem: GuardProblem) -> Box:
    box: list[Bound] = []
    for feature, numeric in enumerate(problem.numeric):
        top = int(problem.codes[feature].max()) + 1
        if numeric:
            low, high = (int(code) for code in np.sort(rng.integers(0, top + 1, 2)))
            box += [Bound(feature, "at_least", low)] if rng.random() < 0.5 else []
            box += [Bound(feature, "below", high)] if rng.random() < 0.5 and high else []
        elif rng.random() < 0.5:
            box.append(Bound(feature, "is", int(rng.integers(0, top))))
    return tuple(box)


def holds(box: Box, row: tuple[int, ...]) -> bool:
    """Whether all bounds of a guard hold at a step with these codes."""
    tests = {"is": int.__eq__, "at_least": int.__ge__, "below": int.__lt__}
    return all(tests[bound.side](row[bound.feature], bound.code) for bound in box)


def plain_cells(problem: GuardProblem, candidate: Candidate) -> tuple[list[tuple[object, ...]], list[int]]:
    """(u, u', valuation) of every step, and the steps at which two triggers with different targets hold."""
    cells: list[tuple[object, ...]] = []
    torn = []
    for first, last in zip(problem.offsets[:-1].tolist(), problem.offsets[1:].tolist(), strict=True):
        u = 0
        for step in range(first, last):
            row = problem.row(step)
            targets = [move.target for move in candidate.moves if move.source == u and holds(move.box, row)]
            torn += [step] if len(set(targets)) > 1 else []
            v = targets[0] if targets else u
            cells.append((u, v, *(holds(box, row) for box in candidate.reward_boxes)))
            u = v
    return cells, torn


def explains(problem: GuardProblem, candidate: Candidate) -> bool:
    """Whether no cell has two outcomes and no two triggers disagree."""
    cells, torn = plain_cells(problem, candidate)
    paid: dict[tuple[object, ...], int] = {}
    agrees = [paid.setdefault(cell, int(o)) == o for cell, o in zip(cells, problem.outcomes.tolist(), strict=True)]
    return not torn and all(agrees)


def check_rooms(judge: AnyJudge[Any], candidate: Candidate, explains: Callable[[Candidate], bool]) -> None:
    """The room of each threshold is what moving it, one value after the other, shows."""
    for row, box in enumerate(candidate.boxes):
        for place, bound in enumerate(box):
            if bound.side == "is":
                continue

            def moved(code: int, row: int = row, place: int = place) -> bool:
                boxes = list(candidate.boxes)
                boxes[row] = (*boxes[row][:place], boxes[row][place]._replace(code=code), *boxes[row][place + 1 :])
                return explains(candidate.with_boxes(boxes))

            low, high = judge.room(candidate, row, bound)
            assert low <= bound.code <= high
            assert all(moved(code) for code in range(low, high + 1))
            assert low == 0 or not moved(low - 1)
            assert high == len(judge.problem.ranked[bound.feature]) or not moved(high + 1)
