"""The world of the tutorial on guards: a point in a plane, where the office pays after the coffee."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

COFFEE, OFFICE = ((1, 4), (6, 9)), ((6, 9), (1, 4))
MOVES = ((0, 1), (0, -1), (-1, 0), (1, 0))
LONGEST = 100


def inside(square: tuple[tuple[int, int], tuple[int, int]], at: Any) -> bool:
    return all(low <= value < high for (low, high), value in zip(square, at, strict=True))


class Plane(gym.Env[Any, Any]):
    """What the reward remembers is an attribute that no observation depends on: it is no part of a restored state."""

    observation_space = gym.spaces.Dict(x=gym.spaces.Box(0, 10, ()), y=gym.spaces.Box(0, 10, ()))
    action_space = gym.spaces.Discrete(4)
    step_cost = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.at, self.has_coffee, self.steps = self.np_random.uniform(0, 10, 2), False, 0
        return self.observe(), {}

    def observe(self) -> dict[str, Any]:
        x, y = (np.array(value, np.float32) for value in self.at)
        return {"x": x, "y": y}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.at = np.clip(self.at + MOVES[action] + self.np_random.normal(0, 0.3, 2), 0, 10)
        self.has_coffee = self.has_coffee or inside(COFFEE, self.at)
        delivered = self.has_coffee and inside(OFFICE, self.at)
        return self.observe(), float(delivered) - self.step_cost, delivered, self.steps >= LONGEST, {}
