"""The numbers of a report for programs: CSV files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from markovize.experiments.records import Finished, TrialRecord
from markovize.experiments.report.groups import (
    Group,
    Spread,
    common_points,
    curve_of,
    extra_names,
    group_trials,
    sort_trials,
)
from markovize.io.files import csv_text


def results_csv(trials: Sequence[Finished]) -> str:
    """A row for each task, variant and seed; nothing in it depends on a clock."""
    more = extra_names(record.extra for record, _ in trials)
    rows = [_result(record, more) for record, _ in sort_trials(trials)]
    return csv_text(list(rows[0]), [list(row.values()) for row in rows])


def _result(record: TrialRecord, more: Sequence[str]) -> dict[str, object]:
    found = record.match()
    return {
        "experiment": record.experiment,
        "task": record.task,
        "variant": record.variant,
        "seed": record.seed,
        "status": record.status,
        "episodes": record.episodes,
        "waited": record.waited,
        "reported": record.reported,
        "states": record.states,
        "triggers": record.triggers,
        "exemplars": record.exemplars,
        "final_return": _number(record.final_return),
        "optimal_return": _number(record.optimal_return),
        "optimal": "" if record.optimal is None else str(record.optimal).lower(),
        "episodes_to_optimal": record.episodes_to_optimal,
        "episodes_to_machine": record.episodes_to_machine,
        "extra_triggers": "" if found is None else len(found.extra),
        "missing_triggers": "" if found is None else len(found.missing),
        "key": record.key,
        **{name: _number(record.extra.get(name)) for name in more},
    }


def timings_csv(trials: Sequence[Finished]) -> str:
    """The seconds of each trial."""
    more = extra_names(timings.extra for _, timings in trials)
    rows = [
        (
            record.experiment,
            record.task,
            record.variant,
            record.seed,
            f"{timings.seconds:.3f}",
            f"{timings.solve_seconds:.3f}",
            *(f"{timings.extra[name]:.3f}" if name in timings.extra else "" for name in more),
        )
        for record, timings in sort_trials(trials)
    ]
    return csv_text(("experiment", "task", "variant", "seed", "seconds", "solve_seconds", *more), rows)


CURVE_HEADS: Final = ("experiment", "task", "variant", "series", "episode", "seeds", "mean", "std", "min", "max")


def curves_csv(trials: Sequence[Finished]) -> str:
    """Mean, deviation, least and greatest over seeds at each point, of returns, |U|, |T_o| and triggers."""
    rows: list[Sequence[object]] = []
    for group, members in group_trials(trials).items():
        for series in ("mean_return", "states", "exemplars", "triggers"):
            curves = [curve_of(trial, _series(series)) for trial in members]
            rows += _curve_rows(members[0][0].experiment, group, series, curves)
    return csv_text(CURVE_HEADS, rows)


def _series(name: str) -> Callable[[Finished], Sequence[float]]:
    return lambda trial: getattr(trial[0].curve, name)


def solve_curves_csv(trials: Sequence[Finished]) -> str:
    """As :func:`curves_csv`, of the cumulative solve seconds: a file of its own, since no two runs agree on it."""
    rows: list[Sequence[object]] = []
    for group, members in group_trials(trials).items():
        curves = [curve_of(trial, lambda t: t[1].curve) for trial in members]
        rows += _curve_rows(members[0][0].experiment, group, "solve_seconds", curves)
    return csv_text(CURVE_HEADS, rows)


def _curve_rows(
    experiment: str, group: Group, series: str, curves: Sequence[Mapping[int, float]]
) -> Iterable[Sequence[object]]:
    for point in common_points(curves):
        spread = Spread.of(curve[point] for curve in curves)
        numbers = (_number(value) for value in (spread.mean, spread.sd, spread.low, spread.high))
        yield experiment, *group, series, point, len(curves), *numbers


def _number(value: float | None) -> str:
    return "" if value is None else f"{round(value, 9) + 0.0:.9g}"
