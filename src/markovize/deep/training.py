"""The loop that trains any deep agent: play, remember, learn; now and then remember an optimal episode, too."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import torch

from markovize.deep import kernels
from markovize.deep.agent import Agent
from markovize.deep.courses import DeepWorld, Memory
from markovize.deep.dqn import DQN
from markovize.deep.kernels import Walk
from markovize.deep.recurrent import RecurrentDQN
from markovize.deep.settings import DeepSettings
from markovize.errors import InputError
from markovize.machine import RewardMachine
from markovize.traces import Floats
from markovize.worlds import World

REPORT_EVERY: Final = 200  # episodes


@dataclass(frozen=True, eq=False)
class Trained:
    """An agent after its training, and what each of its episodes returned."""

    agent: Agent = field(repr=False)
    returns: Floats = field(repr=False)
    seconds: float


def train(
    world: World, settings: DeepSettings, seed: int, machine: RewardMachine | None = None,
    on_episodes: Callable[[int, Floats], None] | None = None,
) -> Trained:  # fmt: skip
    """Trains one agent; the same seed gives the same agent, on one machine.

    ``machine`` is what ADQN sees beside the state. ``on_episodes`` is told now and then how many episodes are done, and
    their returns.
    """
    began = time.perf_counter()
    with one_quiet_thread():
        agent = new_agent(world, settings, seed, machine)
        walk, optimal = new_walk(settings.max_steps), new_walk(settings.max_steps)
        returns = np.zeros(settings.episodes)
        for episode in range(1, settings.episodes + 1):
            returns[episode - 1] = agent.play(settings.epsilon, walk)
            agent.remember(walk)
            if settings.optimal_every and episode % settings.optimal_every == 0:
                kernels.play_optimally(agent.where.course, agent.where.best, agent.rng, optimal)
                agent.remember(optimal)
            agent.learn()
            if on_episodes is not None and episode % REPORT_EVERY == 0:
                on_episodes(episode, returns[:episode])
    return Trained(agent, returns, time.perf_counter() - began)


def new_agent(world: World, settings: DeepSettings, seed: int, machine: RewardMachine | None = None) -> Agent:
    """An agent that has learned nothing yet.

    >>> from markovize.worlds import world
    >>> agent = new_agent(world("office", task="e"), DeepSettings("DQN"), seed=0)
    >>> [tuple(weights.shape) for weights in agent.network.parameters()]
    [(128, 108), (128,), (128, 128), (128,), (5, 128), (5,)]
    """
    if (machine is not None) != (settings.model == "ADQN"):
        raise InputError("ADQN needs a machine, and no other model has one")
    where = DeepWorld(world, Memory.of(world, machine), settings.gamma)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (RecurrentDQN if settings.recurrent else DQN)(where, settings, np.random.default_rng(seed))


def new_walk(steps: int) -> Walk:
    """Room for an episode of at most so many steps."""
    return Walk(
        np.zeros(steps + 1, np.int32), np.zeros(steps, np.int32), np.zeros(steps, np.float32), np.zeros(2, np.int32)
    )


@contextmanager
def one_quiet_thread() -> Iterator[None]:
    """One thread, so that sums have one order; numbers next to nothing are 0, since they would take long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)
