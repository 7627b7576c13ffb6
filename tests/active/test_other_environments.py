"""Environments that nobody here wrote, with a reward that depends on history put on top."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from markovize.active import ActiveLearner, RunResult, Settings
from markovize.errors import InputError, UnrealisableError, UnsupportedError
from markovize.replaying import replay


class FirstThen(gym.Wrapper[Any, Any, Any, Any]):
    """Pays 1 and ends the episode at ``goal``, if ``key`` was visited before; nothing else pays."""

    def __init__(self, env: gym.Env[Any, Any], key: int, goal: int) -> None:
        super().__init__(env)
        self.key, self.goal, self.open = key, goal, False

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.open = False
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.step(action)
        paid = self.open and observation == self.goal
        self.open = self.open or observation == self.key
        return observation, float(paid), terminated or paid, truncated, info


class Bonus(FirstThen):
    """The environment's own rewards, and 20 more at ``goal`` if ``key`` was visited before, once."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        paid = self.open and observation == self.goal
        self.open = (self.open and not paid) or observation == self.key
        return observation, float(reward) + 20.0 * paid, terminated or paid, truncated, info


def learned(env: gym.Env[Any, Any], episodes: int, **changes: Any) -> RunResult:
    result = ActiveLearner(env, Settings.of("directed", episodes=episodes, **changes)).run()
    assert replay(result.machine, result.kept).mismatches == 0
    return result


def test_frozen_lake() -> None:
    env = FirstThen(gym.make("FrozenLake-v1", is_slippery=False), key=8, goal=2)
    result = learned(env, 300)
    assert (result.machine.states, len(result.machine.triggers)) == (2, 1)
    assert result.greedy_return == 1.0
    assert result.optimal_return is None


def test_slippery_frozen_lake() -> None:
    env = FirstThen(gym.make("FrozenLake-v1", is_slippery=True), key=4, goal=0)
    result = learned(env, 600)
    assert (result.machine.states, result.machine.triggers[0].on) == (2, 4)
    assert result.greedy_return > 0.6  # a random walk earns 0.24


def test_cliff_walking() -> None:
    env = Bonus(gym.make("CliffWalking-v1", max_episode_steps=100), key=0, goal=11)
    result = learned(env, 400, max_steps=100)
    assert result.machine.states == 2
    assert result.greedy_return >= 0.0


def test_taxi_needs_transition_labels() -> None:
    env = gym.make("Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3")
    result = learned(env, 60)
    assert result.machine.reward_on == "transition"
    assert result.machine.states == 1


def test_a_world_in_another_wrapper_is_stepped_not_compiled() -> None:
    env = gym.wrappers.TransformReward(gym.make("markovize/BreakfastWorld-v0"), lambda reward: 2 * reward)
    result = learned(env, 200)
    assert result.greedy_return == pytest.approx(6.4)
    assert result.optimal_return is None


class Odd(gym.Env[Any, int]):
    """Two steps of whatever observation and reward it is given."""

    action_space = gym.spaces.Discrete(2)

    def __init__(self, observation: Any, reward: Any, space: gym.Space[Any] | None = None) -> None:
        self.observation_space = gym.spaces.Discrete(2) if space is None else space
        self.observation, self.reward, self.steps = observation, reward, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.steps = 0
        return self.observation, {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        del action
        self.steps += 1
        reward = self.reward() if callable(self.reward) else self.reward
        return self.observation, reward, self.steps == 2, False, {}


def test_continuous_observations_are_refused_with_advice() -> None:
    box = gym.spaces.Box(-1.0, 1.0, (2,))
    with pytest.raises(UnsupportedError, match="DiscretizeObservation"):
        ActiveLearner(Odd(np.zeros(2), 0.0, box))


def test_unhashable_observations_are_refused() -> None:
    with pytest.raises(InputError, match="unhashable"):
        learned(Odd([0], 0.0), 5)


def test_nan_rewards_are_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        learned(Odd(0, float("nan")), 5)


def test_a_noisy_reward_stops_the_run_with_two_episodes() -> None:
    coins = iter([0.0, 0.0, 0.0, 1.0] * 100)
    with pytest.raises(UnrealisableError, match="share their history"):
        learned(Odd(0, lambda: next(coins)), 50)


def test_actions_must_be_numbered() -> None:
    env = Odd(0, 0.0)
    env.action_space = gym.spaces.MultiDiscrete([2, 2])  # type: ignore[assignment]
    with pytest.raises(InputError, match="Discrete"):
        ActiveLearner(env)
