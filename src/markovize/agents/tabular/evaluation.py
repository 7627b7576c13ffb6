"""How good a policy is: the optimum of a world whose true machine is known, and greedy episodes elsewhere."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.stopping import Stop
from markovize.gym.space_index import all_elements
from markovize.product.value_iteration import optimal_values
from markovize.worlds import World

GREEDY_EPISODES = 100


def optimal_return(world: World, gamma: float, steps: int) -> float:
    """What the policy that value iteration finds on the true product earns: undiscounted, within the step limit.

    >>> from markovize.worlds import world
    >>> optimal_return(world("office", task="e"), 0.95, 200), optimal_return(world("office", task="e"), 0.95, 20)
    (1.0, 0.0)
    """
    tables, q = world.tables, optimal_values(world, gamma)
    values = q.max(axis=2)
    u, s, total = world.machine.initial, world.start, 0.0
    for _ in range(steps):
        a = int(np.flatnonzero(q[u, s] >= values[u, s] - 1e-7)[0])
        total += float(tables.reward[u, s, a])
        if tables.terminated[u, s, a]:
            break
        u, s = int(tables.u[u, s, a]), int(world.successor[s, a])
    return total


def mean_greedy_return(
    env: gym.Env[Any, Any], agent: Agent, steps: int, seed: int, stop: Stop, episodes: int = GREEDY_EPISODES
) -> float:
    """The mean return of greedy episodes; where the values know nothing, the first action is taken."""
    total, actions = 0.0, all_elements(env.action_space)
    codec, q, delta = agent.codec, agent.arrays.values.q, agent.arrays.machine.delta
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed + episode)
        u, s = 0, codec.observations.id(observation)
        for _ in range(steps):
            stop.check()
            a = int(np.argmax(q[u, s])) if s < q.shape[1] else 0
            observation, reward, terminated, truncated, _ = env.step(actions[a])
            total += float(reward)
            t = codec.observations.id(observation)
            label = codec.triggers.ids[codec.transition(s, a, t)]
            u = int(delta[u, label]) if label < delta.shape[1] else u
            s = t
            if terminated or truncated:
                break
    return total / episodes
