"""A good machine before the long proofs; and a search that proves a machine which was found with little effort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from instances import KINDS, random_steps

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.learning.engines import find_engine
from markovize.learning.engines.base import Verdict
from markovize.learning.engines.exhaustive import exhaustive_optimum
from markovize.learning.entry import learn
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.inquiry import Goal, Inquiry
from markovize.learning.judge import size
from markovize.learning.learner import Learner
from markovize.learning.prefix_tree import build_tree
from markovize.learning.search import Deepening, Progress
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import replay
from markovize.worlds import noisy_walks, world


def breakfasts(episodes: int) -> Traces:
    return noisy_walks(world("breakfast", task="c", rewards="cumulative"), episodes, np.random.default_rng(1))


def offices(episodes: int) -> Traces:
    return noisy_walks(world("office", task="e"), episodes, np.random.default_rng(1))


def test_a_good_machine_comes_before_the_proof_that_it_is_the_best() -> None:
    """Machines of fewer triggers are far from excluded when one comes up that is as small as the one behind it."""
    tree = build_tree(label_traces(breakfasts(100), "state", "state"))[0]
    search = Deepening(tree, ExemplarSets(find_engine("sat")), Goal("triggers", acyclic=False))
    assert not search.run_unless(lambda it: it.best is not None and size(it.best)[1] <= 6)
    assert search.best is not None and search.inquiry.judge.explains(search.best)
    open_question = search.inquiry.proven.floors.next_question("triggers")
    assert open_question[1] < 6


class Enough(Exception):  # noqa: N818 - a signal, not an error
    pass


def test_a_look_without_cycles_gives_a_long_search_a_machine_soon() -> None:
    """In Office d four states without cycles are soon found, while proofs with cycles are long."""
    office = noisy_walks(world("office", task="d"), 500, np.random.default_rng(0))
    told: list[Progress] = []

    def tell(progress: Progress) -> None:
        told.append(progress)
        if progress.best is not None and progress.best[1] <= 8:
            raise Enough

    with pytest.raises(Enough):
        learn(office, trigger_on="state", reward_on="state", on_progress=tell)
    assert told[-1].lower[1] < 5  # proven so far; the look's own bounds hold without cycles only, and are not shown


@pytest.mark.parametrize("seed", range(40))
def test_what_is_proven_after_a_search_with_no_effort_is_the_optimum(seed: int) -> None:
    rng, kinds = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    traces = random_steps(rng, kinds=kinds, episodes=5, length=5, rewards=3, acyclic=seed % 2 == 0)
    truth = exhaustive_optimum(label_traces(traces, *kinds), "triggers", False)
    learner = Learner(trigger_on=kinds[0], reward_on=kinds[1])
    soon = learner.learn(traces, effort=1)
    assert soon.machine is not None
    proven = learner.learn(traces, effort=10_000, prove=soon.machine)
    assert (proven.status, proven.states, proven.triggers) == ("optimal", *truth)
    assert replay(proven.unwrap(), traces).mismatches == 0


def test_the_machine_to_prove_is_kept_where_it_is_the_smallest() -> None:
    traces = offices(200)
    best = learn(traces, trigger_on="state", reward_on="state").unwrap()
    learner = Learner(trigger_on="state", reward_on="state")
    found = learner.learn(traces, effort=100_000, prove=best)
    assert found.status == "optimal"
    assert [(t.source, t.on, t.target) for t in found.unwrap().triggers] == [
        (t.source, t.on, t.target) for t in best.triggers
    ]


def test_a_proof_that_takes_too_long_is_given_up_and_claims_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = breakfasts(100)
    learner = Learner(trigger_on="state", reward_on="state")
    first = learner.learn(traces, effort=5_000).unwrap()
    verdicts, ask = list[Verdict](), Inquiry.ask

    def noting(self: Inquiry, *question: Any, **options: Any) -> Verdict:
        verdicts.append(ask(self, *question, **options))
        return verdicts[-1]

    monkeypatch.setattr(Inquiry, "ask", noting)
    found = learner.learn(traces, effort=10, prove=first)
    assert found.status == "feasible" and found.machine is not None
    assert (found.states, found.triggers) == (first.states, len(first.triggers))
    assert Verdict.UNKNOWN not in verdicts[:-1]  # left open: nothing would have been proven by the others
    assert 1 <= len(verdicts) <= 5


def test_a_machine_that_explains_nothing_is_not_believed() -> None:
    traces = offices(100)
    found = Learner(trigger_on="state", reward_on="state").learn(
        traces, effort=100_000, prove=RewardMachine("state", "state", 1)
    )
    assert (found.status, found.states, found.triggers) == ("optimal", *_optimum(traces))


def _optimum(traces: Traces) -> tuple[int | None, int | None]:
    truth = learn(traces, trigger_on="state", reward_on="state")
    return truth.states, truth.triggers
