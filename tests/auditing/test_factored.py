"""Logs whose observations have parts: the audit names the machine over them, or the command that finds it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from markovize import check_reward, describe
from markovize.auditing import factored

GUARDS = "`markovize learn EPISODES --trigger-on guards"


def walk(rng: random.Random, *, wobble: float = 0.0) -> tuple[list[dict[str, Any]], list[int], list[float]]:
    """Coffee, then office pays; both lie elsewhere in each episode."""
    things = dict(zip(rng.sample(range(6), 3), ("coffee", "office", "plant"), strict=True))
    cell, has_coffee = rng.randrange(6), False

    def seen() -> dict[str, Any]:
        return {"cell": cell + wobble * rng.random(), "here": things.get(cell, "nothing")}

    observations, actions, rewards = [seen()], [], []
    for _ in range(25):
        actions.append(rng.choice((-1, 1)))
        cell = min(5, max(0, cell + actions[-1]))
        here = things.get(cell)
        has_coffee = has_coffee or here == "coffee"
        observations.append(seen())
        rewards.append(float(has_coffee and here == "office"))
    return observations, actions, rewards


def walks(**how: float) -> list[Any]:
    rng = random.Random(1)
    return [walk(rng, **how) for _ in range(120)]


def test_objects_that_repeat_have_a_machine_over_their_parts() -> None:
    report = check_reward(walks())
    assert report.verdict == "history" and report.machine is not None
    assert describe(report.machine) == ["in state 0, here = coffee → state 1"]
    assert "report.machine" in report.advice


def test_where_no_such_machine_is_found_the_next_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factored, "LARGEST_MACHINE", 1)
    report = check_reward(walks())
    assert report.verdict == "history" and GUARDS in report.advice
    odd = walks()
    odd[0][0][3] = {"cell": [0, 0], "here": "nothing"}  # has other parts than the rest
    assert GUARDS in check_reward(odd).advice


def test_what_never_repeats_points_to_guards() -> None:
    report = check_reward(walks(wobble=0.9))
    assert report.verdict == "not-testable" and GUARDS in report.advice


def test_other_logs_are_reported_as_before() -> None:
    rooms = [(["hall", "office"], ["go"], [0]), (["coffee", "hall", "office"], ["go", "go"], [0, 1])]
    assert GUARDS not in check_reward(rooms).advice
