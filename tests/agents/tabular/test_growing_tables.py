"""Tables that grow with what is met: at every step where they can, and in environments that show ever more."""

from __future__ import annotations

import contextlib
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from other_worlds import DriftingPosition

from markovize.agents.tabular import ActiveLearner, RunResult, Settings, agent, runners
from markovize.errors import UnrealisableError
from markovize.runs import write_run


def make(name: str) -> gym.Env[Any, Any]:
    if name == "drift":
        return DriftingPosition()
    if name == "taxi":
        name = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"
    return gym.make(name)


def run(name: str, episodes: int, **changes: Any) -> RunResult:
    return ActiveLearner(make(name), Settings.of(episodes=episodes, **changes)).run()


def check_tables(result: RunResult) -> None:
    """Every observation has a row, in every state of the machine, and a value for each action."""
    assert result.q.shape == (result.machine.states, len(result.observations), len(result.actions))
    assert len(list(result.q_rows())) == result.q.size
    assert np.isfinite(result.q).all()


@pytest.mark.parametrize("episodes", [20, 53, 80])
def test_a_position_that_drifts(episodes: int, tmp_path: Any) -> None:
    result = run("drift", episodes)
    check_tables(result)
    write_run(tmp_path / "run", "drift", {}, result)


def test_evaluation_adds_nothing_to_the_tables() -> None:
    result = run("drift", 20)
    assert len(result.observations) <= 20 * 21  # the starts and steps of the episodes; evaluation has 2,000 more


def test_blackjack() -> None:
    # drawing on one history pays and loses by chance: no machine explains Blackjack, so only the first episodes
    check_tables(run("Blackjack-v1", 2))


def test_growth_at_every_step_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """From room for a single state and transition on, against room for all at once."""
    results = []
    for room in ((1, 1), (1, 4_096), (4_096, 1), (4_096, 4_096)):
        monkeypatch.setattr(runners, "STATES", room[0])
        monkeypatch.setattr(runners, "TRANSITIONS", room[1])
        results.append(run("drift", 12, seed=3))
    for result in results:
        check_tables(result)
        assert result.observations == results[0].observations
        assert np.array_equal(result.returns, results[0].returns)
        assert np.array_equal(result.q, results[0].q)


@pytest.mark.parametrize("name", ["drift", pytest.param("taxi", marks=pytest.mark.long)])
def test_growth_by_no_more_than_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every observation and every transition that is new makes all tables grow."""
    roomy = run(name, 3, seed=3)
    monkeypatch.setattr(runners, "STATES", 1)
    monkeypatch.setattr(runners, "TRANSITIONS", 1)
    monkeypatch.setattr(agent, "_double_until", max)
    tight = run(name, 3, seed=3)
    check_tables(tight)
    assert tight.observations == roomy.observations
    assert np.array_equal(tight.returns, roomy.returns)
    assert np.array_equal(tight.q, roomy.q)


@pytest.mark.long
@pytest.mark.parametrize("episodes", range(1, 81, 4))
def test_blackjack_over_many_lengths(episodes: int) -> None:
    """Its reward is random: the run ends with an error that says so, or before; its tables fit at any moment."""
    learner = ActiveLearner(make("Blackjack-v1"), Settings.of(episodes=episodes))
    with contextlib.suppress(UnrealisableError):
        learner.run()
    check_tables(learner.so_far())


@pytest.mark.long
@pytest.mark.parametrize("name", ["taxi", "drift"])
@pytest.mark.parametrize("episodes", range(1, 81, 4))
def test_many_lengths(name: str, episodes: int, tmp_path: Any) -> None:
    result = run(name, episodes)
    check_tables(result)
    write_run(tmp_path / "run", name, {}, result)
