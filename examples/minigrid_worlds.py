"""MiniGrid worlds whose reward depends on history, registered for `markovize run --import minigrid_worlds`.

`markovize-examples/MemoryS7-v0` (S9, S11) are MiniGrid's own memory tasks with their reward made binary and only the
three actions that do something. `markovize-examples/Delivery-v0` is a task of our own: coffee, then mail, then the
office, all of them elsewhere in each episode:

    markovize run markovize-examples/Delivery-v0 --import minigrid_worlds --features minigrid_worlds:near --agent ppo
"""

from __future__ import annotations

from typing import Any, Final, SupportsFloat

import gymnasium as gym
from gymnasium import spaces
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Box
from minigrid.minigrid_env import MiniGridEnv

from markovize.features import ObservationFeatures, minigrid

LEFT, RIGHT, FORWARD = range(3)
SIZES: Final = (7, 9, 11)


NEAR: Final = ("direction", "front", "front_colour", "on_left", "on_right")


def describe_near(observation: Any) -> dict[str, Any]:
    """Only what is beside the agent: fewer features make a search for several triggers far shorter."""
    return {name: value for name, value in minigrid.describe_view(observation).items() if name in NEAR}


near = ObservationFeatures(describe_near)


class Simple(gym.Wrapper[Any, Any, Any, Any]):
    """Turns and steps only; the reward is 1 where MiniGrid pays anything, however late."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.action_space = spaces.Discrete(3)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        return observation, float(float(reward) > 0), terminated, truncated, info


class Delivery(MiniGridEnv):
    """Coffee (a yellow ball), mail (a blue box), office (a green ball), at random places of a room; stand before them.

    The office pays 1 and ends the episode after coffee and then mail. Mail before coffee counts for nothing.
    """

    def __init__(self, size: int = 7, **options: Any) -> None:
        space = MissionSpace(mission_func=lambda: "coffee, mail, office")
        super().__init__(space, grid_size=size, max_steps=20 * size, see_through_walls=True, **options)

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        for thing in (Ball("yellow"), Box("blue"), Ball("green")):  # type: ignore[no-untyped-call]
            self.place_obj(thing)
        self.place_agent()  # type: ignore[no-untyped-call]
        self.mission = "coffee, mail, office"
        self._brought = 0

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = super().step(action)
        ahead, paid = self.grid.get(*self.front_pos), 0.0
        if ahead is not None and ahead.color == ("yellow", "blue", "green")[self._brought]:
            self._brought += 1
            if self._brought == 3:
                paid, terminated = 1.0, True
        return observation, paid, terminated, truncated, info


def make_memory(size: int) -> gym.Env[Any, Any]:
    """One of MiniGrid's memory tasks."""
    import minigrid as _registers  # noqa: F401

    return Simple(gym.make(f"MiniGrid-MemoryS{size}-v0"))


def make_delivery(size: int = 7) -> gym.Env[Any, Any]:
    """The delivery, with three actions."""
    return Simple(Delivery(size))


for _size in SIZES:
    gym.register(
        f"markovize-examples/MemoryS{_size}-v0",
        entry_point=lambda **given: make_memory(**given),
        kwargs={"size": _size},
    )
gym.register("markovize-examples/Delivery-v0", entry_point=lambda **given: make_delivery(**given))
