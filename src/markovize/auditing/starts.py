"""Where an episode began: does the reward depend on it, or on something else that was drawn at the reset?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from markovize.auditing.places import Place, Stage
from markovize.auditing.snapshots import Floats
from markovize.auditing.tours import compared, tour

RESETS: Final = 60
ORDERS: Final = 40
SMOOTH: Final = 0.6  # of the jumps of a random order


def follows_start(stage: Stage, place: Place, before: Sequence[Place] = ()) -> bool:
    """Whether what a place pays changes little between resets whose first observations are close in some number."""
    starts, rewards = [], []
    for seed in range(stage.seed, stage.seed + RESETS):
        observation, _ = stage.env.reset(seed=seed)
        try:
            start = np.ravel(np.asarray(observation, np.float64))
        except (TypeError, ValueError):  # no array of numbers
            return False
        steps = stage.play(tour(stage, [*before, place], seed=seed))
        if len(steps) == 2 * len(before) + 2 and compared(place, steps[-1]):
            starts.append(start)
            rewards.append(steps[-1].reward)
    return len(rewards) >= RESETS // 2 and is_smooth(np.array(starts), np.array(rewards), stage.rng)


def is_smooth(starts: Floats, rewards: Floats, rng: np.random.Generator) -> bool:
    """Whether the rewards, in the order of one of the columns, jump less than in random orders.

    >>> rng = np.random.default_rng(0)
    >>> starts = rng.random((60, 2))
    >>> is_smooth(starts, np.abs(starts[:, 1] - 0.3), rng), is_smooth(starts, rng.random(60), rng)
    (True, False)
    """
    usual = np.mean([jumps(rewards[rng.permutation(len(rewards))]) for _ in range(ORDERS)])
    varied = [column for column in starts.T if len(np.unique(column)) > len(column) // 2]
    return any(jumps(rewards[np.argsort(column)]) < SMOOTH * usual for column in varied)


def jumps(rewards: Floats) -> float:
    """The sum of all changes from one to the next."""
    return float(np.abs(np.diff(rewards)).sum())
