"""Of machines of one size the one with the fewest outliers: ask again with one less, until there is none."""

from __future__ import annotations

from typing import Final

from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.formula import Split
from markovize.learning.guards.noisy_judge import NoisyJudge
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.guards.search import GuardSearch
from markovize.learning.limits import Limits

WORK: Final = 20_000  # conflicts, of each question: some seconds


def count_outliers(candidate: Candidate, problem: GuardProblem) -> int:
    """The least number of outliers with which a candidate explains the steps; 0 without an allowance."""
    return 0 if problem.pays is None else NoisyJudge(problem).try_out(candidate).outliers


def with_fewest_outliers(search: GuardSearch, limits: Limits, *, acyclic: bool) -> Candidate:
    """A machine as small as the best of a search, with as few outliers as could be found within the limits."""
    best, problem = search.best, search.problem
    assert best is not None
    while outliers := count_outliers(best, problem):
        guards, literals, states, triggers = best.size
        fewer = GuardSearch(
            problem.with_outliers(outliers - 1), limits, acyclic=acyclic, exemplars=list(search.exemplars)
        )
        found = fewer.ask_once(Split(states, triggers, guards - triggers), literals, WORK)
        if found is None or found.size > best.size:
            break
        best = found
    return best
