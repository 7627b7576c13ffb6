"""The paper's integer program: each equation, known answers, both back ends, and the oracle."""

from __future__ import annotations

import math
import sys
import time
from typing import Literal

import numpy as np
import pytest
from instances import KINDS, Kinds, coffee, patrol, random_steps, two_coffees, walk

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.errors import EngineError, UnsupportedError
from markovize.learning.engines import gurobi, highs, ilp
from markovize.learning.engines.base import Answer, Rules, Verdict
from markovize.learning.engines.exhaustive import exhaustive_optimum, has_cycle
from markovize.learning.engines.ilp import Exemplar, IlpEngine, IlpSession, Model, Program, Row, Solution
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import build_tree

pytestmark = pytest.mark.slow

FEASIBLE, INFEASIBLE, UNKNOWN = Verdict.FEASIBLE, Verdict.INFEASIBLE, Verdict.UNKNOWN
Objective = Literal["states", "triggers"]


def opened(
    traces: Traces, *, acyclic: bool = True, backend: ilp.Backend = "highs", kinds: Kinds = ("state", "state")
) -> IlpSession:
    tree, _ = build_tree(label_traces(traces, *kinds))
    session = IlpEngine(backend).open(Rules(acyclic=acyclic))
    session.extend(tree, np.arange(len(tree), dtype=np.int32))
    return session


def deepened(session: IlpSession, objective: Objective) -> tuple[int, int]:
    """(K, z) by asking for one size after the other."""
    if objective == "states":
        states = 1
        while (answer := session.decide(states, None, Limits())).verdict is INFEASIBLE:
            states += 1
        assert answer.verdict is FEASIBLE and answer.least is not None
        return states, answer.least
    triggers = 0
    while session.decide(triggers + 1, triggers, Limits()).verdict is INFEASIBLE:
        triggers += 1
    states = 1
    while session.decide(states, triggers, Limits()).verdict is INFEASIBLE:
        states += 1
    return states, triggers


# --- the equations ----------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny() -> Program:
    """Two traces: labels 7, 8 with reward label 5 → outcome 0 at the end; label 8 alone with 5 → 1. K = 2."""
    traces = [Exemplar((7, 8), ((), ((5, 0),))), Exemplar((8,), (((5, 1), (6, 3)),))]
    return Program(traces, 2, acyclic=False)


def test_columns_are_numbered_without_gaps(tiny: Program) -> None:
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    o = [tiny.O(m, n, i, j) for m, n in [(0, 0), (0, 1), (1, 0)] for i, j in pairs]
    x = [tiny.I_x(label, i, j) for label in (7, 8) for i, j in pairs]
    y = [tiny.I_yr(5, r, i, j) for r in (0, 1) for i, j in pairs]
    assert o + x + y == list(range(tiny.size)) == list(range(28))


def test_objective_1_counts_moves_between_states(tiny: Program) -> None:
    assert ilp.objective_1(tiny) == [tiny.I_x(x, i, j) for x in (7, 8) for i, j in [(0, 1), (1, 0)]]


def test_one_mapping_2(tiny: Program) -> None:
    rows = list(ilp.one_mapping_2(tiny))
    assert rows == [Row([4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3], [1.0] * 4, 1, 1) for n in range(3)]


def test_initial_3(tiny: Program) -> None:
    rows = list(ilp.initial_3(tiny))
    assert rows == [Row([tiny.O(m, 0, 0, 0), tiny.O(m, 0, 0, 1)], [1.0, 1.0], 1, 1) for m in (0, 1)]


def test_continuity_4(tiny: Program) -> None:
    first, second = ilp.continuity_4(tiny)  # the only two steps in a row, for each of two states
    columns = [tiny.O(0, 0, 0, 0), tiny.O(0, 0, 1, 0), tiny.O(0, 1, 0, 0), tiny.O(0, 1, 0, 1)]
    assert first == Row(columns, [1.0, 1.0, -1.0, -1.0], 0, 0)
    assert second.columns == [tiny.O(0, 0, 0, 1), tiny.O(0, 0, 1, 1), tiny.O(0, 1, 1, 0), tiny.O(0, 1, 1, 1)]


def test_deterministic_triggers_5(tiny: Program) -> None:
    rows = list(ilp.deterministic_triggers_5(tiny))
    expected = [[tiny.I_x(x, i, 0), tiny.I_x(x, i, 1)] for x in (7, 8) for i in (0, 1)]
    assert [row.columns for row in rows] == expected
    assert all((row.coefficients, row.lower, row.upper) == ([1.0, 1.0], -math.inf, 1) for row in rows)


def test_deterministic_rewards_6_only_where_outcomes_differ(tiny: Program) -> None:
    rows = list(ilp.deterministic_rewards_6(tiny))  # reward label 6 has one outcome: no row
    assert [row.columns for row in rows] == [[tiny.I_yr(5, r, i, j) for r in (0, 1)] for i, j in tiny.pairs]
    assert all((row.coefficients, row.lower, row.upper) == ([1.0, 1.0], -math.inf, 1) for row in rows)


def test_indicators_7(tiny: Program) -> None:
    rows = list(ilp.indicators_7(tiny))
    steps = [(0, 0, 7), (0, 1, 8), (1, 0, 8)]
    expected = [[tiny.O(m, n, i, j), tiny.I_x(x, i, j)] for m, n, x in steps for i, j in tiny.pairs]
    assert [row.columns for row in rows] == expected
    assert all((row.coefficients, row.lower, row.upper) == ([1.0, -1.0], -math.inf, 0) for row in rows)


def test_indicators_8(tiny: Program) -> None:
    rows = list(ilp.indicators_8(tiny))
    steps = [(0, 1, 0), (1, 0, 1)]
    expected = [[tiny.O(m, n, i, j), tiny.I_yr(5, r, i, j)] for m, n, r in steps for i, j in tiny.pairs]
    assert [row.columns for row in rows] == expected
    assert all((row.coefficients, row.lower, row.upper) == ([1.0, -1.0], -math.inf, 0) for row in rows)


def test_binary_9(tiny: Program) -> None:
    assert ilp.binary_9(tiny).tolist() == [True] * 28


def test_whole_model_has_all_rows(tiny: Program) -> None:
    model = ilp.build(tiny)
    assert len(model.lower) == 3 + 2 + 2 + 4 + 4 + 12 + 8
    assert model.starts[-1] == len(model.columns) == len(model.coefficients)
    assert np.flatnonzero(model.objective).tolist() == ilp.objective_1(tiny)
    bounded = ilp.build(tiny, triggers=3)
    last = slice(bounded.starts[-2], bounded.starts[-1])
    assert bounded.columns[last].tolist() == ilp.objective_1(tiny) and bounded.upper[-1] == 3


def test_acyclic_has_no_variables_below_the_diagonal() -> None:
    program = Program([Exemplar((7, 7), ((), ()))], 3, acyclic=True)
    assert program.pairs == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert len(ilp.objective_1(program)) == 3
    assert [len(row.columns) for row in ilp.continuity_4(program)] == [1 + 3, 2 + 2, 3 + 1]


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["states", "triggers"])
@pytest.mark.parametrize("acyclic", [True, False])
def test_known_optima(objective: Objective, acyclic: bool) -> None:
    assert deepened(opened(coffee(), acyclic=acyclic), objective) == (2, 1)
    assert deepened(opened(two_coffees(), acyclic=acyclic), objective) == (2, 2)


def test_a_cycle_is_unrolled_if_machines_must_not_return() -> None:
    assert deepened(opened(patrol(2), acyclic=False), "triggers") == (2, 2)
    assert deepened(opened(patrol(2), acyclic=True), "triggers") == (5, 4)


def test_the_witness_moves_on_the_coffee() -> None:
    traces = coffee()
    answer = opened(traces).decide(2, None, Limits())
    assert answer == Answer(FEASIBLE, {(0, traces.observation_values.index(0)): 1}, answer.work, least=1)


def test_infeasible_is_infeasible() -> None:
    session = opened(two_coffees())
    assert session.decide(1, None, Limits()).verdict is INFEASIBLE
    assert session.decide(2, 1, Limits()).verdict is INFEASIBLE
    assert session.decide(3, 1, Limits()).verdict is INFEASIBLE
    assert session.decide(3, -1, Limits()).verdict is INFEASIBLE


def test_nothing_to_explain_needs_no_solver() -> None:
    session = opened(Traces.of([walk(1, 2)]))
    assert session.decide(1, None, Limits()) == Answer(FEASIBLE, {}, 0, 0)


def test_states_that_are_never_entered_are_dropped() -> None:
    answer = opened(coffee()).decide(4, None, Limits())
    assert answer.delta is not None and set(answer.delta.values()) == {1} and answer.least == 1


def test_exemplars_outlive_their_tree() -> None:
    """More episodes make another tree with other node numbers; the session knows its exemplars by label."""
    episodes = list(two_coffees())
    small, _ = build_tree(label_traces(Traces.of(episodes[:3]), "state", "state"))
    whole, _ = build_tree(label_traces(Traces.of(episodes), "state", "state"))
    session = IlpEngine().open(Rules(acyclic=True))
    session.extend(small, np.arange(len(small), dtype=np.int32))
    assert session.decide(2, None, Limits()).least == 1
    before = session.exemplars()
    session.extend(small, np.arange(len(small), dtype=np.int32))
    assert session.exemplars() == before
    session.extend(whole, whole.mark_node[-1:])  # a deepest mark, its ancestors come along
    session.extend(whole, whole.mark_node[:1])
    assert set(before) <= set(session.exemplars()) and len(session.exemplars()) == len(before) + 1
    assert session.decide(2, None, Limits()).least == 2


def test_exemplars_are_paths_to_leaves_with_all_marks() -> None:
    session = opened(coffee())
    cell = {value: at for at, value in enumerate(coffee().observation_values)}
    office = cell[2]
    assert {(trace.labels, trace.marks) for trace in session.exemplars()} == {
        ((cell[2], cell[1], cell[2]), (((office, 0),), (), ((office, 0),))),
        ((cell[0], cell[1], cell[2]), ((), (), ((office, 1),))),
    }


# --- what is not a proof is unknown -----------------------------------------------------------------------------------


@pytest.mark.parametrize("states", [1, 2, 3])
@pytest.mark.parametrize("triggers", [None, 1])
def test_no_time_left_is_unknown(states: int, triggers: int | None) -> None:
    limits = Limits(time.monotonic() - 1)
    session = opened(two_coffees())
    assert session.decide(states, triggers, limits).verdict is UNKNOWN
    model = ilp.build(Program(session.exemplars(), states, acyclic=True), triggers)
    assert highs.solve(model, limits) == Solution(UNKNOWN)


@pytest.fixture
def hard() -> IlpSession:
    """Feasible with 3 states by construction, but not soon."""
    rng = np.random.default_rng(5)
    return opened(random_steps(rng, labels=6, episodes=15, length=30, rewards=3, states=3), acyclic=False)


def test_running_out_of_time_is_never_infeasible(hard: IlpSession) -> None:
    start = time.monotonic()
    answer = hard.decide(5, None, Limits(start + 0.3))
    assert answer.verdict is not INFEASIBLE and answer.least is None
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("reason", [Stop, KeyboardInterrupt])
def test_an_interrupt_ends_the_solver(hard: IlpSession, reason: type[BaseException]) -> None:
    def pulse() -> None:
        raise reason

    start = time.monotonic()
    if reason is Stop:
        assert hard.decide(5, None, Limits(pulse=pulse)).verdict is UNKNOWN
    else:
        with pytest.raises(KeyboardInterrupt):
            hard.decide(5, None, Limits(pulse=pulse))
    assert time.monotonic() - start < 10
    assert opened(coffee()).decide(2, None, Limits()).least == 1  # the solver is usable again


def test_every_status_of_highs_but_two_is_unknown() -> None:
    highspy = pytest.importorskip("highspy")
    model = ilp.build(Program([Exemplar((7,), ((),))], 1, acyclic=True))

    class Info:
        mip_node_count = -1
        primal_solution_status = highspy.SolutionStatus.kSolutionStatusNone

    class Ended:
        def __init__(self, status: object) -> None:
            self.getModelStatus, self.getInfo = (lambda: status), Info

    statuses = highspy.HighsModelStatus.__members__
    assert {"kOptimal", "kInfeasible", "kTimeLimit", "kUnboundedOrInfeasible"} <= set(statuses)
    for name, status in statuses.items():
        verdict = highs._read(highspy, Ended(status), model).verdict
        assert verdict is (INFEASIBLE if name == "kInfeasible" else UNKNOWN), name


def test_fractions_are_not_a_solution(tiny: Program) -> None:
    model = ilp.build(tiny)
    near, far = np.full(tiny.size, 1e-7), np.full(tiny.size, 0.4)
    rounded = ilp.whole(model, near)
    assert rounded is not None and not rounded.any()
    assert ilp.whole(model, far) is None


def test_a_machine_that_fails_its_exemplars_is_an_error() -> None:
    def lies(model: Model, limits: Limits) -> Solution:  # noqa: ARG001
        return Solution(FEASIBLE, np.zeros(len(model.objective)), True)

    tree, _ = build_tree(label_traces(coffee(), "state", "state"))
    session = IlpSession(lies, acyclic=True)
    session.extend(tree, np.arange(len(tree), dtype=np.int32))
    with pytest.raises(EngineError, match="fails its exemplars"):
        session.decide(2, None, Limits())


# --- Gurobi -----------------------------------------------------------------------------------------------------------


def test_gurobi_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'markovize\[gurobi\]'"):
        opened(coffee(), backend="gurobi").decide(2, None, Limits())


def test_unknown_backend_is_named() -> None:
    with pytest.raises(UnsupportedError, match="'cplex'"):
        IlpEngine("cplex").open(Rules(acyclic=True))  # type: ignore[arg-type]


@pytest.mark.parametrize("acyclic", [True, False])
def test_gurobi_and_highs_agree(acyclic: bool, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gurobipy")
    rng = np.random.default_rng(8)
    cases = [coffee(), two_coffees(), patrol(1), *(random_steps(rng, acyclic=acyclic) for _ in range(6))]
    for traces in cases:
        one, other = (opened(traces, acyclic=acyclic, backend=name) for name in ("highs", "gurobi"))
        for objective in ("states", "triggers"):
            assert deepened(one, objective) == deepened(other, objective)
        assert other.decide(2, 0, Limits(time.monotonic() - 1)).verdict is UNKNOWN
    assert capfd.readouterr() == ("", "")  # neither announces itself


def test_gurobi_stops_when_told(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gurobipy")

    def pulse(reason: type[BaseException]) -> None:
        raise reason

    session = opened(patrol(2), acyclic=False, backend="gurobi")
    assert session.decide(2, 1, Limits(pulse=lambda: pulse(Stop))).verdict is UNKNOWN
    with pytest.raises(KeyboardInterrupt):
        session.decide(2, 1, Limits(pulse=lambda: pulse(KeyboardInterrupt)))
    assert capfd.readouterr() == ("", "")


def test_gurobi_free_licence_has_a_size(hard: IlpSession) -> None:
    pytest.importorskip("gurobipy")
    model = ilp.build(Program(hard.exemplars(), 2, acyclic=False))
    try:
        solution = gurobi.solve(model, Limits(time.monotonic() + 1))
    except UnsupportedError as error:
        assert "free licence stops at 2,000 variables" in str(error)
    else:
        assert solution.verdict in (FEASIBLE, INFEASIBLE, UNKNOWN)  # a full licence has none


# --- the oracle -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_trying_every_machine(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds, cyclic = KINDS[seed % 3], bool(seed % 2)
    traces = random_steps(
        rng, labels=int(rng.integers(2, 4)), episodes=5, length=4, rewards=2 + seed % 2, kinds=kinds, acyclic=not cyclic
    )
    steps = label_traces(traces, *kinds)
    for acyclic in (True, False):
        session = opened(traces, acyclic=acyclic, kinds=kinds)
        for objective in ("states", "triggers"):
            size = exhaustive_optimum(steps, objective, acyclic)
            assert deepened(session, objective) == size
            answer = session.decide(*size, Limits())
            assert answer.delta is not None and len(answer.delta) == size[1]
            assert not (acyclic and has_cycle(answer.delta))
