"""What ``markovize reproduce`` tells at its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markovize.experiments.records import Finished
from markovize.experiments.spec import Experiment
from markovize.experiments.tables import comparison, quantities
from markovize.terminal import console


def report(experiment: Experiment, finished: Sequence[Finished], folder: Path) -> None:
    """The table on the terminal, and where the page is."""
    from rich.table import Table

    table = Table(title=experiment.title, title_justify="left", box=None, pad_edge=False)
    names = quantities(finished)
    for number, head in enumerate(["task", "seeds", *names, "agrees" if experiment.paper else "optimal"]):
        right, widest = 0 < number <= len(names) + 1, max(map(len, head.split()))
        table.add_column(head, justify="right" if right else "left", overflow="fold", min_width=widest)
    for row in comparison(finished, experiment.paper):
        name = f"{row.task}, {row.variant}" if row.variant else row.task
        style = {True: "green", False: "red", None: "default"}[row.agrees]
        table.add_row(name, str(row.seeds), *(ours for ours, _ in row.cells), f"[{style}]{row.verdict}[/]")
        if experiment.paper:
            table.add_row("  paper", "", *(theirs for _, theirs in row.cells), "", style="dim")
    out = console()
    out.print(table)
    out.print(f"open {folder / 'report.html'}", markup=False, highlight=False, soft_wrap=True)


def to_json(experiment: Experiment, finished: Sequence[Finished], folder: Path) -> dict[str, Any]:
    """The same for programs."""
    return {
        "experiment": experiment.name,
        "trials": len(finished),
        "optimal": sum(bool(record.optimal) for record, _ in finished),
        "seconds": round(sum(timings.seconds for _, timings in finished), 3),
        "solve_seconds": round(sum(timings.solve_seconds for _, timings in finished), 3),
        "report": str(folder / "report.html"),
    }
