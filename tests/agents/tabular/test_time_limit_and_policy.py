"""A run that ends when its time is up, and what its result can do."""

from __future__ import annotations

import time

import gymnasium as gym
import numpy as np
import pytest
from other_worlds import TwelveCells

from markovize.agents.tabular import ActiveLearner, Settings
from markovize.agents.tabular.evaluation import interval_of_mean
from markovize.errors import InputError
from markovize.machine.replay import replay


@pytest.mark.parametrize("compiled", [True, False])
def test_a_run_ends_with_what_it_has_found_when_time_is_up(compiled: bool) -> None:
    env = gym.make("markovize/OfficeWorld-v0", task="c")
    learner = ActiveLearner(env, Settings.of(episodes=10_000_000), compiled=compiled)
    began = time.monotonic()
    result = learner.run(time_limit=1.0)
    assert time.monotonic() - began < 4.0
    assert result.stopped == "time limit"
    assert result.to_json()["stopped"] == "time limit"
    assert 0 < result.episodes == len(result.returns) < 10_000_000
    assert replay(result.machine, result.kept).mismatches == 0


def test_a_run_within_its_limit_is_not_stopped() -> None:
    env = gym.make("markovize/BreakfastWorld-v0", task="b")
    result = ActiveLearner(env, Settings.of(episodes=60)).run(time_limit=600.0)
    assert (result.stopped, "stopped" in result.to_json()) == ("", False)


def test_limits_are_positive() -> None:
    with pytest.raises(InputError, match="time limit must be positive"):
        ActiveLearner(TwelveCells(), Settings.of(episodes=5)).run(time_limit=0)


def test_searches_say_what_they_do() -> None:
    said: set[str] = set()
    settings = Settings.of(episodes=250, seed=1)
    ActiveLearner(TwelveCells(), settings, on_progress=lambda now: said.add(now.doing)).run()
    assert any(words.startswith("learning a machine (state/state)") for words in said)


def test_the_policy_earns_what_the_result_says() -> None:
    env = TwelveCells()
    result = ActiveLearner(env, Settings.of(episodes=400, seed=1)).run()
    earned = []
    for seed in range(20):
        (observation, _), u, over = env.reset(seed=seed), 0, False
        total = 0.0
        while not over:
            action = result.act(observation, u)
            before = observation
            observation, reward, terminated, truncated, _ = env.step(action)
            u = result.policy.next_state(u, before, action, observation)
            total, over = total + reward, terminated or truncated
        earned.append(total)
    assert np.mean(earned) == result.greedy_return == 1.0
    assert result.greedy_interval == (1.0, 1.0)


def test_an_observation_never_met_gets_the_first_action() -> None:
    result = ActiveLearner(TwelveCells(), Settings.of(episodes=5)).run()
    assert result.act(99, 0) == 0


def test_intervals_hold_the_true_mean_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    held = [low <= 0.3 <= high for low, high in (interval_of_mean(rng.normal(0.3, 2.0, 40)) for _ in range(400))]
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize(("gamma", "said"), [(0.6, "take --gamma 0.9"), (0.95, "")])
def test_a_discount_that_costs_return_is_told(gamma: float, said: str) -> None:
    """With 0.6 an early small reward that ends the episode beats the later large one."""
    env = gym.make("markovize/BreakfastWorld-v0", task="b")
    result = ActiveLearner(env, Settings.of(episodes=100, gamma=gamma)).run()
    assert any("take --gamma" in note for note in result.notes) == bool(said)
    assert not said or (said in result.notes[-1] and "returns 1.8" in result.notes[-1] and "3.2" in result.notes[-1])
