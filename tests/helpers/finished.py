"""Finished trials for the tests of reports: real runs, made once in each process."""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium as gym

import markovize
from markovize.experiments import Task, Trial
from markovize.experiments.execute.tabular import record_run
from markovize.experiments.records import Finished


def finish(
    env_id: str, name: str, /, *, seed: int = 0, variant: str = "", mode: str = "directed", **given: Any
) -> Finished:
    """One trial; what is given is split into settings and arguments of the environment."""
    settings = {key: value for key, value in given.items() if key in markovize.Settings.__dataclass_fields__}
    args = {key: value for key, value in given.items() if key not in settings}
    env = gym.make(env_id, **args)
    result = markovize.ActiveLearner(env, markovize.Settings.of(mode, seed=seed, **settings)).run()
    return record_run(Trial("test", Task(name, env_id, args, result.settings, variant), seed), env, result)


@cache
def breakfast(seed: int = 0) -> Finished:
    """Task b, all rewards."""
    return finish("markovize/BreakfastWorld-v0", "b full", seed=seed, episodes=200)


@cache
def cumulative(seed: int = 0) -> Finished:
    """Task b as the paper runs it: too short to be sure of the best policy."""
    return finish(
        "markovize/BreakfastWorld-v0",
        "b cumulative",
        seed=seed,
        mode="paper",
        episodes=400,
        max_wait=1000,
        rewards="cumulative",
    )


@cache
def office(seed: int = 0) -> Finished:
    """Coffee, then office: one of the two machines' triggers may stand for another."""
    return finish("markovize/OfficeWorld-v0", "b", seed=seed, episodes=150, acyclic=True, task="b")


@cache
def beach() -> Finished:
    """No map, and labels on transitions."""
    return finish("markovize/BeachWorld-v0", "beach", episodes=60, trigger_on="transition", reward_on="transition")


@cache
def lake() -> Finished:
    """Not a world of this package: no true machine, no known optimum, no conflict."""
    return finish("FrozenLake-v1", "lake", episodes=50, is_slippery=False, map_name="4x4")


def two_tasks() -> list[Finished]:
    """Two tasks with two seeds each."""
    return [breakfast(0), breakfast(1), cumulative(0), cumulative(1)]
