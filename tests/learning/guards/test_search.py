"""The search for guards: calls that follow each other, limits, and repeatability."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from guard_oracle import Instance, Walk, draw_instance
from guard_problems import problem_of

from markovize import InputError, Learner, LearnResult, Traces, learn, replay
from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.formula import Formula, Split
from markovize.learning.guards.judge import Judge
from markovize.learning.guards.levels import Question
from markovize.learning.guards.memory import digest
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.guards.search import FIRST_WORK, UNCOUNTED, GuardSearch
from markovize.learning.guards.shares import Share
from markovize.learning.limits import Limits
from markovize.learning.search import Progress
from markovize.learning.warm_up import warm_up


def size(result: LearnResult) -> tuple[object, ...]:
    return result.status, result.guards, result.literals, result.states


def as_bytes(result: LearnResult) -> str:
    said = result.to_json() | {"seconds": 0}
    return json.dumps([said, result.unwrap().to_json()])


def learner() -> Learner:
    return Learner(trigger_on="guards", before=False)


def afresh(traces: Traces, acyclic: bool = False) -> LearnResult:
    return learn(traces, trigger_on="guards", before=False, acyclic=acyclic, count_steps=True)


@pytest.mark.parametrize("seed", range(25))
def test_calls_with_more_or_other_episodes_give_what_a_fresh_call_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = draw_instance(rng), draw_instance(rng)
    warm = learner()
    for many in range(1, len(one.walks) + 1):
        traces = Instance(one.numeric, one.walks[:many]).traces()
        assert size(warm.learn(traces)) == size(afresh(traces))
    assert size(warm.learn(other.traces())) == size(afresh(other.traces()))  # what was remembered is of no use here
    back = Instance(one.numeric, one.walks[::-1]).traces()
    assert size(warm.learn(back)) == size(afresh(back))


def test_what_was_proven_of_some_episodes_is_not_proven_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of the same size explains more episodes, too: nothing smaller has to be excluded."""
    rng = np.random.default_rng(0)

    def walk(x: float, paid: bool) -> tuple[object, ...]:
        seen = [{"x": float(at), "y": float(rng.random())} for at in (5.0, x, 9.0)]
        return seen, ["go"] * 2, [0.0, float(paid)]

    episodes = [walk(x, x < 2) for x in rng.uniform(0, 5, 30)]
    warm = learner()
    first = warm.learn(Traces.of(episodes))
    assert (first.guards, first.literals) == (1, 1)
    episodes += [walk(x, x < 2) for x in rng.uniform(1.5, 2.5, 30)]  # the threshold is known better now
    refuted, refute = [], GuardSearch._refute

    def note(search: GuardSearch, question: Question, literals: int | None) -> None:
        refuted.append(question)
        refute(search, question, literals)

    monkeypatch.setattr(GuardSearch, "_refute", note)
    again = warm.learn(Traces.of(episodes))
    assert size(again) == size(first) and not refuted
    assert again.proof == first.proof.replace(f"{first.exemplars} exemplars", f"{again.exemplars} exemplars")
    assert replay(again.unwrap(), Traces.of(episodes)).mismatches == 0


def test_names_of_things_are_searched_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks with few features first are for many thresholds; with ten features of a few values they cost minutes."""
    ranked: list[GuardProblem] = []

    def rank(problem: GuardProblem) -> list[int]:
        ranked.append(problem)
        return [*range(9)]

    monkeypatch.setattr("markovize.learning.guards.search.rank_features", rank)
    rng = np.random.default_rng(0)

    def walk(value: Callable[[], object]) -> tuple[object, ...]:
        seen = [{f"f{n}": value() for n in range(9)} for _ in range(3)]
        return seen, ["go"] * 2, [0.0, float(str(seen[1]["f0"]) < "0.5")]

    names = learn(Traces.of([walk(lambda: str(rng.integers(2))) for _ in range(40)]), trigger_on="guards")
    assert size(names) == ("optimal", 1, 1, 2) and not ranked
    learn(Traces.of([walk(rng.random) for _ in range(40)]), trigger_on="guards", time_limit=5)
    assert ranked


def test_levels_that_come_up_later_begin_with_little_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turns of the levels below would be wasted on questions without a bound on literals."""
    turns, take = list[tuple[int, int]](), GuardSearch._take_turns
    seen = Counter[int]()

    def note(search: GuardSearch, level: int, work: int) -> None:
        turns.append((level, work))
        seen[level] += 1
        if seen[level] > 2:  # before that, every level is hard
            take(search, level, work)

    monkeypatch.setattr(GuardSearch, "_take_turns", note)
    search = GuardSearch(_two_guards(), Limits())
    search.run()
    assert search.is_proven and search.size is not None and search.size.guards == 2
    assert turns == [(level, FIRST_WORK * 2**turn) for level in (1, 2) for turn in range(3)]


def test_a_quarter_of_the_work_goes_without_a_bound_on_literals(monkeypatch: pytest.MonkeyPatch) -> None:
    search = GuardSearch(_two_guards(), Limits())
    search.run()
    assert search.best is not None
    asked, solve = list[bool](), Formula.solve

    def note(formula: Formula, literals: int | Share | None, work: int, limits: Limits) -> Candidate | bool | None:
        asked.append(literals is None)
        return solve(formula, literals, work, limits)

    monkeypatch.setattr(Formula, "solve", note)
    for spent, wanted in (FIRST_WORK // UNCOUNTED - 1, True), (FIRST_WORK // UNCOUNTED, False):
        question = Question(Split(2, 2, 0), any_work=spent)
        asked.clear()
        search._close(question, 2, FIRST_WORK)
        question.close()
        assert asked and any(asked) is wanted
        assert question.any_work > spent or not wanted


def _two_guards() -> GuardProblem:
    """Paid at tea after coffee; names of things alone."""
    rng = np.random.default_rng(0)
    walks = list[Walk]()
    for _ in range(60):
        here = rng.choice(["tea", "coffee", "nothing"], 6).tolist()
        walks.append([((name, "a"), float(name == "tea" and "coffee" in here[:n])) for n, name in enumerate(here)])
    return problem_of(Instance((False, False), walks))


def test_other_episodes_are_told_by_their_digest() -> None:
    def of(*walks: tuple[str, float]) -> GuardProblem:
        return problem_of(Instance((False, False), [[((here, "a"), reward)] for here, reward in walks]))

    known = digest(of(("tea", 0.0), ("mail", 1.0)), 2)
    assert digest(of(("tea", 0.0), ("mail", 1.0), ("coffee", 2.0)), 2) == known  # which renumbers values and outcomes
    assert digest(of(("tea", 0.0), ("mail", 1.0)), 1) != known
    assert digest(of(("tea", 0.0), ("mail", 0.0), ("mail", 1.0)), 2) != known
    assert digest(of(("tea", 0.0), ("tea", 1.0), ("mail", 1.0)), 2) != known


@pytest.mark.parametrize("seed", range(10))
def test_equal_input_gives_equal_bytes(seed: int) -> None:
    traces = draw_instance(np.random.default_rng(seed)).traces()
    assert as_bytes(afresh(traces)) == as_bytes(afresh(traces))
    assert afresh(traces).unwrap().to_json() == learner().learn(traces).unwrap().to_json()


@pytest.mark.parametrize("seed", range(25))
def test_bounds_are_never_above_the_optimum(seed: int) -> None:
    traces = draw_instance(np.random.default_rng(seed)).traces()
    best = afresh(traces)
    assert best.guards is not None and best.literals is not None
    optimum = best.guards, best.literals
    for limits in ({"effort": 1}, {"effort": 25}, {"time_limit": 0.001}, {"time_limit": 0.003}):
        result = learner().learn(traces, **limits)
        assert result.guard_bounds is not None and result.guard_bounds <= optimum
        assert result.status in ("optimal", "feasible", "unknown")
        if result.machine is not None:
            assert (result.guards, result.literals) >= optimum
            assert replay(result.machine, traces).mismatches == 0
        else:
            assert (result.status, result.guards, result.proof) == ("unknown", None, "")


@pytest.mark.parametrize("seed", range(12))
def test_with_all_steps_as_exemplars_a_formula_is_the_whole_truth(seed: int) -> None:
    instance = draw_instance(np.random.default_rng(seed))
    problem, best = problem_of(instance), afresh(instance.traces())
    assert best.guards is not None and best.literals is not None
    for triggers in range(best.guards + 1):
        for states in range(min(triggers, 1) + 1, triggers + 2):
            split = Split(states, triggers, best.guards - triggers)
            formula = Formula(problem, split, acyclic=False)
            for step in range(problem.steps):
                formula.add_exemplar(step)
            fewer = formula.solve(best.literals - 1, 10_000, Limits()) if best.literals else False
            assert fewer is False
            found = formula.solve(best.literals, 10_000, Limits())
            formula.close()
            if not isinstance(found, bool) and found is not None:
                assert Judge(problem).explains(found)
                assert found.size.literals <= best.literals


def hard() -> Traces:
    """Rewards by the order of many events, so that nobody is done soon."""
    rng = np.random.default_rng(0)
    seen = rng.random((60, 31, 4))
    paid = (np.cumsum(seen[:, 1:, 0] > 0.9, axis=1) * 7 + np.cumsum(seen[:, 1:, 1] > 0.9, axis=1) * 3) % 5 == 4
    return Traces.of(
        [(walk.tolist(), [0] * 30, rewards.astype(float).tolist()) for walk, rewards in zip(seen, paid, strict=True)]
    )


def test_a_time_limit_holds_and_progress_is_told() -> None:
    told: list[Progress] = []
    start = time.monotonic()
    result = learn(hard(), trigger_on="guards", time_limit=1.5, on_progress=told.append, count_steps=True)
    assert time.monotonic() - start < 6  # compiling aside, a second more at the most; machines are busy
    assert result.status in ("unknown", "feasible") and not result.interrupted
    assert told and "guards: " in told[-1].sentence(1.0)


def test_ctrl_c_keeps_what_is_known() -> None:
    warm_up()
    press = threading.Timer(0.7, signal.raise_signal, [signal.SIGINT])
    press.start()
    result = learn(hard(), trigger_on="guards", time_limit=20, count_steps=True)
    press.join()
    assert result.interrupted and result.status in ("unknown", "feasible")
    assert result.guard_bounds is not None and result.guard_bounds[0] >= 1


def test_features_of_s_where_nothing_else_explains() -> None:
    doors = Traces.of(
        [
            ([{"door": "left"}, {"door": "none"}, {"door": "goal"}], ["go", "go"], [0, 1]),
            ([{"door": "right"}, {"door": "none"}, {"door": "goal"}], ["go", "go"], [0, 0]),
        ]
    )
    result = learn(doors)
    assert result.status == "optimal"
    assert [feature.name for feature in result.unwrap().features] == ["before.door"]
    assert any("features of the state before the step were added" in remark for remark in result.remarks)
    assert learn(doors, before=False).status == "unrealisable"


def test_ends_of_episodes_are_explained_too() -> None:
    walks = [([{"x": 0.5}, {"x": at}], ["go"], [0], at > 0.6) for at in (0.1, 0.3, 0.55, 0.7, 0.9)]
    assert learn(walks).guards == 0
    result = learn(walks, explain="reward+termination")
    assert (result.guards, result.literals) == (1, 1)
    assert [emission.terminal for emission in result.unwrap().rewards] == [False, True]


def test_rewards_by_a_kind_of_labels_or_a_function() -> None:
    rng = np.random.default_rng(0)
    walks = []
    for _ in range(40):
        seen = [(int(room), float(x)) for room, x in zip(rng.integers(0, 3, 9), rng.random(9), strict=True)]
        armed = np.cumsum([x > 0.7 for _, x in seen[1:]]) > 0
        walks.append((seen, [0] * 8, [float(room * on) for (room, _), on in zip(seen[1:], armed, strict=True)]))

    def room_of(_s: object, _a: object, after: tuple[int, float]) -> int:
        return after[0]

    result = learn(walks, trigger_on="guards", reward_on=room_of)
    assert size(result) == ("optimal", 1, 1, 2)
    assert replay(result.unwrap(), walks, reward_on=room_of).mismatches == 0
    exact = learn(walks, trigger_on="guards", reward_on="state")  # every state is seen once: nothing is to be explained
    assert (exact.guards, exact.reward_on) == (0, "state")
    with pytest.raises(InputError, match="not 'no-such-kind'"):
        learn(walks, trigger_on="guards", reward_on="no-such-kind")


def test_features_that_cannot_explain_the_rewards_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many features a few are looked at first; where these leave contradictions, no number of guards would do."""
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(60, 5, 7)).tolist()
    paid = [[float((a + b + c) % 2) for a, b, c, *_ in walk[1:]] for walk in bits]
    traces = Traces.of([(walk, ["go"] * 4, rewards) for walk, rewards in zip(bits, paid, strict=True)])
    searched: list[int] = []
    run = GuardSearch.run

    def watched(search: GuardSearch) -> None:
        assert search.problem.is_realisable
        searched.append(search.problem.n_features)
        run(search)

    monkeypatch.setattr(GuardSearch, "run", watched)
    result = learn(traces, trigger_on="guards", before=False)
    assert size(result) == ("optimal", 3, 3, 1)
    assert searched[0] == 7 and 2 not in searched
