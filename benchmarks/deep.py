"""Deep agents: episodes per second and core, compiled loops beside the plain one, and both learning curves.

    python benchmarks/deep.py [--tasks e,b] [--episodes 400] [--seeds 3] [--models DQN,RNN,GRU,LSTM] [--quick]

*Plain* is what the paper's setting implies: one Gymnasium environment, one forward pass of the network per step, one
update per episode by PyTorch's own layers. *Ours* plays whole episodes in one call and sweeps recurrent layers over
them, compiled. Both have the same first weights, draw the same numbers and do the same updates, so their episodes are
the same until a rounding tips the choice between two actions: *the same for* says for how many. Then they differ as two
seeds do; the last columns are mean returns over all episodes, with the standard error over seeds, and whether the 95 %
bands meet.

All is timed in processor time, in turns, on one core, compiling left out.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from dataclasses import replace
from typing import Any

import gymnasium as gym
import torch

import markovize  # noqa: F401 - registers the worlds
from markovize.deep import DeepSettings, kernels
from markovize.deep.agent import Agent
from markovize.deep.dqn import DQN
from markovize.deep.kernels import Walk
from markovize.deep.recurrent import RecurrentDQN
from markovize.deep.training import new_agent, new_walk, one_quiet_thread, train
from markovize.machine import RewardMachine
from markovize.worlds import World, world

TIMES = 8.0  # the goal


def plain_training(where: World, task: str, settings: DeepSettings, seed: int) -> tuple[list[float], float]:
    """(returns, seconds) of the same training, step by step."""
    machine = machine_of(settings, where)
    env: gym.Env[Any, Any] = gym.make("markovize/OfficeWorld-v0", task=task)
    cells = {cell: number for number, cell in enumerate(where.observations)}
    with one_quiet_thread():
        agent = new_agent(where, settings, seed, machine)
        agent.optimiser = torch.optim.Adam(agent.network.parameters(), settings.learning_rate)
        for network in (agent.network, agent.target):
            network.forward = network.plain_forward  # type: ignore[method-assign, operator, assignment]
        walk, optimal, returns = new_walk(settings.max_steps), new_walk(settings.max_steps), list[float]()
        start = time.process_time()
        for episode in range(1, settings.episodes + 1):
            returns.append(plain_episode(env, agent, cells, walk))
            agent.remember(walk)
            if episode % settings.optimal_every == 0:
                kernels.play_optimally(agent.where.course, agent.where.best, agent.rng, optimal)
                agent.remember(optimal)
            agent.learn()
        return returns, time.process_time() - start


def plain_episode(env: gym.Env[Any, Any], agent: Agent, cells: dict[Any, int], walk: Walk) -> float:
    """One episode, one forward pass for each greedy step (for each step, if there is a hidden state)."""
    observation, _ = env.reset()
    hidden, total, n, m, done, terminated = None, 0.0, 0, 0, False, False
    states, actions = agent.where.world.successor.shape
    s = cells[tuple(observation.tolist())]
    while not done:
        seen = torch.zeros(1, states)
        seen[0, s] = 1.0
        if isinstance(agent, RecurrentDQN):
            with torch.no_grad():
                output, hidden = agent.network.memory(seen, hidden)
                values = agent.network.last(torch.relu(agent.network.middle(output)))
        if agent.rng.random() < agent.settings.epsilon:
            a = int(agent.rng.random() * actions)
        else:
            if isinstance(agent, DQN):
                with torch.no_grad():
                    values = agent.network(torch.cat([seen, torch.from_numpy(agent.where.memory.bits[m : m + 1])], 1))
            a = int(values.argmax())
        observation, reward, terminated, truncated, _ = env.step(a)
        walk.views[n], walk.actions[n], walk.rewards[n] = m * states + s, a, reward
        m, s = int(agent.where.memory.table[m, s, a]), cells[tuple(observation.tolist())]
        n, total, done = n + 1, total + float(reward), terminated or truncated
    walk.views[n] = m * states + s
    walk.outcome[:] = n, terminated
    return total


def machine_of(settings: DeepSettings, where: World) -> RewardMachine | None:
    """The true machine: what is timed here does not depend on how one is found."""
    return where.machine if settings.model == "ADQN" else None


def compare(task: str, model: str, episodes: int, seeds: int) -> float:
    """Prints one line; how many times faster ours is."""
    where, settings = world("office", task=task), DeepSettings(model, episodes=episodes)
    train(where, replace(settings, episodes=12), 0, machine_of(settings, where))  # compiles
    plain, ours, plain_seconds, seconds, same = [], [], [], [], []
    for seed in range(seeds):
        theirs, spent = plain_training(where, task, settings, seed)
        plain_seconds.append(spent)
        start = time.process_time()
        returns = train(where, settings, seed, machine_of(settings, where)).returns.tolist()
        seconds.append(time.process_time() - start)
        same.append(next((n for n, (a, b) in enumerate(zip(theirs, returns, strict=True)) if a != b), episodes))
        plain.append(statistics.fmean(theirs))
        ours.append(statistics.fmean(returns))
    rates = [seeds * episodes / sum(spent) for spent in (plain_seconds, seconds)]
    meet = abs(statistics.fmean(plain) - statistics.fmean(ours)) <= band(plain) + band(ours) + 1e-12
    print(
        f"{task}  {model:5} {rates[0]:9.1f} {rates[1]:9.1f} {rates[1] / rates[0]:7.1f}x   {min(same):6}"
        f"   {shown(plain):>15} {shown(ours):>15}   {'–' if seeds == 1 else 'yes' if meet else 'NO'}",
        flush=True,
    )
    return rates[1] / rates[0]


def error(values: list[float]) -> float:
    """The standard error of the mean."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def band(values: list[float]) -> float:
    """Half of the 95 % band."""
    return 1.96 * error(values)


def shown(values: list[float]) -> str:
    return f"{statistics.fmean(values):.3f} ± {error(values):.3f}"


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="e,b")
    parser.add_argument("--models", default="DQN,RNN,GRU,LSTM,ADQN")
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a minute instead of many")
    given = parser.parse_args()
    episodes, seeds = (40, 2) if given.quick else (given.episodes, given.seeds)
    print(f"Officeworld, the first {episodes} episodes of {seeds} seeds; episodes per second of one core")
    print("task model     plain      ours   faster  the same for     plain returns    our returns   bands meet")
    least = math.inf
    for task in given.tasks.split(","):
        for model in given.models.split(","):
            times = compare(task, model, episodes, seeds)
            least = min(least, times if model != "ADQN" else math.inf)
    print(f"least of DQN, RNN, GRU and LSTM: {least:.1f} times; the goal is {TIMES:g}")


if __name__ == "__main__":
    main()
