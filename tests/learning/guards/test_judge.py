"""The judge's compiled loops against plain Python, and rooms of bounds against moving them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from guard_problems import check_rooms, draw_candidate, draw_problem, explains, plain_cells

from markovize import learn
from markovize.learning.guards.candidate import Candidate, Move
from markovize.learning.guards.judge import Judge
from markovize.learning.guards.polish import centre_bounds, drop_literals, turn_rewards
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.guards.search import GuardSearch
from markovize.learning.limits import Limits


def solved(seed: int) -> tuple[GuardProblem, Candidate]:
    """A problem with a numeric feature, and a machine that explains it."""
    rng = np.random.default_rng(seed)
    while True:
        problem = draw_problem(rng)
        search = GuardSearch(problem, Limits())
        search.run()
        assert search.best is not None
        if any(bound.side != "is" for box in search.best.boxes for bound in box):
            return problem, search.best


@pytest.mark.parametrize("seed", range(40))
def test_it_runs_candidates_as_the_semantics_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = draw_problem(rng)
    judge = Judge(problem)
    for _ in range(5):
        candidate = draw_candidate(rng, problem)
        cells, torn = plain_cells(problem, candidate)
        trial = judge.try_out(candidate)
        assert trial.torn == (torn[0] if torn else -1)
        assert trial.explains == explains(problem, candidate)
        way = trial.way
        assert list(zip(way.before.tolist(), way.after.tolist(), strict=True)) == [cell[:2] for cell in cells]
        number = dict(zip(cells, trial.cells.tolist(), strict=True))
        assert [number[cell] for cell in cells] == trial.cells.tolist()
        assert len(set(number.values())) == len(number)
        assert trial.counts.sum() == problem.steps


@pytest.mark.parametrize("seed", range(40))
def test_what_tells_against_a_candidate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = draw_problem(rng)
    judge, candidate = Judge(problem), draw_candidate(rng, problem)
    trial = judge.try_out(candidate)
    found = judge.violations(trial, set(), 2)
    assert bool(found) != trial.explains
    mixed = set(trial.mixed.tolist())
    assert all(step == trial.torn or int(trial.cells[step]) in mixed for step in found)
    assert not set(judge.violations(trial, set(found), 2)) & (set(found) - {trial.torn})


@pytest.mark.parametrize("seed", range(30))
def test_rooms_are_what_moving_a_bound_shows(seed: int) -> None:
    problem, candidate = solved(seed)
    check_rooms(Judge(problem), candidate, lambda moved: explains(problem, moved))


@pytest.mark.parametrize("seed", range(30))
def test_polishing_keeps_what_is_explained(seed: int) -> None:
    problem, candidate = solved(seed)
    judge = Judge(problem)
    for polished in (
        judge.prune(candidate),
        drop_literals(candidate, judge, Limits()),
        centre_bounds(candidate, judge, Limits()),
        turn_rewards(candidate, judge),
    ):
        assert explains(problem, polished)
        assert polished.size <= candidate.size
    for box in turn_rewards(candidate, judge).reward_boxes:
        if len(box) == 1 and box[0].side != "is":
            assert 2 * judge.holds(box).sum() <= problem.steps


def test_what_has_no_effect_goes() -> None:
    problem, candidate = solved(3)
    never, always = Move(7, (), 8), ()
    padded = Candidate((*candidate.moves, never), (always, *candidate.reward_boxes))
    assert padded.size.guards == candidate.size.guards + 2
    assert Judge(problem).prune(padded).size <= candidate.size


def test_time_that_is_up_leaves_the_machine_as_it_is() -> None:
    problem, candidate = solved(5)
    kept = drop_literals(candidate, Judge(problem), Limits(deadline=0.0))
    assert explains(problem, kept)


def test_reward_guards_hold_where_it_is_rare() -> None:
    seen = [[{"x": at / 10 + 0.01} for at in range(11)] for _ in range(3)]
    result = learn([(walk, ["go"] * 10, [float(at["x"] >= 0.8) for at in walk[1:]]) for walk in seen], count_steps=True)
    assert [literal.relation for literal in result.unwrap().reward_guards[0]] == ["at_least"]
