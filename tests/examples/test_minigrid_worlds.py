"""The MiniGrid worlds of the examples: what pays, and that a machine for them is found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

pytest.importorskip("minigrid")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import minigrid_worlds


def ahead(env: Any) -> str:
    thing = env.unwrapped.grid.get(*env.unwrapped.front_pos)
    return "" if thing is None else str(thing.color)


def test_the_delivery_pays_for_coffee_then_mail_then_office() -> None:
    env = gym.make("markovize-examples/Delivery-v0", size=6)
    paid = 0
    for seed in range(60):
        env.reset(seed=seed)
        env.action_space.seed(seed)
        wanted, ended = ["yellow", "blue", "green"], False
        while not ended:
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            if ahead(env) == wanted[0]:
                wanted.pop(0)
            assert reward == float(not wanted) == float(terminated)
            paid += int(terminated)
            ended = terminated or truncated
    assert paid > 0


def test_what_is_near() -> None:
    observation, _ = gym.make("markovize-examples/Delivery-v0").reset(seed=0)
    assert tuple(minigrid_worlds.describe_near(observation)) == minigrid_worlds.NEAR


@pytest.mark.parametrize("size", minigrid_worlds.SIZES)
def test_memory_tasks_pay_one(size: int) -> None:
    env = gym.make(f"markovize-examples/MemoryS{size}-v0")
    assert env.action_space == gym.spaces.Discrete(3)
    world: Any = env.unwrapped
    env.reset(seed=1)
    world.agent_pos = (world.success_pos[0], world.height // 2)
    world.agent_dir = 3 if world.success_pos[1] < world.height // 2 else 1
    *_, reward, terminated, _, _ = env.step(minigrid_worlds.FORWARD)
    assert (reward, terminated) == (1.0, True)
