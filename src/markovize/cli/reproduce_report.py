"""What ``markovize reproduce`` tells at its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markovize.cli.terminal import console
from markovize.experiments.records import Finished
from markovize.experiments.report.comparison import compare, quantities
from markovize.experiments.spec import Experiment


def report(experiment: Experiment, finished: Sequence[Finished], folder: Path) -> None:
    """The table on the terminal, and where the page is."""
    from rich.table import Table

    table = Table(title=experiment.title, title_justify="left", box=None, pad_edge=False)
    names, rows = quantities(finished), compare(finished, experiment.paper)
    verdict = "agrees" if experiment.paper else "optimal"
    for number, head in enumerate(["task", "seeds", *names, verdict]):
        right = 0 < number <= len(names) + 1
        words = head.split() if head is not verdict else [w for row in rows for w in (head, *row.verdict.split())]
        widest = max(map(len, words))
        table.add_column(head, justify="right" if right else "left", overflow="fold", min_width=widest)
    for row in rows:
        name = f"{row.task}, {row.variant}" if row.variant else row.task
        style = {True: "green", False: "red", None: "default"}[row.agrees]
        table.add_row(name, str(row.seeds), *(ours for ours, _ in row.cells), f"[{style}]{row.verdict}[/]")
        if experiment.paper:
            table.add_row("  paper", "", *(theirs for _, theirs in row.cells), "", style="dim")
    out = console()
    out.print(table)
    out.print(f"open {folder / 'report.html'}", markup=False, highlight=False, soft_wrap=True)


def to_json(experiment: Experiment, finished: Sequence[Finished], folder: Path) -> dict[str, Any]:
    """The same for programs; ``optimal`` is null where the optimum is not known."""
    known = [record.optimal for record, _ in finished if record.optimal is not None]
    return {
        "experiment": experiment.name,
        "trials": len(finished),
        "optimal": sum(map(bool, known)) if known else None,
        "seconds": round(sum(timings.seconds for _, timings in finished), 3),
        "solve_seconds": round(sum(timings.solve_seconds for _, timings in finished), 3),
        "report": str(folder / "report.html"),
    }
