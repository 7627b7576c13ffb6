"""Trials in groups by task and variant, and the numbers of a group over its seeds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished

if TYPE_CHECKING:
    from markovize.episodes.traces import Floats

Group: TypeAlias = tuple[str, str]
"""Task and variant."""

NOTHING: Final = "–"


@dataclass(frozen=True)
class Spread:
    """Mean, deviation (of the population, as the paper's), least and greatest of some numbers.

    >>> Spread.of([1, 3])
    Spread(mean=2.0, sd=1.0, low=1.0, high=3.0)
    """

    mean: float
    sd: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Of at least one number."""
        numbers = [float(value) for value in values]
        return cls(statistics.fmean(numbers), statistics.pstdev(numbers), min(numbers), max(numbers))

    def meets(self, mean: float, sd: float) -> bool:
        """Whether the ranges mean ± sd have something in common."""
        return abs(self.mean - mean) <= self.sd + sd + 1e-9


def group_trials(trials: Sequence[Finished]) -> dict[Group, list[Finished]]:
    """The trials of each task and variant, by seed; groups in the order in which they first come."""
    out: dict[Group, list[Finished]] = {}
    for trial in trials:
        out.setdefault((trial[0].task, trial[0].variant), []).append(trial)
    return {group: sorted(members, key=lambda trial: trial[0].seed) for group, members in out.items()}


def group_name(group: Group) -> str:
    """What a task and variant are called on the page.

    >>> group_name(("b full", "states")), group_name(("e", ""))
    ('b full · states', 'e')
    """
    return " · ".join(part for part in group if part)


def sort_trials(trials: Sequence[Finished]) -> list[Finished]:
    """Group by group, in each by seed."""
    return [trial for members in group_trials(trials).values() for trial in members]


def tasks_in(trials: Sequence[Finished]) -> list[str]:
    """The names of all tasks, in the order in which they first come."""
    return list(dict.fromkeys(record.task for record, _ in trials))


def variants_in(trials: Sequence[Finished]) -> list[str]:
    """The names of all variants, in the order in which they first come."""
    return list(dict.fromkeys(record.variant for record, _ in trials))


def extra_names(extras: Iterable[Mapping[str, float]]) -> list[str]:
    """The names of all that only some kinds of tasks have."""
    return list(dict.fromkeys(name for extra in extras for name in extra))


def paper_of(paper: Mapping[str, PaperValues] | None, group: Group) -> PaperValues | None:
    """What was published about a task and variant, or about the task whatever the variant.

    >>> said = {"e, LSTM": PaperValues(final_return=0.04), "b": PaperValues(2.0)}
    >>> paper_of(said, ("e", "LSTM")).final_return, paper_of(said, ("b", "states")).states, paper_of(said, ("e", "GRU"))
    (0.04, 2.0, None)
    """
    said = paper or {}
    return said.get(", ".join(group), said.get(group[0]))


def curve_of(trial: Finished, column: Callable[[Finished], Sequence[float]]) -> dict[int, float]:
    """One column of a trial's curve, by episode."""
    return dict(zip(trial[0].curve.episode, column(trial), strict=True))


def common_points(curves: Sequence[Mapping[int, float]]) -> list[int]:
    """The episodes at which all of these curves have a point.

    >>> common_points([{1: 0.0, 50: 1.0}, {1: 0.0, 20: 1.0, 50: 1.0}])
    [1, 50]
    """
    return sorted(set.intersection(*(set(curve) for curve in curves)))


def stack_curves(trials: Sequence[Finished], column: Callable[[Finished], Sequence[float]]) -> tuple[list[int], Floats]:
    """The curves of all seeds at the points that they share: the points, and values [seed, point]."""
    curves = [curve_of(trial, column) for trial in trials]
    points = common_points(curves)
    return points, np.array([[curve[point] for point in points] for curve in curves], np.float64)


def mean_and_deviation(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean - sd, mean and mean + sd over seeds, of values [seed, point]."""
    mean, sd = values.mean(axis=0), values.std(axis=0)
    return mean - sd, mean, mean + sd


def format_mean(mean: float | None, sd: float | None = None) -> str:
    """Mean ± deviation, with as many digits as are worth reading.

    >>> format_mean(5.0, 0.0), format_mean(22.4, 8.84), format_mean(0.0123, 0.004), format_mean(None)
    ('5 ± 0', '22.4 ± 8.8', '0.012 ± 0.004', '–')
    >>> format_mean(1102.9, 1068.8), format_mean(4200)
    ('1,103 ± 1,069', '4,200')
    """
    if mean is None:
        return NOTHING
    largest = max(abs(mean), sd or 0.0)
    digits = 0 if largest >= 100 else 1 if largest >= 10 else 2 if largest >= 0.1 else 3
    return " ± ".join(_trim(value, digits) for value in (mean, sd) if value is not None)


def _trim(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
