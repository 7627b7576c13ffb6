"""The loop that trains any deep agent: play, remember, learn; now and then remember an optimal episode, too."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import torch

from markovize.agents.deep.agent import Agent
from markovize.agents.deep.agent_world import AgentWorld
from markovize.agents.deep.dqn import DQN
from markovize.agents.deep.fast.arrays import Walk
from markovize.agents.deep.fast.episodes import play_optimally
from markovize.agents.deep.recurrent import RecurrentDQN
from markovize.agents.deep.settings import WINDOW, DeepSettings
from markovize.agents.tabular import RunProgress
from markovize.episodes.traces import Floats
from markovize.errors import InputError
from markovize.learning.interrupts import interruptible
from markovize.machine.machine import RewardMachine
from markovize.worlds import World

REPORT_EVERY: Final = 200  # episodes


@dataclass(frozen=True)
class TrainingProgress(RunProgress):
    """Where a training is: the machine is the agent's own, the loss that of the last update."""

    loss: float = math.nan


@dataclass(frozen=True, eq=False)
class Trained:
    """An agent after its training, and what each of its episodes returned."""

    agent: Agent = field(repr=False)
    returns: Floats = field(repr=False)
    seconds: float


def train(
    world: World,
    settings: DeepSettings,
    seed: int,
    machine: RewardMachine | None = None,
    on_progress: Callable[[RunProgress], None] | None = None,
) -> Trained:
    """Trains one agent; the same seed gives the same agent, on one machine.

    ``machine`` is what ADQN sees beside the state. ``on_progress`` is told every 200 episodes, and at the end.
    """
    return go_on(Trained(new_agent(world, settings, seed, machine), np.zeros(0), 0.0), settings.episodes, on_progress)


def go_on(trained: Trained, episodes: int, on_progress: Callable[[RunProgress], None] | None = None) -> Trained:
    """Trains until there were so many episodes in all. The agent is the same object, changed.

    Ctrl-C raises :class:`KeyboardInterrupt` between two episodes, so that the agent is never half way through one.

    >>> from markovize.worlds import world
    >>> half = train(world("beach"), DeepSettings("DQN", episodes=10), seed=1)
    >>> whole = go_on(half, 20)
    >>> len(half.returns), len(whole.returns)
    (10, 20)
    """
    agent, settings, began = trained.agent, trained.agent.settings, time.perf_counter()
    done, episodes = len(trained.returns), max(episodes, len(trained.returns))
    returns = np.concatenate([trained.returns, np.zeros(episodes - done)])
    walk, optimal = new_walk(settings.max_steps), new_walk(settings.max_steps)
    with interruptible() as interrupt, one_quiet_thread():
        for episode in range(done + 1, episodes + 1):
            interrupt.raise_if_requested()
            returns[episode - 1] = agent.play(settings.epsilon, walk)
            agent.remember(walk)
            if settings.optimal_every and episode % settings.optimal_every == 0:
                play_optimally(agent.where.tables, agent.where.best, agent.rng, optimal)
                agent.remember(optimal)
            loss = agent.learn()
            if on_progress is not None and (episode % REPORT_EVERY == 0 or episode == episodes):
                on_progress(_progress(agent, returns[:episode], episodes, loss))
    return Trained(agent, returns, trained.seconds + time.perf_counter() - began)


def _progress(agent: Agent, returns: Floats, episodes: int, loss: float) -> TrainingProgress:
    machine = agent.where.machine
    states, triggers = (1, 0) if machine is None else (machine.states, len(machine.triggers))
    return TrainingProgress(
        len(returns), episodes, float(returns[-WINDOW:].mean()), states, triggers, 0, 0.0, loss=loss
    )


def new_agent(world: World, settings: DeepSettings, seed: int, machine: RewardMachine | None = None) -> Agent:
    """An agent that has learned nothing yet.

    >>> from markovize.worlds import world
    >>> agent = new_agent(world("office", task="e"), DeepSettings("DQN"), seed=0)
    >>> [tuple(weights.shape) for weights in agent.network.parameters()]
    [(128, 108), (128,), (128, 128), (128,), (5, 128), (5,)]
    """
    if not isinstance(world, World):
        raise InputError("deep agents are trained in a World, as markovize.worlds.world(…) gives it")
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"a seed is a whole number of at least 0, not {seed!r}")
    if (machine is not None) != (settings.model == "ADQN"):
        raise InputError("ADQN needs a machine, and no other model has one")
    where = AgentWorld(world, machine, settings.gamma)
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
