"""Stable-Baselines3 on Officeworld's task c, mail first, then office: PPO with a learned machine, RecurrentPPO bare.

    pip install 'markovize[sb3]'
    python examples/sb3_ppo.py

1. An active run explores the bare world and learns the machine behind its reward.
2. PPO trains on a vector of wrapped worlds, RecurrentPPO of sb3-contrib on a vector of bare ones, with an LSTM for a
   memory instead of the machine's state.

From nothing PPO met no reward at all in 200,000 steps and more. So both begin by imitating the first episodes of the
active run that earned it. That alone makes their greedy episodes optimal; what training adds is seen in the mean return
of the policies as they act. With seed 0 PPO goes from 0.79 to 0.96 in 50,000 steps, and RecurrentPPO, which takes five
times as long for them, from 0.14 to 0.96: on this task its memory does as well in the end.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from markovize import MarkovRewardWrapper, RewardMachine, Traces
from sb3_office import NO_MACHINE, explored, office

TASK, WORLDS, STEPS = "c", 8, 50_000
IMITATED = 50  # episodes
COMMON: dict[str, Any] = {"n_steps": 128, "batch_size": 512, "n_epochs": 4, "gamma": 0.98, "device": "cpu"}
PPO_SETTINGS: dict[str, Any] = {"policy_kwargs": {"net_arch": []}, "learning_rate": 0.01}
RECURRENT_SETTINGS: dict[str, Any] = {"policy_kwargs": {"lstm_hidden_size": 64, "net_arch": []}, "learning_rate": 1e-3}


def seen(machine: RewardMachine) -> gym.Env[Any, Any]:
    """The world with the machine's state in its observations; with one of a single state, the bare world."""
    return MarkovRewardWrapper(office(TASK), machine, mode="flat")


def ppo(machine: RewardMachine, seed: int = 0) -> PPO:
    """PPO on several wrapped worlds."""
    worlds = DummyVecEnv([partial(seen, machine)] * WORLDS)
    return PPO("MlpPolicy", worlds, seed=seed, **COMMON | PPO_SETTINGS)


def recurrent_ppo(seed: int = 0) -> RecurrentPPO:
    """RecurrentPPO on several bare worlds."""
    worlds = DummyVecEnv([partial(seen, NO_MACHINE)] * WORLDS)
    return RecurrentPPO("MlpLstmPolicy", worlds, seed=seed, **COMMON | RECURRENT_SETTINGS)


def imitate(model: PPO | RecurrentPPO, machine: RewardMachine, episodes: Traces, rounds: int = 100) -> None:
    """Teaches policy and values the first episodes that earned the reward."""
    paid = [episode for episode in episodes if sum(episode.rewards) == 1][:IMITATED]
    columns = zip(*(played(seen(machine), episode) for episode in paid), strict=True)
    inputs, actions, returns = (padded([torch.tensor(row) for row in column]) for column in columns)
    there = padded([torch.ones(episode.steps) for episode in paid])
    memory: tuple[Any, ...] = ()
    if isinstance(model, RecurrentPPO):
        policy = model.policy
        assert isinstance(policy, RecurrentActorCriticPolicy)
        blank = torch.zeros(1, len(paid), policy.lstm_actor.hidden_size)
        memory = (RNNStates((blank, blank), (blank, blank)), torch.zeros(len(inputs)))
    rate = model.learning_rate
    assert isinstance(rate, float)
    optimizer = torch.optim.Adam(model.policy.parameters(), 10 * rate)
    for _ in range(rounds):
        values, likelihoods, _ = model.policy.evaluate_actions(inputs, actions, *memory)
        errors = (values.flatten() - returns) ** 2 - likelihoods
        optimizer.zero_grad()
        (errors * there).sum().div(there.sum()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def padded(rows: list[torch.Tensor]) -> torch.Tensor:
    """Episodes made equally long, one after another."""
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).flatten()


def played(env: gym.Env[Any, Any], episode: Any) -> tuple[list[int], list[int], list[float]]:
    """The episode as this environment shows it: observations, actions, and what is still to be earned."""
    observations = [env.reset()[0]]
    observations += [env.step(action)[0] for action in episode.actions]
    ahead = np.arange(episode.steps - 1, -1, -1)
    return observations[:-1], list(episode.actions), (COMMON["gamma"] ** ahead).astype(np.float32).tolist()


def mean_return(model: PPO | RecurrentPPO, machine: RewardMachine, episodes: int = 100) -> float:
    """What the policy earns as it acts."""
    return float(evaluate_policy(model, seen(machine), episodes, deterministic=False, warn=False)[0])  # type: ignore


def main() -> None:
    torch.set_num_threads(1)
    machine, episodes = explored(task=TASK)
    print(f"learned a machine of {machine.states} states from {len(episodes)} episodes; the best return is 1")
    for name, model, known in (
        ("PPO with the machine", ppo(machine), machine),
        ("RecurrentPPO, bare", recurrent_ppo(), NO_MACHINE),
    ):
        imitate(model, known, episodes)
        print(f"{name}:\n  after imitating: mean return {mean_return(model, known):.2f}")
        for _ in range(5):
            model.learn(STEPS // 5, reset_num_timesteps=False)
            print(f"  step {model.num_timesteps:>7,}: mean return {mean_return(model, known):.2f}")


if __name__ == "__main__":
    main()
