"""Do rewards follow the distributions of a machine? A test of fit for machines whose rewards are random.

What the machine's own episodes paid in a cell and what new ones pay there are two samples. Where they come from one
distribution, the likelihood ratio of "two distributions" (each foretold as it comes, with half a count for each reward
to begin with) over the best single one is 1/α or more with a probability of at most α, however small the samples are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import lgamma, log
from typing import Any, Final

from markovize.episodes.tally import Seen
from markovize.episodes.values import Value, jsonable, show
from markovize.machine.parts import Emission, Share

ALPHA: Final = 0.01


@dataclass(frozen=True)
class Misfit:
    """A (u, reward label, u') whose rewards do not follow the machine's distribution."""

    cell: tuple[int, Value, int]
    steps: int
    expected: float  # the machine's mean
    observed: float  # the mean of the new steps
    first: tuple[int, int]  # episode and step

    def __str__(self) -> str:
        u, label, v = self.cell
        return (
            f"({u}, {show(label)}, {v}) pays {self.observed:.3g} on average of {self.steps:,}, not {self.expected:.3g}"
        )

    def to_json(self) -> dict[str, Any]:
        """As ``replay --json`` has it."""
        u, label, v = self.cell
        cell = {"from": u, "on": jsonable(label), "to": v}
        return cell | {"steps": self.steps, "expected": self.expected, "observed": self.observed}


@dataclass(frozen=True)
class Fit:
    """How many cells with a distribution were compared, and which of them do not fit.

    >>> Fit(3).to_json()
    {'alpha': 0.01, 'cells': 3, 'misfits': []}
    """

    cells: int
    misfits: tuple[Misfit, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As ``replay --json`` has it."""
        return {"alpha": ALPHA, "cells": self.cells, "misfits": [each.to_json() for each in self.misfits]}


def compare(found: Iterable[tuple[Emission, Mapping[float, Seen]]]) -> Fit:
    """What steps of cells paid, beside the distributions of these cells; all of them together are one test.

    >>> often, never = {1.0: Seen(90, (0, 4)), 0.0: Seen(10, (2, 0))}, {0.0: Seen(90, (0, 0))}
    >>> cell = Emission(0, "office", 0, 0.8, distribution=(Share(0.0, 0.0, 20), Share(1.0, 1.0, 80)))
    >>> compare([(cell, often)]).misfits, str(compare([(cell, never)]).misfits[0])
    ((), '(0, office, 0) pays 0 on average of 90, not 0.8')
    """
    cells = list(found)
    misfits = []
    for emission, paid in cells:
        if _evidence(*_tables(emission.distribution, paid)) >= log(len(cells) / ALPHA):
            steps = sum(seen.count for seen in paid.values())
            mean = sum(reward * seen.count for reward, seen in paid.items()) / steps
            step, episode = min(seen.first for seen in paid.values())
            cell = (emission.source, emission.on, emission.target)
            misfits.append(Misfit(cell, steps, emission.reward, mean, (episode, step)))
    return Fit(len(cells), tuple(misfits))


def _tables(known: Sequence[Share], paid: Mapping[float, Seen]) -> tuple[list[int], list[int]]:
    """How often each category was paid before, and now. Rewards between two groups are of the nearer one."""
    before, now = [share.count for share in known], [0] * len(known)
    grouped = any(share.low < share.high for share in known)
    for reward, seen in paid.items():
        near = min(range(len(known)), key=lambda n: max(known[n].low - reward, reward - known[n].high, 0.0))
        if grouped or known[near].low == reward:
            now[near] += seen.count
        else:  # never paid before: a category of its own
            before.append(0)
            now.append(seen.count)
    return before, now


def _evidence(before: Sequence[int], now: Sequence[int]) -> float:
    """The log of the likelihood ratio of two distributions over one.

    >>> _evidence([50, 50], [50, 50]) < 0 < _evidence([50, 50], [100, 0])
    True
    """
    both = [a + b for a, b in zip(before, now, strict=True)]
    one = sum(n * log(n / sum(both)) for n in both if n)
    return _foretold(before) + _foretold(now) - one


def _foretold(counts: Sequence[int]) -> float:
    half = len(counts) / 2
    known = sum(lgamma(n + 0.5) - lgamma(0.5) for n in counts)
    return known - lgamma(sum(counts) + half) + lgamma(half)
