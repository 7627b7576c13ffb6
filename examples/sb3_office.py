"""Stable-Baselines3 on Officeworld's patrol (task e): DQN with a learned machine, and the same DQN without one.

    pip install 'markovize[sb3]'
    python examples/sb3_office.py

1. An active run explores the bare world, meets conflicts, and learns the machine behind its reward.
2. The world is wrapped: the observation of DQN is (cell, machine state), one number.
3. The episodes of 1 go into DQN's replay buffer, each step once for every machine state, and DQN trains as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from markovize import ActiveLearner, MarkovRewardWrapper, RewardMachine, Settings, Traces
from markovize.integrations.sb3 import CounterfactualReplayBuffer, fill_replay

STEPS = 10_000
NO_MACHINE = RewardMachine("state", "state", 1)  # one state: the world as it is, observed as a number
SETTINGS: dict[str, Any] = {
    # one weight for each observation and action, so nothing learned here blurs what was learned elsewhere
    "policy_kwargs": {"net_arch": []},
    "learning_rate": lambda remaining: 0.01 * remaining + 1e-5,
    "gamma": 0.95,
    "batch_size": 256,
    "buffer_size": 200_000,
    "learning_starts": 0,  # the buffer is filled
    "train_freq": 4,
    "gradient_steps": 4,
    "tau": 0.05,
    "target_update_interval": 1,
    "exploration_initial_eps": 0.3,
    "exploration_final_eps": 0.1,
    "device": "cpu",
}


def office(task: str = "e", limit: int = 200) -> gym.Env[Any, Any]:
    """The bare world: -1 for a plant, 1 for a, b, c and d in this order (task e) or for mail, then office (task c)."""
    return gym.make("markovize/OfficeWorld-v0", task=task, max_episode_steps=limit)


def explored(seed: int = 0, episodes: int = 300, task: str = "e") -> tuple[RewardMachine, Traces]:
    """The machine behind the reward, and the episodes that it was learned from."""
    result = ActiveLearner(office(task), Settings.of(episodes=episodes, seed=seed)).run()
    return result.machine, result.kept


def wrapped(machine: RewardMachine, task: str = "e") -> gym.Env[Any, Any]:
    """The world with the machine's state in its observations."""
    return MarkovRewardWrapper(office(task), machine, mode="flat", crm=True)


def dqn(machine: RewardMachine, episodes: Traces, seed: int = 0, task: str = "e", **changes: Any) -> DQN:
    """A DQN on the wrapped world that has these episodes in its replay buffer."""
    buffer: dict[str, Any] = {
        "replay_buffer_class": CounterfactualReplayBuffer,
        "replay_buffer_kwargs": {"machine": machine},
    }
    model = DQN("MlpPolicy", wrapped(machine, task), seed=seed, **buffer | SETTINGS | changes)
    fill_replay(model, episodes, wrapped(machine, task))
    return model


def greedy_return(model: BaseAlgorithm, env: gym.Env[Any, Any]) -> float:
    """What the model earns in one episode without exploring; world and policy are deterministic."""
    observation, _ = env.reset()
    total, over, memory, first = 0.0, False, None, np.array([True])
    while not over:
        action, memory = model.predict(observation, memory, first, deterministic=True)  # only some have a memory
        observation, reward, terminated, truncated, _ = env.step(int(action))
        total, over, first = total + float(reward), terminated or truncated, np.array([False])
    return total


class Evaluation(BaseCallback):
    """The greedy return every so many steps: ``curve`` holds (step, return)."""

    def __init__(self, env: gym.Env[Any, Any], every: int, tell: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self.env, self.every, self.tell = env, every, tell
        self.curve: list[tuple[int, float]] = []

    def _on_step(self) -> bool:
        if self.num_timesteps % self.every == 0:
            self.curve.append((self.num_timesteps, greedy_return(self.model, self.env)))
            if self.tell is not None:
                self.tell(f"  step {self.num_timesteps:>6,}: greedy return {self.curve[-1][1]:g}")
        return True


def main() -> None:
    torch.set_num_threads(1)
    machine, episodes = explored()
    print(f"learned a machine of {machine.states} states from {len(episodes)} episodes; the best return is 1")
    for name, known in (("with the machine", machine), ("bare", NO_MACHINE)):
        print(f"DQN, {name}:")
        dqn(known, episodes).learn(STEPS, callback=Evaluation(wrapped(known), 1_000, print))


if __name__ == "__main__":
    main()
