"""The smallest machine with guards within an allowance, by trying all of them: nothing is shared with the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import TypeAlias

import numpy as np
from guard_oracle import Instance, cheapest_guards, draw_instance, every_delta, walk_cells
from noise_oracle import TooMuchError, least_outliers

Size: TypeAlias = tuple[int, int, int, int, int]
"""Guards, literals, states, triggers, outliers."""

MOST_MACHINES = 8_000


@dataclass(frozen=True)
class NoisyInstance:
    """Walks whose rewards have errors, and what is allowed for."""

    instance: Instance
    tolerance: float
    outliers: int


def draw_noisy_guards(rng: np.random.Generator) -> NoisyInstance:
    """With a tolerance, outliers or both; in one of four less may be allowed for than there is.

    There the machine explains noise, and often has more guards than can all be tried.
    """
    clean, what, enough = draw_instance(rng), int(rng.integers(0, 3)), bool(rng.random() < 0.75)
    tolerance, outliers, shake = 0.0, 0, 0.0
    if what != 1:  # whole eighths, so that many differences are equal to twice the tolerance
        tolerance, shake = float(rng.integers(1, 6)) / 8, float(rng.choice([0.5, 1.0]))
        tolerance = max(tolerance, shake / 2) if enough else tolerance
    if what != 0:
        outliers = int(rng.integers(1, 4))
    paid = [[reward + float(rng.integers(-4, 5)) / 8 * shake for _, reward in walk] for walk in clean.walks]
    steps = [(e, n) for e, walk in enumerate(paid) for n in range(len(walk))]
    many = max(0, outliers + int(rng.integers(-1, 1 if enough else 2))) if outliers else 0
    for at in rng.choice(len(steps), size=min(len(steps), many), replace=False):
        e, n = steps[at]
        paid[e][n] += float(rng.choice([-1.0, 1.0, 2.0]))
    walks = [
        [(row, reward) for (row, _), reward in zip(walk, rewards, strict=True)]
        for walk, rewards in zip(clean.walks, paid, strict=True)
    ]
    return NoisyInstance(Instance(clean.numeric, walks), tolerance, outliers)


def smallest_noisy_guards(noisy: NoisyInstance, *, acyclic: bool, most_guards: int = 3) -> Size | None:
    """The best machine; None if no machine explains the steps."""
    rewards = [reward for walk in noisy.instance.walks for _, reward in walk]
    histories = [tuple(row for row, _ in walk[: n + 1]) for walk in noisy.instance.walks for n in range(len(walk))]
    if least_outliers(histories, rewards, noisy.tolerance) > noisy.outliers:
        return None
    cheapest, walks = cheapest_guards(noisy.instance)

    def outliers_of(*machine: object) -> int | None:
        cells = walk_cells(walks, *machine)  # type: ignore[arg-type]
        return None if cells is None else least_outliers(cells, rewards, noisy.tolerance)

    for guards in range(most_guards + 1):
        best = _best_with(guards, cheapest, outliers_of, noisy.outliers, acyclic)
        if best is not None:
            return (guards, *best)
    raise TooMuchError


def _best_with(
    guards: int,
    cheapest: dict[tuple[bool, ...], int],
    outliers_of: Callable[..., int | None],
    allowed: int,
    acyclic: bool,
) -> tuple[int, int, int, int] | None:
    best: tuple[int, int, int, int] | None = None
    for triggers in range(guards + 1):
        deltas = list(every_delta(triggers, acyclic))
        if len(deltas) * comb(len(cheapest), guards - triggers) * len(cheapest) ** triggers > MOST_MACHINES:
            raise TooMuchError
        for rewards in combinations(cheapest, guards - triggers):
            for moves, states in deltas:
                for held in product(cheapest, repeat=triggers):
                    cost = sum(cheapest[box] for box in (*rewards, *held))
                    if best is not None and (cost, states, triggers, 0) >= best:
                        continue
                    outliers = outliers_of(moves, held, rewards)
                    if outliers is not None and outliers <= allowed:
                        size = cost, states, triggers, outliers
                        best = size if best is None else min(best, size)
    return best
