"""Learning with allowances against every machine there is, on tiny instances."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from instances import KINDS, random_steps
from noise_oracle import TooMuchError, draw_noisy, smallest_noisy

from markovize import Learner, Traces, learn
from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.learner import LearnOptions
from markovize.learning.levels_apart import with_levels_apart


@contextmanager
def rewards_as_they_are() -> Iterator[None]:
    """Levels that lie apart are no outcomes of their own: the engine compares rewards."""
    with mock.patch("markovize.learning.problem.with_levels_apart", lambda steps, allowance, _: (steps, allowance)):
        yield


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
            is_rough = bool(seed // 2 % 2) and instance.tolerance > 0
            with rewards_as_they_are() if is_rough else nullcontext():
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


def calls_agree(first: int, count: int) -> tuple[int, int]:
    """A learner whose episodes grow, shrink and come back, against fresh ones: how often levels were apart, and not."""
    apart = [0, 0]
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        kinds, tolerance = KINDS[seed % len(KINDS)], float(rng.integers(1, 5)) / 8
        clean = random_steps(rng, kinds=kinds, episodes=6, length=5, rewards=2)
        shaken = clean.rewards + rng.integers(-4, 5, clean.steps) / 4 * tolerance  # levels are one apart
        asked: LearnOptions = {
            "acyclic": bool(seed % 2),
            "objective": "states" if seed % 3 else "triggers",
            "trigger_on": kinds[0],
            "reward_on": kinds[1],
            "tolerance": tolerance,
            "outliers": 0 if seed % 5 else 1,
        }
        every = list(replace(clean, rewards=shaken))
        learner = Learner(**asked)
        for episodes in (1, 2, len(every), len(every), int(rng.integers(1, len(every) + 1)), len(every)):
            part = Traces.of(every[:episodes])
            warm, fresh = learner.learn(part), Learner(**asked).learn(part)
            assert (warm.status, warm.states, warm.triggers) == (fresh.status, fresh.states, fresh.triggers), seed
            apart[with_levels_apart(label_traces(part, *kinds), Allowance(tolerance))[1].exact] += 1
    return apart[True], apart[False]


def test_calls_agree_with_fresh_ones_where_levels_begin_to_overlap() -> None:
    apart, overlapping = calls_agree(0, 60)
    assert min(apart, overlapping) >= 50


@pytest.mark.long
def test_many_more_calls_agree_with_fresh_ones() -> None:
    apart, overlapping = calls_agree(20_000, 3_000)
    assert min(apart, overlapping) >= 2_500


@pytest.mark.long
def test_learning_agrees_on_many_more() -> None:
    assert agree(10_000, 2_000) >= 3_500
