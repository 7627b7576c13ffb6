"""Learning with allowances against every machine there is, on tiny instances."""

from __future__ import annotations

import numpy as np
import pytest
from noise_oracle import TooMuchError, draw_noisy, smallest_noisy

from markovize import learn


def agree(first: int, count: int) -> int:
    """How many instances could be compared; fails at the first that differs."""
    compared = 0
    for seed in range(first, first + count):
        instance = draw_noisy(np.random.default_rng(seed))
        for objective in ("triggers", "states"):
            acyclic = bool((seed + (objective == "states")) % 2)
            try:
                wanted = smallest_noisy(instance, objective, acyclic=acyclic)
            except TooMuchError:
                continue
            result = learn(
                instance.traces,
                objective=objective,
                acyclic=acyclic,
                trigger_on=instance.kinds[0],
                reward_on=instance.kinds[1],
                tolerance=instance.tolerance,
                outliers=instance.outliers,
                count_steps=True,
            )
            where = f"seed {seed}, {objective}, {'acyclic' if acyclic else 'cyclic'}"
            compared += 1
            if wanted is None:
                assert result.status == "unrealisable", where
                continue
            assert (result.status, result.states, result.triggers) == ("optimal", *wanted[:2]), where
            assert result.noise is not None
            assert len(result.noise.outliers) == wanted[2], where
            assert not (acyclic and not result.unwrap().acyclic), where
            spread = max(emission.spread for emission in result.unwrap().rewards)
            assert spread <= instance.tolerance, where
    return compared


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_learning_agrees_with_all_machines(first: int) -> None:
    """200 instances, each with two settings."""
    assert agree(first, 25) >= 40


@pytest.mark.long
def test_learning_agrees_on_many_more() -> None:
    assert agree(10_000, 2_000) >= 3_500
