"""``markovize check``: is the reward Markov?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markovize.cli import files
from markovize.cli.exits import DONE, NO
from markovize.cli.options import ColumnsOption, DecimalsOption, EpisodesArgument, JsonOption
from markovize.cli.terminal import console, print_json

EXAMPLE = "markovize check episodes.jsonl --exit-code"


def check(
    episodes: EpisodesArgument,
    machine: Annotated[Path | None, typer.Option(help="Look for conflicts that remain with this machine.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if there are conflicts.")] = False,
    reward_decimals: DecimalsOption = None,
    json_: JsonOption = False,
    columns: ColumnsOption = None,
) -> None:
    """Is the reward a function of (s, a, s')? If not, show steps that prove it."""
    import markovize

    traces = files.read(episodes, columns, reward_decimals)
    report = markovize.check(traces, None if machine is None else markovize.read_machine(machine))
    if json_:
        print_json(report.to_json())
    else:
        out = console()
        what = "(s, a, s')" if machine is None else "(u, label, u') of the machine"
        out.print(f"{report.episodes:,} episodes, {report.steps:,} steps")
        if report.markov:
            out.print(f"[green]Markov:[/] every {what} always paid the same reward")
        else:
            out.print(f"[red]not Markov:[/] {report.conflicts:,} {what} with different rewards, for example")
            for witness in report.witnesses[:5]:
                out.print(f"  {witness}", markup=False, highlight=False)
    raise typer.Exit(NO if exit_code and not report.markov else DONE)
