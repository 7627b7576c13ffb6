"""The oracle itself, on instances whose answers are known by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest
from instances import KINDS, Kinds, coffee, patrol, random_steps, two_coffees, walk

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.errors import InputError
from markovize.learning.engines.base import Rules, Verdict
from markovize.learning.engines.exhaustive import ExhaustiveEngine, Step, exhaustive_optimum, find_machine, has_cycle
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import build_tree, find_contradiction


def optimum(traces: Traces, objective: str = "states", acyclic: bool = True) -> tuple[int, int]:
    steps = label_traces(traces, "state", "state")
    return exhaustive_optimum(steps, "states" if objective == "states" else "triggers", acyclic)


@pytest.mark.parametrize("objective", ["states", "triggers"])
@pytest.mark.parametrize("acyclic", [True, False])
def test_known_optima(objective: str, acyclic: bool) -> None:
    assert optimum(coffee(), objective, acyclic) == (2, 1)
    assert optimum(two_coffees(), objective, acyclic) == (2, 2)
    assert optimum(Traces.of([walk(1, 2, pays=(1.0,))]), objective, acyclic) == (1, 0)


def test_a_cycle_is_unrolled_if_machines_must_not_return() -> None:
    assert optimum(patrol(2), "triggers", acyclic=False) == (2, 2)
    assert optimum(patrol(2), "states", acyclic=False) == (2, 2)
    assert [optimum(patrol(rounds), "triggers", acyclic=True) for rounds in (1, 2)] == [(3, 2), (5, 4)]


def test_objectives_can_disagree() -> None:
    """Fewest states and fewest triggers are different questions: somewhere among small instances they part."""
    rng = np.random.default_rng(3)
    found = set()
    for _ in range(200):
        steps = label_traces(random_steps(rng, labels=3, episodes=5, length=4), "state", "state")
        a, b = (exhaustive_optimum(steps, objective, False) for objective in ("states", "triggers"))
        assert a[0] <= b[0] and b[1] <= a[1]
        found.add(a == b)
    assert found == {True, False}


def test_unrealisable_steps_are_refused() -> None:
    with pytest.raises(InputError, match="no machine"):
        optimum(Traces.of([walk(1, 2), walk(1, 2, pays=(1.0,))]))


def test_an_edge_between_used_states_counts_as_a_trigger() -> None:
    # Label 0 moves 0 → 1, label 1 must move 1 back: z = 2 whatever the number of states.
    steps = [Step(-1, 0, ((9, 0),)), Step(0, 0, ((9, 1),)), Step(1, 1, ()), Step(2, 0, ((9, 0),))]
    assert find_machine(steps, 3, 1, acyclic=False) is None
    found = find_machine(steps, 3, 2, acyclic=False)
    assert found is not None and len(found) == 2


def test_cycles_are_found_in_the_graph_not_in_the_numbers() -> None:
    assert not has_cycle({(0, 0): 2, (2, 0): 1})
    assert has_cycle({(0, 0): 2, (2, 0): 1, (1, 5): 2})


def test_session_answers() -> None:
    tree, _ = build_tree(label_traces(two_coffees(), "state", "state"))
    session = ExhaustiveEngine().open(Rules(acyclic=True))
    assert session.decide(1, 0, Limits()).verdict is Verdict.FEASIBLE  # nothing to explain yet
    session.extend(tree, np.arange(len(tree), dtype=np.int32))
    assert session.decide(1, None, Limits()).verdict is Verdict.INFEASIBLE
    assert session.decide(2, 1, Limits()).verdict is Verdict.INFEASIBLE
    answer = session.decide(2, 2, Limits())
    assert answer.verdict is Verdict.FEASIBLE and answer.delta is not None and len(answer.delta) == 2


def test_limits_give_unknown() -> None:
    tree, _ = build_tree(label_traces(two_coffees(), "state", "state"))
    session = ExhaustiveEngine().open(Rules(acyclic=True))
    session.extend(tree, np.arange(len(tree), dtype=np.int32))
    assert session.decide(1, None, Limits(time.monotonic() - 1)).verdict is Verdict.UNKNOWN
    assert session.decide(2, 1, Limits(work=1)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("kinds", KINDS)
def test_random_instances_are_realisable(kinds: Kinds) -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        traces = random_steps(rng, kinds=kinds, rewards=3)
        steps = label_traces(traces, *kinds)
        assert find_contradiction(steps, build_tree(steps)[1], traces) is None
