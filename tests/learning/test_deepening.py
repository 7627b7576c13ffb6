"""Engines that lie: a failure is never turned into a bigger machine or a false "optimal"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from instances import coffee, patrol, random_steps, two_coffees

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Ints, Traces
from markovize.errors import EngineError
from markovize.learning.engines import Answer, Rules, Verdict, find_engine
from markovize.learning.engines.base import Session
from markovize.learning.engines.exhaustive import exhaustive_optimum
from markovize.learning.entry import learn
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.floors import Proven
from markovize.learning.inquiry import Goal, Inquiry
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import PrefixTree, build_tree
from markovize.learning.search import Deepening, Progress
from markovize.machine.replay import replay

Lie = Callable[[Session, int, int | None, Limits], Answer]


class FakeEngine:
    """Answers as it is told to; behind it sits an honest engine that a lie may consult."""

    def __init__(self, lie: Lie, name: str = "fake") -> None:
        self.lie, self.name = lie, name

    def open(self, rules: Rules) -> FakeSession:
        return FakeSession(self.lie, find_engine("sat").open(rules))


class FakeSession:
    def __init__(self, lie: Lie, honest: Session) -> None:
        self.lie, self.honest = lie, honest

    def extend(self, tree: PrefixTree, nodes: Ints) -> None:
        self.honest.extend(tree, nodes)

    def decide(self, states: int, triggers: int | None, limits: Limits) -> Answer:
        return self.lie(self.honest, states, triggers, limits)


def always(answer: Answer) -> Lie:
    return lambda _session, _states, _triggers, _limits: answer


def infeasible_below(states: int) -> Lie:
    """Calls everything with fewer states infeasible, and is honest about the rest."""

    def lie(session: Session, k: int, z: int | None, limits: Limits) -> Answer:
        return Answer(Verdict.INFEASIBLE) if k < states else session.decide(k, z, limits)

    return lie


def no_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a first machine the engine is all there is."""
    monkeypatch.setattr("markovize.learning.search.first_machine", lambda *_, **__: None)


def test_an_honest_engine_under_another_name_is_audited_and_passes() -> None:
    honest = FakeEngine(lambda session, k, z, limits: session.decide(k, z, limits))
    result = learn(two_coffees(), engine=honest)
    assert (result.status, result.states, result.triggers, result.engine) == ("optimal", 2, 2, "fake")


@pytest.mark.parametrize("objective", ["triggers", "states"])
def test_time_outs_never_become_optimal_or_infeasible(objective: str, monkeypatch: pytest.MonkeyPatch) -> None:
    no_greedy(monkeypatch)
    gives_up = FakeEngine(always(Answer(Verdict.UNKNOWN)))
    spelled_out = learn(two_coffees(), engine=gives_up, objective=objective)  # type: ignore[arg-type]
    assert spelled_out.status == "feasible"  # the prefix tree itself
    assert replay(spelled_out.unwrap(), two_coffees()).mismatches == 0
    monkeypatch.setattr("markovize.learning.search.MOST_TABLE", 0)
    result = learn(two_coffees(), engine=gives_up, objective=objective)  # type: ignore[arg-type]
    assert result.status == "unknown"
    assert result.machine is None
    assert result.bounds == spelled_out.bounds == (2, 1)  # what the conflict itself shows, and no more


def test_time_outs_leave_the_first_machine_as_feasible() -> None:
    result = learn(two_coffees(), engine=FakeEngine(always(Answer(Verdict.UNKNOWN))))
    assert result.status == "feasible"
    assert result.machine is not None
    assert result.bounds == (2, 1)


@pytest.mark.parametrize("objective", ["triggers", "states"])
@pytest.mark.parametrize("with_greedy", [True, False])
def test_a_false_infeasible_is_an_error_not_a_bigger_machine(
    objective: str, with_greedy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not with_greedy:
        no_greedy(monkeypatch)
    with pytest.raises(EngineError):
        learn(two_coffees(), engine=FakeEngine(infeasible_below(3)), objective=objective)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(25))
def test_no_lie_about_infeasibility_survives_as_optimal(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random lies on random instances: the outcome is the truth or an error."""
    no_greedy(monkeypatch)
    rng = np.random.default_rng(seed)
    traces = random_steps(rng)
    truth = exhaustive_optimum(label_traces(traces, "state", "state"), "triggers", False)

    def lie(session: Session, k: int, z: int | None, limits: Limits) -> Answer:
        return Answer(Verdict.INFEASIBLE) if rng.random() < 0.4 else session.decide(k, z, limits)

    try:
        result = learn(traces, engine=FakeEngine(lie), trigger_on="state", reward_on="state")
    except EngineError:
        return
    assert result.status == "optimal"
    assert (result.states, result.triggers) == truth


@pytest.mark.parametrize(
    "garbage",
    [
        None,
        "a machine",
        {(0, 0): 7},
        {(0, 999): 1},
        {(0, 1): "1"},
        {(0, 0): 1, (1, 0): 0},
        {(0, 0): 1, (0, 1): 1, (0, 2): 1},
        {},
    ],
    ids=["nothing", "text", "no such state", "no such label", "not a number", "cyclic", "too many", "empty"],
)
def test_garbage_is_an_error(garbage: object, monkeypatch: pytest.MonkeyPatch) -> None:
    no_greedy(monkeypatch)
    answer = Answer(Verdict.FEASIBLE, garbage)  # type: ignore[arg-type]
    with pytest.raises(EngineError):
        learn(coffee(), engine=FakeEngine(always(answer)), acyclic=True)


def test_a_false_least_is_not_believed_without_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may claim that no machine has fewer triggers; a stranger's claim proves nothing."""
    no_greedy(monkeypatch)

    def lie(session: Session, _k: int, _z: int | None, limits: Limits) -> Answer:
        found = session.decide(2, 3, limits)
        return Answer(found.verdict, found.delta, least=3)

    result_or_error: object
    try:
        result_or_error = learn(two_coffees(), engine=FakeEngine(lie)).triggers
    except EngineError as error:
        result_or_error = error
    assert result_or_error == 2 or isinstance(result_or_error, EngineError)


def test_a_claim_that_a_known_machine_refutes_is_an_error_even_from_a_trusted_engine() -> None:
    tree = build_tree(label_traces(two_coffees(), "state", "state"))[0]
    search = Deepening(tree, ExemplarSets(FakeEngine(always(Answer(Verdict.INFEASIBLE)), name="sat")), Goal())
    search.run()
    with pytest.raises(EngineError, match="a machine with 2 is known"):
        search._ask(2, None, 1_000)


def test_proofs_that_leave_a_machine_which_shrinks_by_hand_are_wrong() -> None:
    """Three states where two do: found again by merging two and replaying, whatever the engine called proven."""
    traces = two_coffees()
    tree = build_tree(label_traces(traces, "state", "state"))[0]
    inquiry = Inquiry(tree, ExemplarSets(find_engine("sat")), Goal(), Proven())
    label = {cell: n for n, cell in enumerate(traces.observation_values)}
    inquiry.best = {(0, label[0]): 1, (0, label[4]): 2}
    assert inquiry.judge.explains(inquiry.best)
    with pytest.raises(EngineError, match="still fits"):
        inquiry.check_minimal(Limits())


def test_progress_reports_the_question_and_the_bounds() -> None:
    seen: list[Progress] = []
    tree = build_tree(label_traces(patrol(3), "state", "state"))[0]
    exemplars = ExemplarSets(find_engine("sat"), acyclic=True)
    search = Deepening(tree, exemplars, Goal(acyclic=True), on_progress=seen.append)
    assert search.run()
    assert seen[-1].best is not None
    assert seen[-1].exemplars == len(exemplars.nodes) > 0
    lower = [progress.lower for progress in seen]
    assert lower == sorted(lower, key=lambda bound: bound[1])


def test_interrupt_keeps_the_best_machine_and_says_so(ctrl_c: Callable[[], None]) -> None:
    def lie(session: Session, k: int, z: int | None, limits: Limits) -> Answer:
        ctrl_c()
        return session.decide(k, z, limits)

    result = learn(two_coffees(), engine=FakeEngine(lie))
    assert result.interrupted
    assert result.status == "feasible"
    assert not learn(two_coffees()).interrupted


def test_a_second_ctrl_c_ends_everything(ctrl_c: Callable[[], None]) -> None:
    def lie(_session: Session, _k: int, _z: int | None, _limits: Limits) -> Answer:
        ctrl_c()
        ctrl_c()
        pytest.fail("went on after the second")

    with pytest.raises(KeyboardInterrupt):
        learn(two_coffees(), engine=FakeEngine(lie))


def test_a_time_limit_stops_the_real_engine_with_bounds() -> None:
    rng = np.random.default_rng(3)
    episodes = [
        ([0, 100 + n, *rng.integers(0, 30, 38).tolist()], [0] * 39, rng.integers(0, 2, 39).tolist()) for n in range(60)
    ]
    result = learn(Traces.of(episodes), trigger_on="state", reward_on="state", time_limit=0.5)
    assert result.status in ("feasible", "unknown")
    assert result.bounds[0] >= 2
