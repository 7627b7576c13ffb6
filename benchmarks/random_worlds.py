"""Random machines in random grid worlds: does the active learner end with an optimal greedy policy?

    python benchmarks/random_worlds.py [--seeds 100] [--episodes 20000] [--first 0]

Grids up to 8×8, two to five states, half of the machines acyclic, default settings. Prints
each failure, each slow run and the count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple


class Outcome(NamedTuple):
    """One world."""

    seed: int
    states: int
    learned: int
    greedy: float
    best: float
    since: int | None
    solves: int
    solve: float
    seconds: float

    @property
    def optimal(self) -> bool:
        return self.greedy >= self.best - 1e-9


def one(job: tuple[int, int]) -> Outcome:
    """Makes the world of a seed and learns in it."""
    import numpy as np

    from markovize import ActiveLearner, Settings
    from markovize.gym import WorldEnv
    from markovize.worlds import random_grid_world

    seed, episodes = job
    rng = np.random.default_rng(seed)
    width, height, states = (int(n) for n in rng.integers((3, 3, 2), (9, 9, 6)))
    world = random_grid_world(rng, width=width, height=height, states=states, acyclic=bool(rng.random() < 0.5))
    start = time.perf_counter()
    settings = Settings.of("directed", episodes=episodes, seed=seed, max_steps=200)
    result = ActiveLearner(WorldEnv(world), settings).run()
    assert result.optimal_return is not None
    return Outcome(
        seed,
        states,
        result.machine.states,
        result.greedy_return,
        result.optimal_return,
        result.episodes_to_optimal,
        len(result.solves),
        result.solve_seconds,
        time.perf_counter() - start,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    jobs = [(seed, asked.episodes) for seed in range(asked.first, asked.first + asked.seeds)]
    one((0, 20))  # compile once
    with ProcessPoolExecutor(asked.jobs) as pool:
        outcomes = []
        for outcome in pool.map(one, jobs):
            outcomes.append(outcome)
            if not outcome.optimal or outcome.seconds > 30:
                print(outcome, flush=True)
            if len(outcomes) % 10 == 0 or len(outcomes) == asked.seeds:
                print(summary(outcomes), flush=True)


def summary(outcomes: list[Outcome]) -> str:
    """How many are optimal, and how long they took."""
    good = sum(outcome.optimal for outcome in outcomes)
    median = statistics.median(outcome.seconds for outcome in outcomes)
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    return (
        f"optimal: {good} of {len(outcomes)}; median {median:.1f} s, "
        f"slowest {slowest.seconds:.1f} s (seed {slowest.seed})"
    )


if __name__ == "__main__":
    main()
