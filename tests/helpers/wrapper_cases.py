"""Small environments whose reward depends on history, and the machines behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from markovize.machine.machine import Emission, RewardMachine, Trigger

OPEN = ["SFFF", "FFFF", "FFFF", "FFFG"]  # a FrozenLake without holes
GOAL = 15


class Errand(gym.Wrapper[Any, Any, Any, Any]):
    """Pays at the goal only after the corners 3 and 12 have been visited in this order; written without a machine."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.way: list[int] = []
        return super().reset(**kwargs)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = super().step(action)
        self.way.append(int(observation))
        done = 3 in self.way and 12 in self.way[self.way.index(3) :]
        return observation, float(done and observation == GOAL), terminated, truncated, info


def errand(limit: int = 60, slippery: bool = False) -> gym.Env[Any, Any]:
    """The errand on an open FrozenLake."""
    lake = gym.make("FrozenLake-v1", desc=OPEN, is_slippery=slippery, max_episode_steps=limit)
    return Errand(lake)


def errand_machine() -> RewardMachine:
    """The machine behind :class:`Errand`, with every reward it can pay."""
    rewards = [
        Emission(u, s, v, float(u == 2 and s == GOAL), terminal=s == GOAL)
        for u in range(3)
        for s in range(16)
        for v in [1 if (u, s) == (0, 3) else 2 if (u, s) == (1, 12) else u]
    ]
    return RewardMachine("state", "state", 3, (Trigger(0, 3, 1), Trigger(1, 12, 2)), tuple(rewards))


class Ring(gym.Env[Any, Any]):
    """Six places in a ring, seen in many forms; ends at place 3 if place 5 was visited. Action 2 slips at random.

    Its observations are NumPy arrays where the space's are, its info has something of its own.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, form: str = "discrete", limit: int = 12) -> None:
        self.form, self.limit = form, limit
        self.observation_space = {
            "discrete": spaces.Discrete(6),
            "shifted": spaces.Discrete(6, start=-3),
            "multi": spaces.MultiDiscrete([2, 3]),
            "bits": spaces.MultiBinary(3),
            "box": spaces.Box(0, 5, (1,), np.int16),
            "tuple": spaces.Tuple((spaces.Discrete(2), spaces.Discrete(3))),
            "text": spaces.Text(1, charset="abcdef"),
        }[form]
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place, self.steps, self.visited = int(self.np_random.integers(3)), 0, False
        return self.seen(), {"steps": 0}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        move = (1, -1, int(self.np_random.integers(-1, 2)))[int(action)]
        self.place, self.steps = (self.place + move) % 6, self.steps + 1
        self.visited |= self.place == 5
        ended = self.visited and self.place == 3
        return self.seen(), float(ended), ended, self.steps >= self.limit, {"steps": self.steps}

    def seen(self) -> Any:
        place = self.place
        forms: dict[str, Callable[[], Any]] = {
            "discrete": lambda: place,
            "shifted": lambda: np.int64(place - 3),
            "multi": lambda: np.array([place // 3, place % 3]),
            "bits": lambda: np.array([place >> 2, place >> 1 & 1, place & 1], np.int8),
            "box": lambda: np.array([place], np.int16),
            "tuple": lambda: (place // 3, place % 3),
            "text": lambda: "abcdef"[place],
        }
        return forms[self.form]()


FORMS = ["discrete", "shifted", "multi", "bits", "box", "tuple", "text"]
MODES = ["dict", "flat", "one-hot", "triggers"]
FORMS_AND_MODES = [(form, mode) for form in FORMS for mode in MODES if form != "text" or mode == "dict"]  # no numbers


def ring_label(form: str, place: int) -> Any:
    """How a place looks in an episode file."""
    return {
        "discrete": place,
        "shifted": place - 3,
        "multi": (place // 3, place % 3),
        "box": (place,),
        "bits": (place >> 2, place >> 1 & 1, place & 1),
        "tuple": (place // 3, place % 3),
        "text": "abcdef"[place],
    }[form]


def ring_machine(form: str = "discrete") -> RewardMachine:
    """The machine behind :class:`Ring`: one trigger, at place 5."""
    rewards = [
        Emission(u, ring_label(form, place), 1 if place == 5 else u, float(ends), terminal=ends)
        for u in range(2)
        for place in range(6)
        for ends in [(u, place) == (1, 3)]
        if (u, place) != (0, 0)  # which leaves something unseen in state 0, but not a label
    ]
    return RewardMachine("state", "state", 2, (Trigger(0, ring_label(form, 5), 1),), tuple(rewards))


def ring_at(form: str, observation: Any) -> int:
    """The place that an observation shows: the inverse of :meth:`Ring.seen`."""
    if form == "text":
        return "abcdef".index(observation)
    return next(place for place in range(6) if np.array_equal(ring_label(form, place), observation))
