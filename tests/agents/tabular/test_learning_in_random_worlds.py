"""A machine that nobody drew, in a world that nobody drew."""

from __future__ import annotations

import numpy as np
import pytest

from markovize.agents.tabular import ActiveLearner, Settings
from markovize.gym import WorldEnv
from markovize.worlds import random_grid_world


@pytest.mark.parametrize("acyclic", [True, False])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_directed_mode_ends_optimal(seed: int, acyclic: bool) -> None:
    rng = np.random.default_rng(seed)
    world = random_grid_world(rng, width=5, height=5, states=3, acyclic=acyclic)
    result = ActiveLearner(WorldEnv(world), Settings.of("directed", episodes=500, seed=seed, max_steps=200)).run()
    assert result.optimal_return is not None
    assert result.greedy_return == pytest.approx(result.optimal_return)


@pytest.mark.parametrize("compiled", [True, False])
def test_endings_that_depend_on_history(compiled: bool) -> None:
    """Here rewards never contradict each other, but some steps end the episode in one machine state only."""
    rng = np.random.default_rng(69)
    width, height, states = (int(n) for n in rng.integers((3, 3, 2), (9, 9, 6)))
    world = random_grid_world(rng, width=width, height=height, states=states, acyclic=bool(rng.random() < 0.5))
    earned = {}
    for explain in ("reward", "reward+termination"):
        settings = Settings.of("directed", episodes=400, seed=69, max_steps=200, explain=explain)
        result = ActiveLearner(WorldEnv(world), settings, compiled=compiled).run()
        earned[explain] = result.greedy_return
    assert result.optimal_return is not None
    assert earned["reward"] < earned["reward+termination"] == pytest.approx(result.optimal_return)
