"""Rewards of history on top of Gymnasium's toy-text environments, whose dynamics are known: so the optimum is, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from markovize.agents.tabular.policy import Policy

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rule:
    """A machine by its rules: the state that an episode starts with, the one after a step, and what the step pays.

    ``reward`` is given the state after the step, and what the environment itself pays.
    """

    states: int
    start: Callable[[int], int]
    move: Callable[[int, int, int, int], int]
    reward: Callable[[int, int, float], float]  # of (state, s', own reward)


class Ruled(gym.Wrapper[Any, Any, Any, Any]):
    """An environment whose reward follows a rule."""

    def __init__(self, env: gym.Env[Any, Any], rule: Rule) -> None:
        super().__init__(env)
        self.rule, self.now, self.before = rule, 0, 0

    def reset(self, **options: Any) -> tuple[int, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self.before, self.now = int(observation), self.rule.start(int(observation))
        return observation, info

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.now = self.rule.move(self.now, self.before, int(action), int(observation))
        self.before = int(observation)
        return observation, self.rule.reward(self.now, int(observation), float(reward)), terminated, truncated, info


@dataclass(frozen=True)
class Tables:
    """The product with the true machine: [m·S + s, action, outcome], padded with outcomes of no chance."""

    chance: Floats
    target: npt.NDArray[np.int64]
    reward: Floats
    goes_on: npt.NDArray[np.bool_]
    start: Floats


def tables_of(env: Ruled) -> Tables:
    dynamics, rule = env.unwrapped.P, env.rule  # type: ignore[attr-defined]
    states, actions = len(dynamics), len(dynamics[0])
    width = max(len(outcomes) for choices in dynamics.values() for outcomes in choices.values())
    shape = rule.states * states, actions, width
    chance, target = np.zeros(shape), np.zeros(shape, np.int64)
    reward, goes_on = np.zeros(shape), np.zeros(shape, np.bool_)
    for m in range(rule.states):
        for s, choices in dynamics.items():
            for a, outcomes in choices.items():
                for n, (p, t, own, end) in enumerate(outcomes):
                    after, place = rule.move(m, s, a, t), (m * states + s, a, n)
                    chance[place], target[place] = p, after * states + t
                    reward[place], goes_on[place] = rule.reward(after, t, float(own)), not end
    start = np.zeros(shape[0])
    for s, p in enumerate(env.unwrapped.initial_state_distrib):  # type: ignore[attr-defined]
        start[rule.start(s) * states + s] += p
    return Tables(chance, target, reward, goes_on, start)


def optimal_value(env: Ruled, gamma: float) -> float:
    """What an optimal policy earns, discounted, over the environment's own starts."""
    tables = tables_of(env)
    values = np.zeros(len(tables.start))
    for _ in range(2_000):
        after = tables.reward + gamma * tables.goes_on * values[tables.target]
        values = (tables.chance * after).sum(axis=2).max(axis=1)
    return float(tables.start @ values)


def value_of_policy(env: Ruled, policy: Policy, gamma: float) -> float:
    """What a policy earns, discounted, with the machine that it follows: exact, on the product of both machines."""
    tables, rule = tables_of(env), env.rule
    size, known = len(tables.start), policy.machine.states
    states = size // rule.states
    chosen = np.array([[policy.choose(s, u) for s in range(states)] for u in range(known)])
    follow = np.zeros((known, states, *tables.chance.shape[1:]), np.int64)
    for u, s, a, n in np.ndindex(follow.shape):
        follow[u, s, a, n] = policy.follow(u, (s, int(policy.actions[a]), int(tables.target[s, a, n]) % states))
    where = np.arange(size)
    values = np.zeros((known, size))
    for _ in range(400):
        new = np.empty_like(values)
        for u in range(known):
            a, s = chosen[u][where % states], where % states
            later = values[follow[u, s, a], tables.target[where, a]]
            earned = tables.reward[where, a] + gamma * tables.goes_on[where, a] * later
            new[u] = (tables.chance[where, a] * earned).sum(axis=1)
        values = new
    return float(tables.start @ values[policy.machine.initial])


# --- rules -----------------------------------------------------------------------------------------------------------


def visit_first(cell: int, paid: float) -> Rule:
    """What the environment's last step pays is for those only who were in a cell before."""
    return Rule(
        2,
        lambda s: int(s == cell),
        lambda m, _s, _a, t: int(m or t == cell),
        lambda m, _t, own: own if own < paid else paid * m,
    )


def cliff_after(cell: int, goal: int = 47, paid: float = 60.0) -> Rule:
    """CliffWalking pays more at its goal to those who were in a cell before."""
    return Rule(
        2,
        lambda s: int(s == cell),
        lambda m, _s, _a, t: int(m or t == cell),
        lambda m, t, own: own + paid * m * (t == goal),
    )


def taxi_parity(cell: tuple[int, int]) -> Rule:
    """Taxi pays a delivery to those who have ended an odd number of steps in a cell."""

    def there(s: int) -> bool:
        return divmod(s // 20, 5) == cell

    return Rule(
        2,
        lambda _s: 0,
        lambda m, _s, _a, t: m ^ there(t),
        lambda m, _t, own: own if own < 20.0 or m else -1.0,
    )
