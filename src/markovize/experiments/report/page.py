"""The report of an experiment: files for programs, and one self-contained page for people.

=========================  ==========================================================================
``results.csv``            a row for each task, variant and seed
``timings.csv``            the seconds of each
``curves.csv``             mean, deviation, least and greatest over seeds, at some 201 episodes
``solve_curves.csv``       the same of the solve seconds
``table.md``               ours beside the paper's
``figures/``               PNG and SVG
``machines/``              each learned machine next to the true one
``report.html``            all of it, with a player; opens from disk, needs no network
=========================  ==========================================================================

All but ``timings.csv``, ``solve_curves.csv``, ``table.md``, the figures and the page, which tell times, are the same
whenever an experiment is repeated.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from markovize.episodes.values import jsonable
from markovize.errors import InputError, one_line
from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished, TrialRecord
from markovize.experiments.report import tables
from markovize.experiments.report.deep_figure import are_trainings, returns_figure
from markovize.experiments.report.figures import DARK, KINDS, ablation_figure, learning_figure
from markovize.experiments.report.machine_diff import LEGENDS, MachineDiff, machine_diff
from markovize.experiments.report.tables import NOTHING, Group, Row, agreement, comparison, grouped, quantities, told
from markovize.io.files import atomic_write
from markovize.pictures.machine_svg import draw_machine

LONG: Final = 16  # letters; longer texts in a table may take two lines


def write_report(
    folder: str | os.PathLike[str],
    trials: Sequence[Finished],
    *,
    title: str = "Experiment",
    paper: Mapping[str, PaperValues] | None = None,
) -> None:
    """Writes all files of a report into a folder, each whole or not at all; older ones are replaced.

    ``paper`` has the published values for each task, if there are any.
    """
    if not trials:
        raise InputError("a report needs at least one finished trial")
    folder = Path(folder)
    try:
        for place in (folder, folder / "figures", folder / "machines"):
            place.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be made: {one_line(error)}", where=one_line(folder)) from None
    atomic_write(folder / "results.csv", tables.results_csv(trials))
    atomic_write(folder / "timings.csv", tables.timings_csv(trials))
    atomic_write(folder / "curves.csv", tables.curves_csv(trials))
    atomic_write(folder / "solve_curves.csv", tables.solve_curves_csv(trials))
    atomic_write(folder / "table.md", tables.table_md(trials, paper))
    pictures = {(name, kind): draw(trials, paper, kind=kind) for name, draw in _drawn(trials) for kind in KINDS}
    for (name, kind), picture in pictures.items():
        atomic_write(folder / "figures" / f"{name}.{kind}", picture)
    for record, _ in trials:
        name = f"{_slug(record.task, record.variant)}-seed-{record.seed}.svg"
        title_of = f"{group_name((record.task, record.variant))}, seed {record.seed}"
        atomic_write(folder / "machines" / name, machine_diff(record).svg(title_of))
    page = _page(trials, title, paper, {name: picture for (name, kind), picture in pictures.items() if kind == "png"})
    atomic_write(folder / "report.html", page)


def report_page(
    trials: Sequence[Finished], *, title: str = "Experiment", paper: Mapping[str, PaperValues] | None = None
) -> str:
    """The page alone, as text."""
    return _page(trials, title, paper, {name: draw(trials, paper) for name, draw in _drawn(trials)})


def _page(
    trials: Sequence[Finished], title: str, paper: Mapping[str, PaperValues] | None, pictures: Mapping[str, bytes]
) -> str:
    from markovize import __version__

    source = files("markovize.experiments").joinpath("page_files")
    parts = {
        "style": source.joinpath("style.css").read_text("utf-8"),
        "script": source.joinpath("player.js").read_text("utf-8"),
        "title": escape(title),
        "lead": _lead(trials),
        "summary": _summary(comparison(trials, paper), quantities(trials), bool(paper)),
        "agreement": f'<p class="note">{_maths(agreement(trials))}</p>' if paper else "",
        "figures": _figures(trials, paper, pictures),
        "legend": escape("; ".join(LEGENDS)) + ".",
        "machines": _machines(trials),
        "trials": _trials(trials),
        "data": _data(trials),
        "version": escape(__version__),
    }
    template = source.joinpath("template.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def group_name(group: Group) -> str:
    """What a task and variant are called on the page.

    >>> group_name(("b full", "states")), group_name(("e", ""))
    ('b full · states', 'e')
    """
    return " · ".join(part for part in group if part)


def _has_variants(trials: Sequence[Finished]) -> bool:
    return len({record.variant for record, _ in trials}) > 1


def _slug(*parts: str) -> str:
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-") or "x" for part in parts if part)


def _lead(trials: Sequence[Finished]) -> str:
    groups = grouped(trials)
    known = [r.optimal for r, _ in trials if r.optimal is not None]
    envs = ", ".join(sorted({r.env_id.split("/")[-1] for r, _ in trials}))
    text = f"{envs}: {len(groups)} {'tasks' if len(groups) != 1 else 'task'}, {len(trials)} trials"
    if known:
        text += f"; the last policy is optimal in {sum(known)} of {len(known)}"
    seconds = sum(t.solve_seconds for _, t in trials)
    return escape(f"{text}. All machines together took {seconds:,.1f} s of solving.")


# --- tables ---------------------------------------------------------------------------------------------------------


def _summary(rows: Sequence[Row], quantities: Sequence[str], paper: bool) -> str:
    variants = any(row.variant for row in rows)
    both = told(rows)
    lead = ["task", *(["variant"] if variants else []), "seeds"]
    first = "".join(
        f'<th{" class=text" if name != "seeds" else ""} rowspan="{2 if paper else 1}">{name}</th>' for name in lead
    )
    names = "".join(
        f'<th class="group"{_span(paper, two)}>{_maths(name)}</th>' for name, two in zip(quantities, both, strict=True)
    )
    last = f'<th class="text" rowspan="{2 if paper else 1}">{"agrees" if paper else "optimal"}</th>'
    head = f"<tr>{first}{names}{last}</tr>"
    if paper:
        head += "<tr>" + "<th>ours</th><th>paper</th>" * sum(both) + "</tr>"
    body = ""
    for row in rows:
        kind = {True: " good", False: " bad", None: ""}[row.agrees]
        cells = f'<td class="text">{escape(row.task)}</td>'
        cells += f'<td class="text">{escape(row.variant)}</td>' if variants else ""
        cells += f"<td>{row.seeds}</td>"
        for (ours, theirs), two in zip(row.cells, both, strict=True):
            kind_of = "theirs" if len(theirs) < LONG else "theirs said"
            cells += f"<td>{escape(ours)}</td>" + (f'<td class="{kind_of}">{escape(theirs)}</td>' if two else "")
        body += f'<tr>{cells}<td class="text"><span class="badge{kind}">{_maths(row.verdict)}</span></td></tr>'
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _span(paper: bool, both: bool) -> str:
    """A head above ours and the paper's, or above ours alone."""
    return ' colspan="2"' if both else ' rowspan="2"' if paper else ""


def _maths(text: str) -> str:
    return escape(text).replace("T_o", "T<sub>o</sub>")


def _trials(trials: Sequence[Finished]) -> str:
    variants = any(record.variant for record, _ in trials)
    heads = [
        ("task", False),
        *([("variant", False)] if variants else []),
        ("seed", True),
        ("status", False),
        ("return", True),
        ("of", True),
        ("|U|", True),
        ("triggers", True),
        ("|T_o|", True),
        ("episodes", True),
        ("to optimal", True),
        ("to the machine", True),
        ("solve s", True),
        ("all s", True),
    ]
    head = "".join(
        f'<th aria-sort="none" data-kind="{"number" if number else "text"}"{"" if number else " class=text"}>'
        f"<button>{_maths(name)}</button></th>"
        for name, number in heads
    )
    rows = ""
    for place, (record, timings) in enumerate(trials):
        values: list[Any] = [
            record.task,
            *([record.variant] if variants else []),
            record.seed,
            record.status,
            record.final_return,
            record.optimal_return,
            record.states,
            record.triggers,
            record.exemplars,
            record.episodes,
            record.episodes_to_optimal,
            record.episodes_to_machine,
            timings.solve_seconds,
            timings.seconds,
        ]
        cells = "".join(_cell(value, *head_of) for value, head_of in zip(values, heads, strict=True))
        rows += f'<tr data-trial="{place}"><td class="text"><button>watch</button></td>{cells}</tr>'
    return f'<table class="sortable"><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _cell(value: Any, name: str, number: bool) -> str:
    raw = "" if value is None else value
    shown = NOTHING if value is None else str(value)
    if number and value is not None:
        shown = f"{value:.3f}" if name.endswith(" s") else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    kind = "" if number else ' class="text"'
    return f'<td{kind} data-value="{escape(str(raw))}">{escape(shown)}</td>'


# --- figures and machines -------------------------------------------------------------------------------------------


CAPTIONS: Final = {
    "learning": "From top to bottom: the mean return of the last 100 episodes, the number of machine states, that of "
    "exemplars, the cumulative solve time (logarithmic); mean and standard deviation over seeds.",
    "returns": "The mean return of the last 1,000 episodes, exploration included: mean and standard deviation over "
    "seeds, a line for each model. Diamonds are the paper's end values, after 50,000 episodes.",
    "ablation": "Each mark is a seed. Episodes are counted until the last machine was found, if that is the true one; "
    "seeds that ended with another machine are hollow, at the top.",
}


def _drawn(trials: Sequence[Finished]) -> list[tuple[str, Callable[..., bytes]]]:
    """The figures that these trials have."""
    if are_trainings(trials):
        return [("returns", returns_figure)]
    return [("learning", learning_figure), *([("ablation", ablation_figure)] if _has_variants(trials) else [])]


def _figures(trials: Sequence[Finished], paper: Mapping[str, PaperValues] | None, pictures: Mapping[str, bytes]) -> str:
    return "".join(
        _figure(pictures[name], draw(trials, paper, theme=DARK), name, CAPTIONS[name]) for name, draw in _drawn(trials)
    )


def _figure(light: bytes, dark: bytes, name: str, caption: str) -> str:
    sources = [f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in (light, dark)]
    return (
        f'<figure class="card" id="figure-{name}"><div class="scroll"><picture>'
        f'<source media="(prefers-color-scheme: dark)" srcset="{sources[1]}">'
        f'<img src="{sources[0]}" alt="{escape(caption)}"></picture></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _machines(trials: Sequence[Finished]) -> str:
    """For each task the different machines that its seeds learned, the most common first."""
    out = ""
    for group, members in grouped(trials).items():
        found: dict[str, tuple[MachineDiff, list[int]]] = {}
        for record, _ in members:
            diff = machine_diff(record)
            found.setdefault(diff.svg(), (diff, []))[1].append(record.seed)
        out += f"<h3>Task {escape(group_name(group))}</h3>"
        kinds = sorted(found.values(), key=lambda item: (-len(item[1]), item[1]))
        out += "".join(_machine(diff, seeds, first=n == 0) for n, (diff, seeds) in enumerate(kinds))
    return out


def _machine(diff: MachineDiff, seeds: Sequence[int], *, first: bool) -> str:
    kind = "" if diff.true is None else " bad" if diff.differences else " good"
    which = f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
    pair = f'<div><h4>learned</h4><div class="scroll">{diff.learned.svg(style=False)}</div></div>'
    if diff.true is not None:
        pair += f'<div><h4>true</h4><div class="scroll">{diff.true.svg(style=False)}</div></div>'
    lines = "".join(f"<li>{escape(line)}</li>" for line in diff.differences)
    words = f'<ul class="differences">{lines}</ul>' if lines else ""
    return (
        f'<details class="card"{" open" if first else ""}><summary><span class="badge{kind}">{escape(diff.summary)}'
        f'</span> <span class="soft">{which}</span></summary><div class="pair">{pair}</div>{words}</details>'
    )


# --- the player's data ----------------------------------------------------------------------------------------------


def _data(trials: Sequence[Finished]) -> str:
    """Everything that the player needs; equal maps and machines are stored once."""
    views: dict[str, int] = {}
    machines: dict[str, int] = {}
    rows = [_playable(record, views, machines) for record, _ in trials]
    first = max(range(len(trials)), key=lambda n: (bool(trials[n][0].optimal), trials[n][0].states, -n))
    data = {"first": first, "trials": rows, "views": [json.loads(view) for view in views], "machines": list(machines)}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _playable(record: TrialRecord, views: dict[str, int], machines: dict[str, int]) -> dict[str, Any]:
    view = None
    if record.view is not None:
        view = views.setdefault(json.dumps(record.view.to_json(), separators=(",", ":")), len(views))
    drawing = draw_machine(record.machine, record.view).svg(style=False)
    episode = record.episode
    return {
        "group": group_name((record.task, record.variant)),
        "seed": record.seed,
        "optimal": record.optimal,
        "view": view,
        "machine": machines.setdefault(drawing, len(machines)),
        "triggers": [[t.source, jsonable(t.on)] for t in record.machine.triggers],
        "start": jsonable(episode.start),
        "state": episode.state,
        "steps": [[s.action, jsonable(s.observation), s.reward, s.state, s.fired] for s in episode.steps],
    }
