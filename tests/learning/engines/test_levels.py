"""Clauses of rewards within a tolerance against the rule itself."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
from pysat.solvers import Solver

from markovize.learning.engines.levels import Levels


@pytest.mark.parametrize("seed", range(40))
def test_rewards_share_a_cell_where_no_two_are_too_far_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = float(rng.choice([0.1, 0.3, 1.0]))
    rewards = rng.choice(np.round(np.arange(0, 2, 0.1), 1), 9).tolist()
    ends = rng.integers(0, 2, 9).tolist() if seed % 2 else [None] * 9
    with Solver(name="glucose4") as solver:
        numbers = count(1)
        levels = Levels(width, lambda: next(numbers), solver.add_clause)
        implied = [levels.have(reward, end) for reward, end in zip(rewards, ends, strict=True)]
        for _ in range(60):
            chosen = np.flatnonzero(rng.random(9) < 0.4).tolist()
            fits = all(abs(rewards[a] - rewards[b]) <= width and ends[a] == ends[b] for a in chosen for b in chosen)
            assert solver.solve(assumptions=[true for each in chosen for true in implied[each]]) == fits
