"""Stable-Baselines3 for real: one warning when equal steps are paid differently, none where they are not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import pytest
from defects import Corridor, KeyFirst, LateByOneState, Rounding

from markovize import InputError
from markovize.integrations.sb3 import MarkovWarningCallback

pytest.importorskip("stable_baselines3", reason="the extra `sb3` is not installed")
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import EveryNTimesteps
from stable_baselines3.common.vec_env import DummyVecEnv

RANDOM: dict[str, Any] = {"learning_starts": 10**9, "buffer_size": 1_000, "device": "cpu", "seed": 0}


def train(
    make: Callable[[], gym.Env[Any, Any]], steps: int = 1_500, copies: int = 1
) -> tuple[MarkovWarningCallback, list[str]]:
    callback = MarkovWarningCallback()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DQN("MlpPolicy", DummyVecEnv([make] * copies), **RANDOM).learn(steps, callback=callback)
    return callback, [str(warning.message) for warning in told if "Markov" in str(warning.message)]


@pytest.mark.parametrize("copies", [1, 3])
def test_it_warns_once(copies: int) -> None:
    callback, told = train(KeyFirst, copies=copies)
    assert len(told) == 1
    assert callback.contradiction is not None
    assert str(callback.contradiction) in told[0]
    assert callback.contradiction.label[2] == 4
    assert sorted(callback.contradiction.rewards) == [0, 1]


@pytest.mark.parametrize("kind", [Corridor, Rounding, LateByOneState])
def test_it_says_nothing_of_a_markov_reward(kind: type[Corridor]) -> None:
    callback, told = train(kind)
    assert (callback.contradiction, told) == (None, [])


def test_continuous_observations_are_not_watched(capsys: pytest.CaptureFixture[str]) -> None:
    callback = MarkovWarningCallback(verbose=1)
    PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=64, device="cpu").learn(64, callback=callback)
    assert capsys.readouterr().out.count("not watched: observations are continuous") == 1


def test_dictionaries_of_observations_are_watched() -> None:
    def make() -> gym.Env[Any, Any]:
        space = gym.spaces.Dict({"cell": gym.spaces.Discrete(5)})
        return gym.wrappers.TransformObservation(KeyFirst(), lambda cell: {"cell": cell}, space)

    callback = MarkovWarningCallback()
    with pytest.warns(UserWarning, match="not Markov"):
        DQN("MultiInputPolicy", DummyVecEnv([make]), **RANDOM).learn(1_500, callback=callback)


def test_steps_that_were_not_seen_are_not_made_up() -> None:
    callback = MarkovWarningCallback()
    DQN("MlpPolicy", DummyVecEnv([KeyFirst]), **RANDOM).learn(1_500, callback=EveryNTimesteps(7, callback))
    assert callback.contradiction is None


def test_its_memory_is_bounded() -> None:
    callback = MarkovWarningCallback(most_steps=2)
    DQN("MlpPolicy", DummyVecEnv([partial(Corridor)]), **RANDOM).learn(300, callback=callback)
    assert len(callback._paid) == 2
    with pytest.raises(InputError, match="at least 1"):
        MarkovWarningCallback(most_steps=0)
