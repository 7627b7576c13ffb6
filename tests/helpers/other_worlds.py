"""Environments as users bring them: many observations, random starts, rewards that depend on where one has been."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))


class DriftingPosition(gym.Env[npt.NDArray[np.int64], Any]):
    """A position in the plane that drifts: random starts, hardly an observation twice, a Markov reward."""

    observation_space = gym.spaces.Box(-10_000, 10_000, (2,), np.int64)
    action_space = gym.spaces.Discrete(4)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int64], dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place, self.steps = self.np_random.integers(-1_000, 1_000, 2), 0
        return self.place.copy(), {}

    def step(self, action: int) -> tuple[npt.NDArray[np.int64], float, bool, bool, dict[str, Any]]:
        self.place = self.place + MOVES[int(action)] + self.np_random.integers(-1, 2, 2)
        self.steps += 1
        return self.place.copy(), float(self.place[0] % 7 == 0), False, self.steps >= 20, {}


class TwelveCells(gym.Env[Any, Any]):
    """A grid of three rows and four columns. Every cell may be the start, and who starts in the corner has the key.

    The key lies in cell 0; whoever comes to cell 11 with it is paid, and who comes without it is not. Both end the
    episode. What one enters does not tell where one came from: triggers need the step's beginning.
    """

    observation_space = gym.spaces.Discrete(12)
    action_space = gym.spaces.Discrete(4)
    key, goal = 0, 11

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.cell, self.steps = int(self.np_random.integers(11)), 0
        self.has_key = self.cell == self.key
        return self.cell, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        (row, column), (down, right) = divmod(self.cell, 4), MOVES[int(action)]
        self.cell = 4 * min(max(row + down, 0), 2) + min(max(column + right, 0), 3)
        self.has_key, self.steps = self.has_key or self.cell == self.key, self.steps + 1
        there = self.cell == self.goal
        return self.cell, float(there and self.has_key), there, self.steps >= 60, {}


class FirstCard(gym.Env[Any, Any]):
    """Cards of four suits are shown one after the other, and naming the first one's suit pays: by ``source``, 5 states.

    As popgym's RepeatFirst. Under labels that come a step late a small machine must be unrolled.
    """

    observation_space = gym.spaces.Discrete(4)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.cards, self.steps = self.np_random.integers(4, size=17), 0
        return int(self.cards[0]), {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        paid = 1.0 if action == self.cards[0] else -1.0
        return int(self.cards[self.steps]), paid, self.steps == 16, False, {}


class Detour(gym.Wrapper[int, int, int, int]):
    """Taxi, which is paid for a delivery only if the taxi has been at a landmark before, or started there."""

    def __init__(self, env: gym.Env[int, int], cell: tuple[int, int] = (0, 0)) -> None:
        super().__init__(env)
        self.cell, self.seen = cell, False

    def _there(self, observation: int) -> bool:
        return divmod(observation // 20, 5) == self.cell

    def reset(self, **options: Any) -> tuple[int, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self.seen = self._there(observation)
        return observation, info

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        delivered = float(reward) == 20.0
        paid = -1.0 if delivered and not self.seen else float(reward)
        self.seen = self.seen or self._there(observation)
        return observation, paid, terminated, truncated, info


def taxi_with_a_detour() -> gym.Env[int, int]:
    """The taxi that must pass by the landmark in the corner."""
    name = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"
    return Detour(gym.make(name, disable_env_checker=True))
