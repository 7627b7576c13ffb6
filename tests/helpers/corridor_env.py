"""A corridor with real positions, paid at its right end after its left end: continuous, small, quickly solved."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from markovize.features import named

ENV_ID = "markovize-tests/Corridor-v0"
position = named("x", "luck")


class Corridor(gym.Env[Any, Any]):
    """Steps of about 0.2 on [0, 1]; the second number means nothing."""

    observation_space = spaces.Box(0.0, 1.0, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._x, self._left = 0.5, False
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._x = float(np.clip(self._x + (0.2, -0.2)[int(action)] + self.np_random.normal(0.0, 0.01), 0.0, 1.0))
        self._left = self._left or self._x < 0.25
        done = self._left and self._x >= 0.75
        return self._seen(), float(done), done, False, {}

    def _seen(self) -> Any:
        return np.array([self._x, self.np_random.random()])


class Pictures(gym.ObservationWrapper[Any, Any, Any]):
    """The same as pictures: one bright column of four, or a flicker that never repeats."""

    def __init__(self, env: gym.Env[Any, Any], flicker: bool = False) -> None:
        super().__init__(env)
        self._flicker = flicker
        self.observation_space = spaces.Box(0, 255, (4, 4, 3), np.uint8)

    def observation(self, observation: Any) -> Any:
        picture = np.zeros((4, 4, 3), np.uint8)
        if self._flicker:
            picture[0, 0] = np.frombuffer(np.float32(observation[1]).tobytes()[:3], np.uint8)
        picture[:, min(3, int(observation[0] * 4))] = 255
        return picture


class Noisy(gym.Wrapper[Any, Any, Any, Any]):
    """Rewards with a uniform error of up to ``noise``, and a share ``flips`` of them the wrong way round."""

    def __init__(self, env: gym.Env[Any, Any], noise: float, flips: float) -> None:
        super().__init__(env)
        self._noise, self._flips = noise, flips

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = self.env.step(action)
        chance = self.env.unwrapped.np_random
        paid = 1.0 - float(reward) if chance.random() < self._flips else float(reward)
        return observation, paid + (chance.uniform(-self._noise, self._noise) if self._noise else 0.0), *rest


def make_corridor(
    pictures: bool = False, flicker: bool = False, noise: float = 0.0, flips: float = 0.0
) -> gym.Env[Any, Any]:
    env: gym.Env[Any, Any] = gym.wrappers.TimeLimit(Corridor(), 40)
    env = Noisy(env, noise, flips) if noise or flips else env
    return Pictures(env, flicker) if pictures or flicker else env


if ENV_ID not in gym.registry:  # doctests import this file a second time
    gym.register(ENV_ID, entry_point=lambda **options: make_corridor(**options))
