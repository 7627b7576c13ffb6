"""Environments that nobody here wrote, with a reward that depends on history put on top."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from markovize.agents.tabular import ActiveLearner, RunResult, Settings
from markovize.errors import InputError, UnrealisableError, UnsupportedError
from markovize.machine.replay import replay


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
    env = gym.wrappers.TransformReward(gym.make("markovize/BreakfastWorld-v0"), lambda reward: 2 * float(reward))
    result = learned(env, 200)
    assert result.greedy_return == pytest.approx(6.4)
    assert result.optimal_return is None


class Odd(gym.Env[Any, Any]):
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


def test_observations_that_are_no_labels_are_refused() -> None:
    with pytest.raises(InputError, match="this observation is no label: a dict is not a label"):
        learned(Odd({"place": 0}, 0.0), 5)


@pytest.mark.parametrize("observation", [[0], (0, np.array([1, 0])), np.array([[1], [2]])])
def test_observations_of_lists_and_arrays(observation: Any) -> None:
    result = learned(Odd(observation, 0.0), 5)
    assert len(result.observations) == 1


@pytest.mark.parametrize("reward", [None, "much", np.zeros(2)])
def test_rewards_that_are_no_numbers_are_refused(reward: Any) -> None:
    with pytest.raises(InputError, match="rewards are numbers"):
        learned(Odd(0, reward), 5)


class Bandit(gym.Env[Any, Any]):
    """Many states and hardly a transition twice: one step, then another place."""

    observation_space = gym.spaces.Discrete(1_000_000)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return int(self.np_random.integers(1_000_000)), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        del action
        place = int(self.np_random.integers(1_000_000))
        return place, float(place % 2), True, False, {}


@pytest.mark.parametrize("mode", ["directed", "q-learning"])
def test_more_states_than_transitions(mode: str) -> None:
    result = ActiveLearner(Bandit(), Settings.of(mode, episodes=1500, max_steps=3)).run()
    assert (result.status, result.machine.states) == ("no conflict", 1)
    assert len(result.observations) > 2_900


class TwoKeys(gym.Env[Any, Any]):
    """Pays for the second of two keys, pressed in order, by actions that are pairs."""

    observation_space = gym.spaces.Discrete(3)
    action_space = gym.spaces.MultiDiscrete([2, 2])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.open = False
        return 0, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        place = 1 if tuple(action) == (0, 1) else 2 if tuple(action) == (1, 0) else 0
        paid = self.open and place == 2
        self.open = self.open or place == 1
        return place, float(paid), paid, False, {}


def test_actions_of_several_parts() -> None:
    result = ActiveLearner(TwoKeys(), Settings.of(episodes=100, max_steps=8)).run()
    assert (result.machine.states, result.greedy_return) == (2, 1.0)
    assert result.actions == ((0, 0), (0, 1), (1, 0), (1, 1))


class Chancy(gym.Env[Any, Any]):
    """A reward that is Markov, but of the action, in a world that goes anywhere."""

    observation_space = gym.spaces.Discrete(60)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return 0, {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return int(self.np_random.integers(60)), 0.5 * (action == 1), False, False, {}


def test_a_markov_reward_of_the_action_needs_no_large_machine() -> None:
    result = ActiveLearner(Chancy(), Settings.of(episodes=40, max_steps=30)).run()
    assert (result.machine.states, result.machine.reward_on) == (1, "transition")


@pytest.mark.parametrize("env", ["FrozenLake-v1", 3])
def test_what_is_no_environment(env: Any) -> None:
    with pytest.raises(InputError, match="acts in an environment, not"):
        ActiveLearner(env)
    with pytest.raises(InputError, match="not a vector of them"):
        ActiveLearner(gym.make_vec("FrozenLake-v1", num_envs=2))  # type: ignore[arg-type]


def test_nan_rewards_are_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        learned(Odd(0, float("nan")), 5)


def test_a_noisy_reward_stops_the_run_with_two_episodes() -> None:
    coins = iter([0.0, 0.0, 0.0, 1.0] * 100)
    with pytest.raises(UnrealisableError, match="share their history"):
        learned(Odd(0, lambda: next(coins)), 50)


def test_actions_must_be_few() -> None:
    env = Odd(0, 0.0)
    env.action_space = gym.spaces.MultiDiscrete([200, 200])  # type: ignore[assignment]
    with pytest.raises(UnsupportedError, match="40,000 elements; at most 10,000 can be tried"):
        ActiveLearner(env)
