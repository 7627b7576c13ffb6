"""The numbers of a report for people: a table of ours beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished, TrialRecord
from markovize.experiments.report.groups import (
    NOTHING,
    Group,
    Spread,
    extra_names,
    format_mean,
    group_trials,
    paper_of,
)

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
    more = (*extra_names(r.extra for r, _ in trials), *extra_names(t.extra for _, t in trials))
    return (*(TRAINING_QUANTITIES if more else QUANTITIES), *(in_words(name) for name in more))


def has_paper_values(rows: Sequence[Row]) -> list[bool]:
    """Of each quantity, whether the paper says anything about it."""
    return [any(theirs != NOTHING for _, theirs in column) for column in zip(*(row.cells for row in rows), strict=True)]


def explain_agreement(trials: Sequence[Finished]) -> str:
    """What it means that ours agree with the paper's."""
    return AGREEMENT if any(record.optimal is not None for record, _ in trials) else RETURN_AGREEMENT


def compare(trials: Sequence[Finished], paper: Mapping[str, PaperValues] | None = None) -> list[Row]:
    """A row for each task and variant."""
    names = tuple(extra_names(extras) for extras in ((r.extra for r, _ in trials), (t.extra for _, t in trials)))
    return [_row(group, members, paper_of(paper, group), names) for group, members in group_trials(trials).items()]


def table_md(trials: Sequence[Finished], paper: Mapping[str, PaperValues] | None = None) -> str:
    """The comparison as a Markdown table, with a sentence that says what agreement means."""
    rows = compare(trials, paper)
    variants = any(row.variant for row in rows)
    heads = ["task", *(["variant"] if variants else []), "seeds"]
    for name, both in zip(quantities(trials), has_paper_values(rows), strict=True):
        escaped = name.replace("|", "\\|")
        heads += [escaped, *(["paper's"] if both else [])]
    heads += ["agrees" if paper else "optimal"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        cells = [row.task, *([row.variant] if variants else []), str(row.seeds)]
        for (ours, theirs), both in zip(row.cells, has_paper_values(rows), strict=True):
            cells += [ours, *([theirs] if both else [])]
        lines.append("| " + " | ".join([*cells, row.verdict.replace("|", "\\|")]) + " |")
    note = f"\n{explain_agreement(trials).replace('|', chr(92) + '|')}\n" if paper else ""
    return "\n".join(lines) + "\n" + note


def _row(group: Group, members: list[Finished], paper: PaperValues | None, extra: tuple[Sequence[str], ...]) -> Row:
    records = [record for record, _ in members]
    states = Spread.of(r.states for r in records)
    exemplars = Spread.of(r.exemplars for r in records)
    seconds = Spread.of(t.solve_seconds for _, t in members)
    returns = Spread.of(r.final_return for r in records)
    said = paper or PaperValues()
    ours = [format_mean(s.mean, s.sd if len(records) > 1 else None) for s in (states, exemplars, seconds, returns)]
    cells: tuple[tuple[str, str], ...] = (
        (ours[0], format_mean(said.states, said.states_sd)),
        (ours[1], format_mean(said.exemplars, said.exemplars_sd)),
        (ours[2], format_mean(said.solve_seconds, said.solve_seconds_sd)),
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
    """The paper's final return; for trainings of ours that are shorter, also its return at our length."""
    end, ours = format_mean(paper.final_return, paper.final_return_sd), min(record.reported for record in records)
    if paper.episodes is None or ours == paper.episodes:
        return end
    soon = paper.returns_after(ours)
    return f"{f'{format_mean(*soon)} after {ours:,}; ' if soon else ''}{end} after {paper.episodes:,}"


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


def in_words(name: str) -> str:
    """As a table says it.

    >>> in_words("machine_seconds"), in_words("greedy_return")
    ('machine, s', 'greedy return')
    """
    return name.replace("_seconds", ", s").replace("_", " ")


def _extra_cell(extras: Sequence[Mapping[str, float]], name: str) -> str:
    values = [extra[name] for extra in extras if name in extra]
    if not values:
        return NOTHING
    spread = Spread.of(values)
    return format_mean(spread.mean, spread.sd if len(values) > 1 else None)
