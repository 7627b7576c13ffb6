"""A machine that nobody drew, in a world that nobody drew."""

from __future__ import annotations

import numpy as np
import pytest

from markovize.active import ActiveLearner, Settings
from markovize.envs import WorldEnv
from markovize.worlds import random_grid_world


@pytest.mark.parametrize("acyclic", [True, False])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_directed_mode_ends_optimal(seed: int, acyclic: bool) -> None:
    rng = np.random.default_rng(seed)
    world = random_grid_world(rng, width=5, height=5, states=3, acyclic=acyclic)
    result = ActiveLearner(WorldEnv(world), Settings.of("directed", episodes=500, seed=seed, max_steps=200)).run()
    assert result.optimal_return is not None
    assert result.greedy_return == pytest.approx(result.optimal_return)
