"""How good a policy is: the optimum of a world whose true machine is known, and greedy episodes elsewhere."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from markovize.agents.tabular.policy import Policy
from markovize.agents.tabular.stopping import Stop
from markovize.episodes.spaces import value_of
from markovize.episodes.traces import Floats
from markovize.product.value_iteration import optimal_values
from markovize.worlds import World

GREEDY_EPISODES = 100
LEVEL = 0.95  # of confidence
GAMMAS = (0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999)  # that may be advised
SAME = 1e-9  # returns that differ by less are the same


def optimal_return(world: World, gamma: float, steps: int) -> float:
    """What the policy that value iteration finds on the true product earns: undiscounted, within the step limit.

    Where the world is random, that is the mean over all that may happen.

    >>> from markovize.worlds import world
    >>> optimal_return(world("office", task="e"), 0.95, 200), optimal_return(world("office", task="e"), 0.95, 20)
    (1.0, 0.0)
    """
    q = optimal_values(world, gamma)
    if world.drift is not None:
        return mean_return(world, q, steps)
    tables = world.tables
    values = q.max(axis=2)
    u, s, total = world.machine.initial, world.start, 0.0
    for _ in range(steps):
        a = int(np.flatnonzero(q[u, s] >= values[u, s] - 1e-7)[0])
        total += float(tables.reward[u, s, a])
        if tables.terminated[u, s, a]:
            break
        u, s = int(tables.u[u, s, a]), int(world.successor[s, a])
    return total


def mean_return(world: World, q: Floats, steps: int) -> float:
    """What the policy that is greedy in ``q[u, state, action]`` earns on average, where chance moves the world on.

    >>> from markovize.worlds import world
    >>> harvest = world("harvest")
    >>> round(mean_return(harvest, optimal_values(harvest, 0.9), 50), 3)
    16.83
    """
    assert world.drift is not None
    here, total = np.zeros(q.shape[:2]), 0.0
    here[world.machine.initial, world.start] = 1.0
    for _ in range(steps):
        after = np.zeros_like(here)
        for u, s in np.argwhere(here > 0).tolist():
            a = int(np.flatnonzero(q[u, s] >= q[u, s].max() - 1e-7)[0])
            for t, chance in enumerate(world.drift[world.successor[s, a]].tolist()):
                step = world.step(s, u, a, t)
                total += here[u, s] * chance * step.reward
                if not step.terminated:
                    after[step.u, t] += here[u, s] * chance
        here = after
    return float(total)


def most_return(world: World, steps: int) -> float:
    """The most that anybody can earn within so many steps, undiscounted: backward induction on the true product.

    >>> from markovize.worlds import world
    >>> most_return(world("office", task="e"), 200), most_return(world("office", task="e"), 20)
    (1.0, 0.0)
    """
    tables = world.tables
    values = np.zeros(tables.reward.shape[:2])
    goes_on, after = ~tables.terminated, np.broadcast_to(world.successor, tables.u.shape)
    for _ in range(steps):
        values = (tables.reward + goes_on * values[tables.u, after]).max(axis=2)
    return float(values[world.machine.initial, world.start])


def advise_gamma(world: World, gamma: float, steps: int) -> str:
    """What to say where the policy that is best under this discount earns less than another one; nothing elsewhere.

    >>> from markovize.worlds import world
    >>> advise_gamma(world("office", task="e"), 0.95, 200)
    ''
    >>> advise_gamma(world("breakfast", task="b"), 0.6, 200)
    'with gamma=0.6 the best policy returns 1.8 (undiscounted), another one 3.2; take --gamma 0.9'
    """
    here = optimal_return(world, gamma, steps)
    if most_return(world, steps) <= here + SAME:
        return ""
    better = {other: optimal_return(world, other, steps) for other in GAMMAS if other > gamma}
    best = max(better.values(), default=here)
    if best <= here + SAME:
        return ""
    other = next(gamma for gamma, earned in better.items() if earned >= best - SAME)
    return (
        f"with gamma={gamma:g} the best policy returns {here:g} (undiscounted), another one {best:g}; "
        f"take --gamma {other:g}"
    )


def greedy_returns(
    env: gym.Env[Any, Any], policy: Policy, steps: int, seed: int, stop: Stop, episodes: int = GREEDY_EPISODES
) -> Floats:
    """What each of some greedy episodes earns. Nothing is learned from them, and no table grows."""
    returns = np.zeros(episodes)
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed + episode)
        u, before = policy.machine.initial, policy.value(observation)
        for _ in range(steps):
            stop.check()
            action = policy.actions[policy.choose(before, u)]
            observation, reward, terminated, truncated, _ = env.step(action)
            returns[episode] += float(reward)
            after = policy.value(observation)
            u = policy.follow(u, (before, value_of(action, "action"), after))
            before = after
            if terminated or truncated:
                break
    return returns


def interval_of_mean(returns: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Where the mean return lies, with this confidence, by Student's distribution; one point where all are equal.

    >>> low, high = interval_of_mean(np.array([1.0, 0.0, 1.0, 1.0]))
    >>> round(low, 2), round(high, 2)
    (-0.05, 1.55)
    >>> interval_of_mean(np.array([2.0, 2.0]))
    (2.0, 2.0)
    """
    from scipy import stats

    mean, error = float(np.mean(returns)), float(stats.sem(returns)) if len(returns) > 1 else 0.0
    if error == 0.0:
        return mean, mean
    low, high = stats.t.interval(level, len(returns) - 1, loc=mean, scale=error)
    return float(low), float(high)
