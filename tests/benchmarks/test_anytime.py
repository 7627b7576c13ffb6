"""What the table of early machines and the one of large alphabets say is so of the instances they draw."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from markovize import learn, replay

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(params=["anytime", "alphabets"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module(request.param)


@pytest.mark.parametrize("module", ["anytime"], indirect=True)
def test_the_best_machine_after_a_share_of_the_time(module: ModuleType) -> None:
    found = module.Found
    course = module.Course([found(0.5, 12, 30), found(1.0, 10, 24), found(8.0, 10, 20)], 10.0, True)
    assert course.at(0.01) is None
    assert course.at(0.1) == (1.0, 10, 24) and course.at(0.5) == (1.0, 10, 24) and course.at(1.0) == (8.0, 10, 20)
    assert course.is_good("states") and course.is_good("triggers")
    assert not course._replace(seconds=9.0).is_good("triggers"), "24 triggers came after a tenth of the time"


@pytest.mark.parametrize("module", ["anytime"], indirect=True)
def test_a_search_is_followed_to_its_proof(module: ModuleType) -> None:
    sample = importlib.import_module("words").draw(4, 1)
    course = module.follow(sample.traces(), "states", False, 60.0)
    assert course.proven and course.machines[-1].states == 4
    assert [m.seconds for m in course.machines] == sorted(m.seconds for m in course.machines)


@pytest.mark.parametrize("module", ["alphabets"], indirect=True)
def test_walks_are_paid_by_the_machine_behind_them(module: ModuleType) -> None:
    behind = module.draw(100, 3, np.random.default_rng(1))
    walks = behind.walks(np.random.default_rng(2))
    again = behind.walks(np.random.default_rng(2))
    assert walks.steps == module.WALKS * module.LENGTH and walks.rewards.tolist() == again.rewards.tolist()
    assert len(behind.triggers) >= behind.states - 1
    found = learn(walks, trigger_on="state", reward_on="state")
    assert found.status == "optimal" and found.triggers is not None and found.triggers <= len(behind.triggers)
    assert not replay(found.unwrap(), walks).mismatches
