"""Tiny noisy instances, and their smallest machines by trying every one: nothing is shared with the learner.

An instance is walks of a random machine whose rewards were shaken, or some of them replaced, and what is allowed for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from instances import KINDS, Kinds, random_steps

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces

Row: TypeAlias = tuple[bool, int, int, float]  # first of its episode, trigger label, reward label, reward
MOST_WORK = 300_000


class TooMuchError(Exception):
    """The instance has too many machines."""


@dataclass(frozen=True)
class Instance:
    """Episodes with noise, how they are labelled and what is allowed for."""

    traces: Traces
    kinds: Kinds
    tolerance: float
    outliers: int


def draw_noisy(rng: np.random.Generator) -> Instance:
    """An instance with a tolerance, outliers or both; at times less is allowed for than there is."""
    kinds = KINDS[int(rng.integers(0, len(KINDS)))]
    clean = random_steps(
        rng,
        kinds=kinds,
        episodes=int(rng.integers(2, 6)),
        length=int(rng.integers(2, 5)),
        rewards=int(rng.integers(2, 4)),
    )
    paid, what = clean.rewards.copy(), int(rng.integers(0, 3))
    tolerance, outliers = 0.0, 0
    if what != 1:  # whole eighths, so that many differences are equal to twice the tolerance
        tolerance = float(rng.integers(1, 6)) / 8
        paid += rng.integers(-4, 5, len(paid)) / 8 * rng.choice([0.5, 1.0])
    if what != 0:
        outliers = int(rng.integers(1, 4))
        wrong = rng.choice(len(paid), size=min(len(paid), outliers + int(rng.integers(-1, 2))), replace=False)
        paid[wrong] += rng.choice([-1.0, 1.0, 2.0], len(wrong))
    return Instance(replace(clean, rewards=paid), kinds, tolerance, outliers)


def rows_of(traces: Traces, kinds: Kinds) -> list[Row]:
    """The steps, episode by episode."""
    steps = label_traces(traces, *kinds)
    first = set(traces.offsets[:-1].tolist())
    columns = zip(steps.triggers.ids.tolist(), steps.rewards.ids.tolist(), traces.rewards.tolist(), strict=True)
    return [(n in first, x, y, r) for n, (x, y, r) in enumerate(columns)]


def least_outliers(cells: Sequence[object], rewards: Sequence[float], tolerance: float) -> int:
    """Of steps in these cells: what the best levels leave unexplained."""
    paid: dict[object, list[float]] = {}
    for cell, reward in zip(cells, rewards, strict=True):
        paid.setdefault(cell, []).append(reward)
    out = 0
    for here in paid.values():
        fullest = max(sum(low <= reward and reward - low <= 2 * tolerance for reward in here) for low in here)
        out += len(here) - fullest
    return out


def smallest_noisy(instance: Instance, objective: str, *, acyclic: bool) -> tuple[int, int, int] | None:
    """(K, z, least outliers of such machines); None if no machine explains the steps."""
    rows = rows_of(instance.traces, instance.kinds)
    rewards = [reward for _, _, _, reward in rows]
    histories: list[object] = []
    so_far: tuple[int, ...] = ()
    for is_first, label, reward_label, _ in rows:
        so_far = (label,) if is_first else (*so_far, label)
        histories.append((so_far, reward_label))
    if least_outliers(histories, rewards, instance.tolerance) > instance.outliers:
        return None
    work = [0]

    def best(states: int, triggers: int | None) -> int | None:
        """Of machines that are at most so large."""
        found = None
        for cells in _every_machine(rows, states, triggers, acyclic, work):
            outliers = least_outliers(cells, rewards, instance.tolerance)
            if outliers <= instance.outliers and (found is None or outliers < found):
                found = outliers
        return found

    if objective == "states":
        for states in range(1, len(rows) + 2):
            if best(states, None) is not None:
                for triggers in range(len(rows) + 1):
                    if (outliers := best(states, triggers)) is not None:
                        return states, triggers, outliers
    for triggers in range(len(rows) + 1):
        for states in range(1, triggers + 2):
            if (outliers := best(states, triggers)) is not None:
                return states, triggers, outliers
    raise AssertionError("a machine that follows the histories explains the steps")


def _every_machine(
    rows: list[Row], states: int, triggers: int | None, acyclic: bool, work: list[int]
) -> Iterator[list[tuple[int, int, int]]]:
    """The cells of the steps under each machine with at most so many states and triggers, each once."""

    def go(at: int, u: int, moves: dict[tuple[int, int], int], cells: list[tuple[int, int, int]]) -> Iterator[None]:
        work[0] += 1
        if work[0] > MOST_WORK:
            raise TooMuchError
        if at == len(rows):
            yield
            return
        is_first, label, reward_label, _ = rows[at]
        u = 0 if is_first else u
        known = moves.get((u, label))
        used = 1 + max((0, *moves.values()))
        for v in [known] if known is not None else range(min(used + 1, states)):
            if known is None:
                moves[u, label] = v
            edges = {(a, b) for (a, _), b in moves.items() if a != b}
            count = sum(a != b for (a, _), b in moves.items())
            if (triggers is None or count <= triggers) and not (acyclic and _has_cycle(edges)):
                cells.append((u, reward_label, v))
                yield from go(at + 1, v, moves, cells)
                cells.pop()
            if known is None:
                del moves[u, label]

    cells: list[tuple[int, int, int]] = []
    for _ in go(0, 0, {}, cells):
        yield cells


def _has_cycle(edges: set[tuple[int, int]]) -> bool:
    left = set(edges)
    while left:
        ends = {b for _, b in left}
        inner = {(a, b) for a, b in left if a in ends}
        if inner == left:
            return True
        left = inner
    return False
