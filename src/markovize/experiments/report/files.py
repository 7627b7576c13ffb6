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

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from markovize.errors import InputError, one_line
from markovize.experiments.paper import PaperValues
from markovize.experiments.records import Finished
from markovize.experiments.report.comparison import table_md
from markovize.experiments.report.csv_files import curves_csv, results_csv, solve_curves_csv, timings_csv
from markovize.experiments.report.figures import figures_of
from markovize.experiments.report.groups import group_name
from markovize.experiments.report.machine_diff import machine_diff
from markovize.experiments.report.page import report_page
from markovize.io.files import atomic_write
from markovize.pictures.curves import KINDS


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
    atomic_write(folder / "results.csv", results_csv(trials))
    atomic_write(folder / "timings.csv", timings_csv(trials))
    atomic_write(folder / "curves.csv", curves_csv(trials))
    atomic_write(folder / "solve_curves.csv", solve_curves_csv(trials))
    atomic_write(folder / "table.md", table_md(trials, paper))
    pictures = {(f.name, kind): f.draw(trials, paper, kind=kind) for f in figures_of(trials) for kind in KINDS}
    for (name, kind), picture in pictures.items():
        atomic_write(folder / "figures" / f"{name}.{kind}", picture)
    for record, _ in trials:
        name = f"{_slug(record.task, record.variant)}-seed-{record.seed}.svg"
        heading = f"{group_name((record.task, record.variant))}, seed {record.seed}"
        atomic_write(folder / "machines" / name, machine_diff(record).svg(heading))
    shown = {name: picture for (name, kind), picture in pictures.items() if kind == "png"}
    atomic_write(folder / "report.html", report_page(trials, title=title, paper=paper, pictures=shown))


def _slug(*parts: str) -> str:
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-") or "x" for part in parts if part)
