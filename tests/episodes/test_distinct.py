"""Distinct values against ``numpy.unique``, and paid steps against their definition: few values, many, and none."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from markovize.episodes.distinct import FEW, distinct_keys, distinct_rewards
from markovize.episodes.paid import count_paid

SIZES = (0, 1, 2, 50)


@pytest.mark.parametrize("steps", SIZES)
@pytest.mark.parametrize("most", [1, 5, 10_000, 2**40])
def test_keys(steps: int, most: int) -> None:
    keys = np.random.default_rng(steps).integers(most, size=steps)
    for column in (keys, keys.astype(np.int32)) if most < 2**31 else (keys,):
        for mine, numpys in zip(distinct_keys(column), _unique(column), strict=True):
            np.testing.assert_array_equal(mine, numpys)


@pytest.mark.parametrize("steps", SIZES)
@pytest.mark.parametrize("levels", [1, 3, FEW, FEW + 1, 40])
def test_rewards(steps: int, levels: int) -> None:
    rewards = np.random.default_rng(steps).integers(levels, size=steps) / 4 - 1
    for mine, numpys in zip(distinct_rewards(rewards), _unique(rewards), strict=True):
        np.testing.assert_array_equal(mine, numpys)


def test_of_two_zeros_the_first_stays() -> None:
    for rewards in ([-0.0, 0.0, 1.0], [0.0, -0.0, 1.0]):
        assert str(distinct_rewards(np.array(rewards)).values[0]) == str(rewards[0])


@pytest.mark.parametrize("steps", SIZES)
@pytest.mark.parametrize("labels", [1, 4, 10_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_paid_steps_are_those_without_the_commonest_reward(steps: int, labels: int, weighted: bool) -> None:
    rng = np.random.default_rng(steps + labels)
    label, reward = rng.integers(labels, size=steps) // 10 * 10, rng.integers(3, size=steps)
    weights = rng.integers(1, 4, size=steps).astype(np.int32) if weighted else None
    seen: dict[int, Counter[int]] = defaultdict(Counter)
    for n in range(steps):
        seen[label[n]][reward[n]] += 1 if weights is None else weights[n]
    paid = sum(sum(counts.values()) - max(counts.values()) for counts in seen.values())
    assert count_paid(label, reward, weights) == paid


def _unique(column: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    return np.unique(column, return_index=True, return_inverse=True)
