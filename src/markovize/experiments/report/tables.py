"""The numbers of a report: CSV files for programs, and a table of ours beside the paper's for people."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished, TrialRecord

Group: TypeAlias = tuple[str, str]
"""Task and variant."""

NOTHING: Final = "–"
NEAR: Final = 0.5  # states
ENOUGH: Final = 2  # seeds, to say that something agrees
AGREEMENT: Final = (
    "Agreement: every seed's final greedy return is optimal, and the paper's mean |U| lies within our mean ± max(sd, "
    f"{NEAR}); |T_o| is said to differ where the ranges mean ± sd do not meet, but is not judged, since it depends on "
    "which episodes come into conflict first; nor are solve times, which depend on solver and machine. "
    "± is the standard deviation over seeds."
)
RETURN_AGREEMENT: Final = (
    "The final return is the mean of the last 1,000 episodes of training, exploration included. Agreement: the ranges "
    "mean ± sd of ours and the paper's meet, or ours is above; a training shorter than the paper's is compared with "
    "its returns after as many episodes, where we know them. ± is the standard deviation over seeds."
)


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


def grouped(trials: Sequence[Finished]) -> dict[Group, list[Finished]]:
    """The trials of each task and variant, by seed; groups in the order in which they first come."""
    out: dict[Group, list[Finished]] = {}
    for trial in trials:
        out.setdefault((trial[0].task, trial[0].variant), []).append(trial)
    return {group: sorted(members, key=lambda trial: trial[0].seed) for group, members in out.items()}


def results_csv(trials: Sequence[Finished]) -> str:
    """A row for each task, variant and seed; nothing in it depends on a clock."""
    heads = (
        "experiment",
        "task",
        "variant",
        "seed",
        "status",
        "episodes",
        "waited",
        "reported",
        "states",
        "triggers",
        "exemplars",
        "final_return",
        "optimal_return",
        "optimal",
        "episodes_to_optimal",
        "episodes_to_machine",
        "extra_triggers",
        "missing_triggers",
        "key",
    )
    more = _extra_names(record.extra for record, _ in trials)
    rows = []
    for record, _ in _in_order(trials):
        found = record.match()
        rows.append(
            (
                record.experiment,
                record.task,
                record.variant,
                record.seed,
                record.status,
                record.episodes,
                record.waited,
                record.reported,
                record.states,
                record.triggers,
                record.exemplars,
                _number(record.final_return),
                _number(record.optimal_return),
                "" if record.optimal is None else str(record.optimal).lower(),
                record.episodes_to_optimal,
                record.episodes_to_machine,
                *(("", "") if found is None else (len(found.extra), len(found.missing))),
                record.key,
                *(_number(record.extra.get(name)) for name in more),
            )
        )
    return _csv((*heads, *more), rows)


def timings_csv(trials: Sequence[Finished]) -> str:
    """The seconds of each trial."""
    more = _extra_names(timings.extra for _, timings in trials)
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
        for record, timings in _in_order(trials)
    ]
    return _csv(("experiment", "task", "variant", "seed", "seconds", "solve_seconds", *more), rows)


CURVE_HEADS: Final = ("experiment", "task", "variant", "series", "episode", "seeds", "mean", "std", "min", "max")


def curves_csv(trials: Sequence[Finished]) -> str:
    """Mean, deviation, least and greatest over seeds at each point, of returns, |U|, |T_o| and triggers."""
    rows: list[Sequence[object]] = []
    for group, members in grouped(trials).items():
        for series in ("mean_return", "states", "exemplars", "triggers"):
            curves = [dict(zip(r.curve.episode, getattr(r.curve, series), strict=True)) for r, _ in members]
            rows += _curve_rows(members[0][0].experiment, group, series, curves)
    return _csv(CURVE_HEADS, rows)


def solve_curves_csv(trials: Sequence[Finished]) -> str:
    """As :func:`curves_csv`, of the cumulative solve seconds: a file of its own, since no two runs agree on it."""
    rows: list[Sequence[object]] = []
    for group, members in grouped(trials).items():
        curves = [dict(zip(r.curve.episode, t.curve, strict=True)) for r, t in members]
        rows += _curve_rows(members[0][0].experiment, group, "solve_seconds", curves)
    return _csv(CURVE_HEADS, rows)


def common_points(curves: Sequence[Mapping[int, float]]) -> list[int]:
    """The episodes at which all of these curves have a point.

    >>> common_points([{1: 0.0, 50: 1.0}, {1: 0.0, 20: 1.0, 50: 1.0}])
    [1, 50]
    """
    return sorted(set.intersection(*(set(curve) for curve in curves)))


def _curve_rows(
    experiment: str, group: Group, series: str, curves: Sequence[Mapping[int, float]]
) -> Iterable[Sequence[object]]:
    for point in common_points(curves):
        spread = Spread.of(curve[point] for curve in curves)
        numbers = (_number(value) for value in (spread.mean, spread.sd, spread.low, spread.high))
        yield experiment, *group, series, point, len(curves), *numbers


# --- ours beside the paper's ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line of the comparison: texts as they are shown, and whether it agrees (None: nothing to compare with)."""

    task: str
    variant: str
    seeds: int
    cells: tuple[tuple[str, str], ...]  # ours and the paper's, for each quantity
    verdict: str
    agrees: bool | None


QUANTITIES: Final = ("|U|", "|T_o|", "solve time, s", "final return")
TRAINING_QUANTITIES: Final = ("|U|", "final return")


def quantities(trials: Sequence[Finished]) -> tuple[str, ...]:
    """What the comparison shows of these trials: also what only their kind of task has."""
    more = (*_extra_names(r.extra for r, _ in trials), *_extra_names(t.extra for _, t in trials))
    return (*(TRAINING_QUANTITIES if more else QUANTITIES), *(_in_words(name) for name in more))


def told(rows: Sequence[Row]) -> list[bool]:
    """Of each quantity, whether the paper says anything about it."""
    return [any(theirs != NOTHING for _, theirs in column) for column in zip(*(row.cells for row in rows), strict=True)]


def agreement(trials: Sequence[Finished]) -> str:
    """What it means that ours agree with the paper's."""
    return AGREEMENT if any(record.optimal is not None for record, _ in trials) else RETURN_AGREEMENT


def paper_of(paper: Mapping[str, PaperValues] | None, group: Group) -> PaperValues | None:
    """What was published about a task and variant, or about the task whatever the variant.

    >>> said = {"e, LSTM": PaperValues(final_return=0.04), "b": PaperValues(2.0)}
    >>> paper_of(said, ("e", "LSTM")).final_return, paper_of(said, ("b", "states")).states, paper_of(said, ("e", "GRU"))
    (0.04, 2.0, None)
    """
    said = paper or {}
    return said.get(", ".join(group), said.get(group[0]))


def comparison(trials: Sequence[Finished], paper: Mapping[str, PaperValues] | None = None) -> list[Row]:
    """A row for each task and variant."""
    names = tuple(_extra_names(extras) for extras in ((r.extra for r, _ in trials), (t.extra for _, t in trials)))
    return [_row(group, members, paper_of(paper, group), names) for group, members in grouped(trials).items()]


def table_md(trials: Sequence[Finished], paper: Mapping[str, PaperValues] | None = None) -> str:
    """The comparison as a Markdown table, with a sentence that says what agreement means."""
    rows = comparison(trials, paper)
    variants = any(row.variant for row in rows)
    heads = ["task", *(["variant"] if variants else []), "seeds"]
    for name, both in zip(quantities(trials), told(rows), strict=True):
        escaped = name.replace("|", "\\|")
        heads += [escaped, *(["paper's"] if both else [])]
    heads += ["agrees" if paper else "optimal"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        cells = [row.task, *([row.variant] if variants else []), str(row.seeds)]
        for (ours, theirs), both in zip(row.cells, told(rows), strict=True):
            cells += [ours, *([theirs] if both else [])]
        lines.append("| " + " | ".join([*cells, row.verdict.replace("|", "\\|")]) + " |")
    note = f"\n{agreement(trials).replace('|', chr(92) + '|')}\n" if paper else ""
    return "\n".join(lines) + "\n" + note


def _row(group: Group, members: list[Finished], paper: PaperValues | None, extra: tuple[Sequence[str], ...]) -> Row:
    records = [record for record, _ in members]
    states = Spread.of(r.states for r in records)
    exemplars = Spread.of(r.exemplars for r in records)
    seconds = Spread.of(t.solve_seconds for _, t in members)
    returns = Spread.of(r.final_return for r in records)
    said = paper or PaperValues()
    ours = [shown(s.mean, s.sd if len(records) > 1 else None) for s in (states, exemplars, seconds, returns)]
    cells: tuple[tuple[str, str], ...] = (
        (ours[0], shown(said.states, said.states_sd)),
        (ours[1], shown(said.exemplars, said.exemplars_sd)),
        (ours[2], shown(said.solve_seconds, said.solve_seconds_sd)),
        (ours[3], _paper_returns(records, said)),
    )
    if not said.solved:
        cells = (*cells[:2], (cells[2][0], said.note or NOTHING), cells[3])
    if any(extra):
        cells = (cells[0], cells[3])
    cells += tuple((_extra_cell([r.extra for r in records], name), NOTHING) for name in extra[0])
    cells += tuple((_extra_cell([t.extra for _, t in members], name), NOTHING) for name in extra[1])
    verdict, agrees = _verdict(records, states, exemplars, returns, paper)
    return Row(*group, len(records), cells, verdict, agrees)


def _verdict(
    records: list[TrialRecord], states: Spread, exemplars: Spread, returns: Spread, paper: PaperValues | None
) -> tuple[str, bool | None]:
    known = [r.optimal for r in records if r.optimal is not None]
    good, seeds = sum(known), len(records)
    optimal = len(known) == seeds and good == seeds
    if paper is None:
        return (f"{good} of {seeds}" if known else NOTHING), None
    if paper.episodes is not None:
        return _return_verdict(records, returns, paper)
    if seeds < ENOUGH:
        return f"optimal in {good} of {seeds}; too few seeds to compare", None
    if not optimal:
        return f"no: optimal in {good} of {seeds} seeds", False
    if not paper.solved:
        return "solved, the paper was not", True
    if paper.states is not None and abs(paper.states - states.mean) > max(states.sd, NEAR) + 1e-9:
        return "no: |U| differs", False
    if paper.exemplars is not None and not exemplars.meets(paper.exemplars, paper.exemplars_sd or 0.0):
        return "yes (|T_o| differs)", True
    return "yes", True


def _paper_returns(records: list[TrialRecord], paper: PaperValues) -> str:
    """At the end, and before it after as many episodes as ours have, if that was sooner."""
    end, ours = shown(paper.final_return, paper.final_return_sd), min(record.reported for record in records)
    if paper.episodes is None or ours == paper.episodes:
        return end
    soon = paper.returns_after(ours)
    return f"{f'{shown(*soon)} after {ours:,}; ' if soon else ''}{end} after {paper.episodes:,}"


def _return_verdict(records: list[TrialRecord], returns: Spread, paper: PaperValues) -> tuple[str, bool | None]:
    """Of trainings whose last returns are compared."""
    said = paper.returns_after(min(record.reported for record in records))
    if said is None:
        return "too short to say", None
    if len(records) < ENOUGH:
        return "too few seeds to compare", None
    if returns.meets(*said):
        return "yes", True
    above = returns.mean > said[0]
    return ("yes (above)" if above else "no: below"), above


def _extra_names(extras: Iterable[Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for extra in extras for name in extra))


def _in_words(name: str) -> str:
    """As a table says it.

    >>> _in_words("machine_seconds"), _in_words("greedy_return")
    ('machine, s', 'greedy return')
    """
    return name.replace("_seconds", ", s").replace("_", " ")


def _extra_cell(extras: Sequence[Mapping[str, float]], name: str) -> str:
    values = [extra[name] for extra in extras if name in extra]
    if not values:
        return NOTHING
    spread = Spread.of(values)
    return shown(spread.mean, spread.sd if len(values) > 1 else None)


def shown(mean: float | None, sd: float | None = None) -> str:
    """Mean ± deviation, with as many digits as are worth reading.

    >>> shown(5.0, 0.0), shown(22.4, 8.84), shown(1102.9, 1068.8), shown(0.0123, 0.004), shown(None), shown(4200)
    ('5 ± 0', '22.4 ± 8.8', '1,103 ± 1,069', '0.012 ± 0.004', '–', '4,200')
    """
    if mean is None:
        return NOTHING
    largest = max(abs(mean), sd or 0.0)
    digits = 0 if largest >= 100 else 1 if largest >= 10 else 2 if largest >= 0.1 else 3
    return " ± ".join(_trimmed(value, digits) for value in (mean, sd) if value is not None)


def _trimmed(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _in_order(trials: Sequence[Finished]) -> list[Finished]:
    return [trial for members in grouped(trials).values() for trial in members]


def _number(value: float | None) -> str:
    return "" if value is None else f"{round(value, 9) + 0.0:.9g}"


def _csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return out.getvalue()
