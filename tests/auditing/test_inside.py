"""Wrappers that change observations: what is inside decides, where what they show never comes back."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from gymnasium import wrappers

from markovize import check_reward

STEPS = 1_000


class Bonus(gym.Wrapper[Any, Any, Any, Any]):
    """Pays once an episode, for the left slope."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self.paid = False
        return self.env.reset(**options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.step(action)
        now = bool(observation[0] < -0.65) and not self.paid
        self.paid = self.paid or now
        return observation, float(now), terminated, truncated, info


def pendulum() -> gym.Env[Any, Any]:
    return gym.make("Pendulum-v1", disable_env_checker=True)


def car() -> gym.Env[Any, Any]:
    return Bonus(gym.make("MountainCar-v0", disable_env_checker=True))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: wrappers.FrameStackObservation(env, 3),
        wrappers.NormalizeObservation,
        wrappers.TimeAwareObservation,
    ],
)
def test_a_markov_reward_stays_one(wrap: Any) -> None:
    report = check_reward(lambda: wrap(pendulum()), steps=STEPS)
    assert (report.verdict, report.signature, report.given) == ("markov", ("state", "action"), "state")
    assert any("Compared by what the environment shows to" in note for note in report.notes)
    leaks = any("NormalizeObservation shows depends on earlier episodes" in note for note in report.notes)
    assert leaks == (wrap is wrappers.NormalizeObservation)


def test_a_normalised_reward_depends_on_earlier_episodes_whatever_is_shown() -> None:
    report = check_reward(lambda: wrappers.NormalizeReward(wrappers.NormalizeObservation(pendulum())), steps=STEPS)
    assert report.verdict == "previous-episodes"
    one, two = report.replay_witness(wrappers.NormalizeReward(wrappers.NormalizeObservation(pendulum())))
    assert one != two


def test_a_history_that_the_wrapper_may_show_is_no_verdict() -> None:
    report = check_reward(lambda: wrappers.FrameStackObservation(car(), 3), steps=STEPS)
    assert report.verdict == "not-testable"
    assert "without FrameStackObservation, Bonus the reward depends on what happened before" in report.reason


def test_a_wrapper_that_remembers_is_named() -> None:
    report = check_reward(lambda: wrappers.StickyAction(pendulum(), 0.3), steps=STEPS)
    assert report.verdict == "not-testable"
    assert "perhaps because of what StickyAction remembers" in report.reason


def test_an_environment_that_shows_itself_is_not_looked_into() -> None:
    report = check_reward(pendulum, steps=STEPS)
    assert not any("Compared by" in note for note in report.notes)
