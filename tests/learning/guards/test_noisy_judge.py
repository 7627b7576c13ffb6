"""The judge within allowances against plain Python, and which outcomes it takes for one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from guard_problems import check_rooms, draw_candidate, plain_cells, problem_of
from noise_oracle import least_outliers
from noisy_guard_oracle import draw_noisy_guards

from markovize import Traces
from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.noisy_judge import NoisyJudge
from markovize.learning.guards.pays import weigh
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.guards.search import GuardSearch
from markovize.learning.limits import Limits


def draw(rng: np.random.Generator) -> GuardProblem:
    """With an allowance, and with features that are not all constant."""
    while True:
        noisy = draw_noisy_guards(rng)
        problem = problem_of(noisy.instance, Allowance(noisy.tolerance, noisy.outliers))
        if problem.n_features:
            return problem


def outliers_of(problem: GuardProblem, candidate: Candidate) -> int | None:
    """By the rewards themselves; None where two triggers disagree."""
    assert problem.pays is not None
    cells, torn = plain_cells(problem, candidate)
    return None if torn else least_outliers(cells, problem.pays.rewards.tolist(), problem.pays.allowance.tolerance)


@pytest.mark.parametrize("seed", range(40))
def test_outcomes_fit_where_their_rewards_do(seed: int) -> None:
    problem = draw(np.random.default_rng(seed))
    assert problem.pays is not None
    pays, outcomes = problem.pays, problem.outcomes.tolist()
    for one, other in combinations(range(problem.steps), 2):
        low, high = sorted((outcomes[one], outcomes[other]))
        fit = pays.allowance.fits(pays.rewards[one], pays.rewards[other])
        assert fit == (pays.fits_from[high] <= low)
        if low != high:  # those that are told apart do not fit the same
            fits = [{o for o in outcomes if pays.fits_from[max(o, each)] <= min(o, each)} for each in (low, high)]
            assert fits[0] != fits[1]
    assert pays.is_partition == all(pays.fits_from[o] == o for o in outcomes)
    for kind in set(problem.kinds.tolist()):
        rewards = pays.rewards[problem.kinds == kind]
        assert pays.allowance.fits(rewards.min(), rewards.max())


def test_ends_are_no_matter_of_tolerance() -> None:
    traces = Traces.of([([0, 1], ["go"], [1.0], True), ([0, 1], ["go"], [1.1], False), ([0, 1], ["go"], [1.0], False)])
    for explain, wanted in (("reward", [0, 0, 0]), ("reward+termination", [1, 0, 0])):
        steps = label_traces(traces, "state", "state", explain)  # type: ignore[arg-type]
        outcomes, pays = weigh(steps, Allowance(0.5))
        assert outcomes.tolist() == wanted
        assert pays.is_partition


@pytest.mark.parametrize("seed", range(40))
def test_it_counts_the_outliers_of_candidates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = draw(rng)
    assert problem.pays is not None
    judge = NoisyJudge(problem)
    for _ in range(5):
        candidate = draw_candidate(rng, problem)
        trial, wanted = judge.try_out(candidate), outliers_of(problem, candidate)
        assert (trial.torn >= 0) == (wanted is None)
        if wanted is not None:
            assert trial.outliers == np.count_nonzero(trial.outside) == wanted
            assert trial.explains == (wanted <= problem.pays.allowance.outliers)
        found = judge.violations(trial, set(), 2)
        assert bool(found) != trial.explains
        known = set(found)
        while more := set(judge.violations(trial, known, 2)) - {trial.torn}:  # in the end, all that clashes is known
            assert not more & (known - {trial.torn})
            known |= more
        if not trial.fits:
            assert set(np.flatnonzero(trial.outside).tolist()) <= known


@pytest.mark.parametrize("seed", range(25))
def test_rooms_are_what_moving_a_bound_shows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    while True:
        problem = draw(rng)
        if not problem.is_realisable:
            continue
        search = GuardSearch(problem, Limits())
        search.run()
        assert search.best is not None
        if any(bound.side != "is" for box in search.best.boxes for bound in box):
            break
    assert problem.pays is not None
    allowed = problem.pays.allowance.outliers

    def explains(moved: Candidate) -> bool:
        found = outliers_of(problem, moved)
        return found is not None and found <= allowed

    check_rooms(NoisyJudge(problem), search.best, explains)
