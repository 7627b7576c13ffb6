"""The page of a report: one self-contained file for people, with a player; it opens from disk, needs no network.

Its templates are in the folder ``templates``; whatever they show is escaped there, by Jinja, unless it is one of ours:
the style sheet, the script, a drawing, or the player's data, in which no tag can be closed.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal

from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished, TrialRecord, TrialTimings
from markovize.experiments.report.comparison import compare, explain_agreement, has_paper_values, quantities
from markovize.experiments.report.figures import figures_of
from markovize.experiments.report.groups import NOTHING, group_name, group_trials
from markovize.experiments.report.machine_diff import LEGENDS, MachineDiff, machine_diff
from markovize.experiments.report.player_data import player_data
from markovize.pictures.curves import DARK

if TYPE_CHECKING:
    from jinja2 import Environment

    from markovize.pictures.machine_svg import Drawing

LONG: Final = 16  # letters; longer texts in a table may take two lines
BADGES: Final = {True: " good", False: " bad", None: ""}


def report_page(
    trials: Sequence[Finished],
    *,
    title: str = "Experiment",
    paper: Mapping[str, PaperValues] | None = None,
    pictures: Mapping[str, bytes] | None = None,
) -> str:
    """The page alone, as text; ``pictures`` are its figures, by name, if they are there already."""
    from markupsafe import Markup

    from markovize import __version__

    source = files("markovize.experiments.report").joinpath("templates")
    rows = compare(trials, paper)
    figures = [
        {
            "name": figure.name,
            "caption": figure.caption,
            "light": _data_url((pictures or {}).get(figure.name) or figure.draw(trials, paper)),
            "dark": _data_url(figure.draw(trials, paper, theme=DARK)),
        }
        for figure in figures_of(trials)
    ]
    page: str = (
        _environment()
        .get_template("report.html")
        .render(
            style=Markup(source.joinpath("style.css").read_text("utf-8")),
            script=Markup(source.joinpath("player.js").read_text("utf-8")),
            title=title,
            lead=_lead(trials),
            paper=bool(paper),
            lead_columns=["task", *(["variant"] if any(row.variant for row in rows) else []), "seeds"],
            columns=list(zip(quantities(trials), has_paper_values(rows), strict=True)),
            rows=rows,
            long=LONG,
            badges=BADGES,
            agreement=explain_agreement(trials),
            figures=figures,
            legend="; ".join(LEGENDS) + ".",
            machines=_machines(trials),
            trial_columns=[
                column for column in COLUMNS if column.name != "variant" or any(r.variant for r, _ in trials)
            ],
            trials=trials,
            data=Markup(player_data(trials)),
            version=__version__,
        )
    )
    return page


def _environment() -> Environment:
    """Jinja with our templates; a name that a template has and we do not give is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def maths(text: str) -> Markup:
        return escape(text).replace("T_o", Markup("T<sub>o</sub>"))

    def svg(drawing: Drawing) -> Markup:
        return Markup(drawing.svg(style=False))

    environment = Environment(
        loader=PackageLoader("markovize.experiments.report"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {"maths": maths, "svg": svg}
    return environment


def _data_url(picture: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _lead(trials: Sequence[Finished]) -> str:
    groups = group_trials(trials)
    known = [r.optimal for r, _ in trials if r.optimal is not None]
    envs = ", ".join(sorted({r.env_id.split("/")[-1] for r, _ in trials}))
    text = f"{envs}: {len(groups)} {'tasks' if len(groups) != 1 else 'task'}, {len(trials)} trials"
    if known:
        text += f"; the last policy is optimal in {sum(known)} of {len(known)}"
    seconds = sum(t.solve_seconds for _, t in trials)
    return f"{text}. All machines together took {seconds:,.1f} s of solving."


# --- machines -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LearnedMachine:
    """A machine, beside the true one, and the seeds that learned it."""

    diff: MachineDiff
    seeds: Sequence[int]

    @property
    def agrees(self) -> bool | None:
        """Whether it is the true one; None where that is not known."""
        return None if self.diff.true is None else not self.diff.differences


@dataclass(frozen=True)
class GroupMachines:
    """The different machines that the seeds of a task learned, the most common first."""

    name: str
    machines: Sequence[LearnedMachine]


def _machines(trials: Sequence[Finished]) -> list[GroupMachines]:
    return [GroupMachines(group_name(group), _of_group(members)) for group, members in group_trials(trials).items()]


def _of_group(members: Sequence[Finished]) -> list[LearnedMachine]:
    found: dict[str, tuple[MachineDiff, list[int]]] = {}
    for record, _ in members:
        diff = machine_diff(record)
        found.setdefault(diff.svg(), (diff, []))[1].append(record.seed)
    ranked = sorted(found.values(), key=lambda item: (-len(item[1]), item[1]))
    return [LearnedMachine(*item) for item in ranked]


# --- the table of trials --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column of the table of trials, and what it shows of each."""

    name: str
    read: Callable[[TrialRecord, TrialTimings], str | float | None]
    kind: Literal["text", "number", "seconds"] = "number"

    @property
    def number(self) -> bool:
        """Whether it sorts by number."""
        return self.kind != "text"

    def value(self, trial: Finished) -> str | float | None:
        """Of one trial."""
        return self.read(*trial)

    def format(self, value: str | float | None) -> str:
        """As people read it.

        >>> column = Column("episodes", lambda record, _: record.episodes)
        >>> column.format(12_000), column.format(0.12345), column.format(None)
        ('12,000', '0.1235', '–')
        """
        if value is None:
            return NOTHING
        if isinstance(value, str):
            return value
        return f"{value:.3f}" if self.kind == "seconds" else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


COLUMNS: Final = (
    Column("task", lambda r, _: r.task, "text"),
    Column("variant", lambda r, _: r.variant, "text"),
    Column("seed", lambda r, _: r.seed),
    Column("status", lambda r, _: r.status, "text"),
    Column("return", lambda r, _: r.final_return),
    Column("of", lambda r, _: r.optimal_return),
    Column("|U|", lambda r, _: r.states),
    Column("triggers", lambda r, _: r.triggers),
    Column("|T_o|", lambda r, _: r.exemplars),
    Column("episodes", lambda r, _: r.episodes),
    Column("to optimal", lambda r, _: r.episodes_to_optimal),
    Column("to the machine", lambda r, _: r.episodes_to_machine),
    Column("solve s", lambda _, t: t.solve_seconds, "seconds"),
    Column("all s", lambda _, t: t.seconds, "seconds"),
)
