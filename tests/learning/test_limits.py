"""Limits: what is stopped stops soon, is not torn, and counted work ends what no clock may steer."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from instances import coffee, paid_by_history, two_coffees

from markovize import Learner, Traces, learn
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.engines.base import Rules, Verdict
from markovize.learning.engines.sat import SatEngine
from markovize.learning.interrupts import Interrupt
from markovize.learning.limits import Limits, Stop
from markovize.learning.native import run_cancellable
from markovize.learning.prefix_tree import PrefixTree, build_tree


def tree_of(traces: Traces) -> PrefixTree:
    return build_tree(label_traces(traces, "state", "state"))[0]


# --- native calls ------------------------------------------------------------------------------------------------


def test_a_native_call_is_cancelled_when_time_is_up() -> None:
    cancelled = threading.Event()
    start = time.monotonic()
    with pytest.raises(Stop):
        run_cancellable(lambda: cancelled.wait(30), cancelled.set, Limits(start + 0.1))
    assert time.monotonic() - start < 20
    assert cancelled.is_set()


def test_a_native_call_is_cancelled_by_any_exception_of_the_display() -> None:
    cancelled = threading.Event()

    def display() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_cancellable(lambda: cancelled.wait(30), cancelled.set, Limits(pulse=display))
    assert cancelled.is_set()


def test_an_exception_inside_a_native_call_comes_out() -> None:
    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_cancellable(fail, lambda: None, Limits())


# --- the default engine ------------------------------------------------------------------------------------------


class Countdown(Interrupt):
    """Asks to stop at its n-th look, and no more after that."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    @property
    def requested(self) -> bool:
        self.looks -= 1
        return self.looks == 0


@pytest.mark.parametrize("states", [2, 3, 4])
def test_a_formula_that_was_stopped_while_it_was_written_goes_on_later(
    states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is stopped, the answers after that are those of a session that never was."""
    monkeypatch.setattr("markovize.learning.engines.sat.CLAUSES", 1)  # a look before every portion
    tree = tree_of(paid_by_history(12, 4, 3))
    nodes = np.arange(len(tree), dtype=np.int32)
    questions = [(states, z) for z in (states - 1, states, states + 2, None)]
    undisturbed = SatEngine().open(Rules())
    undisturbed.extend(tree, nodes)
    expected = [undisturbed.decide(*question, Limits()).verdict for question in questions]
    stopped = 0
    for looks in range(1, 400, 23):
        session = SatEngine().open(Rules())
        for part in np.array_split(nodes, 2):
            session.extend(tree, part.astype(np.int32))
            for question in questions:
                try:
                    session.decide(*question, Limits(interrupt=Countdown(looks)))
                except Stop:
                    stopped += 1
        assert [session.decide(*question, Limits()).verdict for question in questions] == expected
    assert stopped > 10


def test_a_large_formula_is_solved_in_a_thread_with_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(two_coffees())
    nodes = np.arange(len(tree), dtype=np.int32)
    monkeypatch.setattr("markovize.learning.engines.sat.LARGE", 0)
    session = SatEngine().open(Rules())
    session.extend(tree, nodes)
    assert session.decide(2, 1, Limits()).verdict is Verdict.INFEASIBLE
    assert session.decide(2, 2, Limits()).verdict is Verdict.FEASIBLE


# --- whole searches ----------------------------------------------------------------------------------------------


def test_the_effort_bounds_the_last_resort_too() -> None:
    """Thousands of triggers: without a bound this took minutes. The same work gives the same machine."""
    traces = paid_by_history(300, 20, 4)
    start = time.process_time()
    first, second = (Learner().learn(traces, effort=20) for _ in range(2))
    assert time.process_time() - start < 20
    assert first.machine == second.machine
    assert first.status == "feasible"


def test_a_limit_that_is_over_before_the_tree_is_built_says_unknown_and_forgets_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = Learner()
    learner.learn(coffee())
    facts = learner._memory.facts
    monkeypatch.setattr("markovize.learning.limits.MOMENT", 0.0)
    result = learner.learn(two_coffees(), time_limit=1e-9)
    assert (result.status, result.machine, result.bounds) == ("unknown", None, (1, 0))
    assert learner._memory.facts is facts


@pytest.mark.parametrize("engine", ["sat", "ilp", "exhaustive"])
def test_limits_hold(engine: str) -> None:
    """Within a second on an idle machine; here, in processor time."""
    traces = paid_by_history(300, 20, 4)
    learn(coffee(), engine=engine)
    for limit in (0.05, 0.5):
        start = time.process_time()
        result = learn(traces, engine=engine, time_limit=limit)
        assert time.process_time() - start < limit + 1.0
        assert result.status == "feasible"
