"""What is proven: floors order the questions, and exclude what they should."""

from __future__ import annotations

import math

import pytest

from markovize.learning.floors import Floors, Objective, Proven, in_order


def test_questions_come_in_the_order_of_the_objective() -> None:
    floors = Floors()
    assert floors.next_question("triggers") == (2, 1)
    floors = floors.without(2, 1)
    assert floors.next_question("triggers") == (2, 2)  # two states, ahead of three with as many triggers
    floors = floors.without(2, 2)
    assert floors.next_question("triggers") == (3, 2)
    assert floors.next_question("states") == (2, 3)
    floors = floors.without(2, None)
    assert floors.at(2) == math.inf
    assert floors.next_question("states") == (3, 2)
    assert not floors.prove("triggers", (3, 3))
    assert floors.prove("states", (3, 2))


@pytest.mark.parametrize("objective", ["triggers", "states"])
def test_an_optimum_excludes_what_is_better_and_nothing_else(objective: Objective) -> None:
    for states in range(2, 6):
        for triggers in range(states - 1, 8):
            floors = Floors().without_better_than(objective, (states, triggers))
            assert floors.next_question(objective) == (states, triggers)
            for k in range(2, 9):
                for z in range(k - 1, 10):
                    better = in_order(objective, (k, z)) < in_order(objective, (states, triggers))
                    assert (floors.at(k) > z) == better


def test_facts_are_values() -> None:
    before = Proven()
    after = before.with_infeasible(2, None).with_optimum("states", (4, 3))
    assert (before.floors.at(2), before.questions) == (1, ())
    assert (after.floors.at(2), after.floors.at(3), after.questions) == (math.inf, math.inf, ((2, None),))
