"""Machines with guards that grow by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from guard_problems import draw_problem

from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.growth import Growth, first_machine, guard_bits
from markovize.learning.guards.judge import Judge
from markovize.learning.limits import Limits, Stop


@pytest.mark.parametrize("seed", range(20))
def test_machines_grow_by_a_literal_and_tell_more(seed: int) -> None:
    problem = draw_problem(np.random.default_rng(seed))
    growth, judge = Growth(problem, seed % 2 == 0, Limits()), Judge(problem)
    machines = list(growth.run())
    assert machines[0] == Candidate()
    assert [machine.size.literals for machine in machines] == list(range(len(machines)))
    for machine in machines:
        assert judge.try_out(machine).torn < 0
        outcomes = growth.bits(machine) - guard_bits(machine, problem) - 10 * machine.size.guards
        assert abs(outcomes) < 1e-6 if judge.explains(machine) else outcomes > 0


def test_most_tiny_machines_are_grown() -> None:
    found = 0
    for seed in range(40):
        problem = draw_problem(np.random.default_rng(seed))
        machine = first_machine(problem, Judge(problem), Limits(), acyclic=False)
        found += machine is not None
    assert found >= 20


def test_large_data_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = draw_problem(np.random.default_rng(1))
    monkeypatch.setattr("markovize.learning.guards.growth.MOST_STEPS", 5)
    assert Growth(problem, False, Limits()).problem.steps < problem.steps


def test_time_that_is_up_ends_it() -> None:
    problem = draw_problem(np.random.default_rng(1))
    with pytest.raises(Stop):
        list(Growth(problem, False, replace(Limits(), deadline=0.0)).run())
