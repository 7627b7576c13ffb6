"""Find the machine while Stable-Baselines3 trains on a bare world, then switch it in: Officeworld's task c.

    pip install 'markovize[sb3]'
    python examples/sb3_switch.py

1. A DQN explores the bare world, in episodes of 1,000 steps, at random, but no plant twice. The callback records its
   episodes, finds some that contradict each other, learns the machine, and ends the training when it is ready.
2. The world is wrapped, and the training goes on with the machine: what was recorded goes into DQN's replay buffer.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import torch
from stable_baselines3 import DQN

from markovize import Traces
from markovize.integrations.sb3 import ConflictCallback
from sb3_office import STEPS, Evaluation, dqn, office, wrapped

TASK, LIMIT, MOST_STEPS, QUIET = "c", 1_000, 500_000, 50
EXPLORING: dict[str, Any] = {"learning_starts": MOST_STEPS, "buffer_size": 1_000, "device": "cpu"}
STAY = 4


class Careful(gym.Wrapper[Any, Any, Any, Any]):
    """Stays where it is instead of doing again what once ended an episode with a loss."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self._losses: set[tuple[Any, int]] = set()
        self._here: Any = None

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self._here = tuple(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        choice = self._here, int(action)
        observation, reward, terminated, truncated, info = self.env.step(STAY if choice in self._losses else action)
        if terminated and float(reward) < 0:
            self._losses.add(choice)
        self._here = tuple(observation)
        return observation, reward, terminated, truncated, info


def watched(seed: int = 0, verbose: int = 0) -> ConflictCallback:
    """What the callback found while a DQN explored the bare world."""
    callback = ConflictCallback(quiet_episodes=QUIET, stop_training=True, verbose=verbose)
    DQN("MlpPolicy", Careful(office(TASK, LIMIT)), seed=seed, **EXPLORING).learn(MOST_STEPS, callback=callback)
    return callback


def switched(callback: ConflictCallback, seed: int = 0) -> DQN:
    """A DQN on the wrapped world that knows the recorded episodes that earned or lost something."""
    assert callback.machine is not None
    telling = Traces.of(episode for episode in callback.traces if any(episode.rewards))
    return dqn(callback.machine, telling, seed, TASK)


def main() -> None:
    torch.set_num_threads(1)
    callback = watched(verbose=1)
    if callback.machine is None or not callback.ready:
        raise SystemExit("the machine is not ready yet: explore longer")
    print("DQN with the machine; the best return is 1:")
    switched(callback).learn(STEPS, callback=Evaluation(wrapped(callback.machine, TASK), 1_000, print))


if __name__ == "__main__":
    main()
