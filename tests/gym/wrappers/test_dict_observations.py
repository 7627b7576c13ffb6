"""The wrapper on environments whose observations are dicts already: the machine's state is one more part."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import markovize
from markovize import RewardMachine, Trigger, UnsupportedError
from markovize.gym.wrappers import MarkovRewardWrapper, RecordEpisodes, vector

MACHINE = RewardMachine("function", "function", 2, (Trigger(0, "left", 1),))


class Hallway(gym.Env[Any, Any]):
    """A hallway with a lamp; the right end pays, once the left end was seen."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Dict({"at": spaces.Box(0.0, 1.0, (1,), np.float32), "lamp": spaces.Discrete(2)})

    def look(self) -> dict[str, Any]:
        return {"at": np.array([self.place / 4], np.float32), "lamp": np.int64(self.lit)}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place, self.lit = 1 + int(self.np_random.integers(3)), False
        return self.look(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place = min(4, max(0, self.place + (1 if action else -1)))
        self.lit = self.lit or self.place == 0
        return self.look(), float(self.lit and self.place == 4), self.place == 4, False, {}


def end(_state: Any, _action: Any, after: Any) -> str:
    return "left" if after["at"] == (0,) else "right" if after["at"] == (1,) else "between"


def wrapped() -> MarkovRewardWrapper:
    return MarkovRewardWrapper(gym.wrappers.TimeLimit(Hallway(), 30), MACHINE, trigger_on=end, reward_on=end)


def test_the_state_is_one_more_part() -> None:
    env = wrapped()
    assert env.observation_space == spaces.Dict({**Hallway.observation_space.spaces, "rm_state": spaces.Discrete(2)})
    observation, _ = env.reset(seed=0)
    for _ in range(6):
        assert observation in env.observation_space
        assert observation["rm_state"] == int(observation["lamp"])
        observation = env.step(0)[0]
    assert observation["rm_state"] == 1


@pytest.mark.slow
def test_checkers_pass_and_policies_of_sb3_train() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a wrapper is checked
        check_env(MarkovRewardWrapper(Hallway(), MACHINE, trigger_on=end, reward_on=end), skip_render_check=True)
    pytest.importorskip("stable_baselines3", reason="the extra `sb3` is not installed")
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_checker import check_env as check_for_sb3

    check_for_sb3(wrapped())
    model = PPO("MultiInputPolicy", wrapped(), n_steps=32, batch_size=32, n_epochs=1, seed=0, device="cpu")
    model.learn(64)
    assert model.num_timesteps == 64


@pytest.mark.parametrize("autoreset", list(gym.vector.AutoresetMode)[:2])
def test_vector_environments(autoreset: Any) -> None:
    envs = gym.vector.SyncVectorEnv([lambda: gym.wrappers.TimeLimit(Hallway(), 9)] * 2, autoreset_mode=autoreset)
    joined = vector.MarkovRewardWrapper(envs, MACHINE, trigger_on=end, reward_on=end)
    assert set(joined.single_observation_space.spaces) == {"at", "lamp", "rm_state"}  # type: ignore[attr-defined]
    observations, _ = joined.reset(seed=1)
    joined.action_space.seed(1)
    for _ in range(60):
        assert observations in joined.observation_space
        assert observations["rm_state"].tolist() == observations["lamp"].tolist()
        observations = joined.step(joined.action_space.sample())[0]


def test_a_part_of_that_name_is_not_overwritten() -> None:
    with pytest.raises(UnsupportedError, match="have a part 'rm_state' already"):
        MarkovRewardWrapper(wrapped(), MACHINE, trigger_on=end, reward_on=end)
    with pytest.raises(UnsupportedError, match="Dict space"):
        MarkovRewardWrapper(Hallway(), RewardMachine("state", "state", 1))


def test_recorded_learned_and_wrapped(tmp_path: Path) -> None:
    env = RecordEpisodes(gym.wrappers.TimeLimit(Hallway(), 30), tmp_path / "log.jsonl", continuous=True)
    env.action_space.seed(0)
    for seed in range(40):
        env.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
    env.close()
    log = markovize.read_episodes(tmp_path / "log.jsonl")
    machine = markovize.learn(log, trigger_on=end, reward_on=end).unwrap()
    assert [(trigger.source, trigger.on, trigger.target) for trigger in machine.triggers] == [(0, "left", 1)]
    again = MarkovRewardWrapper(Hallway(), machine, trigger_on=end, reward_on=end, unseen="error")
    assert again.reset(seed=0)[0]["rm_state"] == 0
