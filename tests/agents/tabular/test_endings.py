"""A clock or chance may end an episode at any step: such a step is not one that always ends it."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest
from gymnasium import spaces

from markovize import ActiveLearner, Settings
from markovize.agents.tabular.compiled.allocation import allocate
from markovize.agents.tabular.compiled.arrays import Rewards, Sizes
from markovize.agents.tabular.compiled.updates import CONTRADICTS, KNOWN, NEW, remember_reward, share_going_on


class Shelter(gymnasium.Env[Any, Any]):
    """Three places in a row; staying at the last one pays, and the episode ends after twenty steps, wherever it is."""

    observation_space = spaces.Discrete(3)
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.at = self.time = 0
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at = min(2, max(0, self.at + int(action) - 1))
        self.time += 1
        return self.at, float(self.at == 2), self.time == 20, False, {}


def test_the_last_step_of_an_episode_may_be_like_any_other() -> None:
    """The best policy walks to the shelter and stays; 19 of 20 steps pay."""
    result = ActiveLearner(Shelter(), Settings.of(episodes=100)).run()
    assert (result.machine.states, result.greedy_return) == (1, 19.0)


@pytest.mark.kernels
def test_how_often_an_episode_goes_on() -> None:
    rewards = allocate(Rewards, Sizes(1, 2, 2, 2, 1, 2, 1, 1))
    assert share_going_on(rewards, 0, 0, 0) == 1.0
    assert remember_reward(rewards, 0, 0, 0, 1.0, True, False) == NEW
    assert share_going_on(rewards, 0, 0, 0) == 0.0
    for _ in range(3):
        assert remember_reward(rewards, 0, 0, 0, 1.0, False, False) == KNOWN
    assert share_going_on(rewards, 0, 0, 0) == 0.75
    assert remember_reward(rewards, 0, 0, 0, 1.0, False, True) == CONTRADICTS
    assert remember_reward(rewards, 0, 0, 0, 2.0, True, False) == CONTRADICTS
