"""``markovize replay``: does a machine predict the rewards of episodes?"""

from __future__ import annotations

import typer

from markovize.cli import files
from markovize.cli.exits import DONE, NO
from markovize.cli.options import ColumnsOption, DecimalsOption, EpisodesArgument, JsonOption, MachineArgument
from markovize.cli.terminal import console, print_json

EXAMPLE = "markovize replay machine.json episodes.jsonl"


def replay(
    machine: MachineArgument,
    episodes: EpisodesArgument,
    reward_decimals: DecimalsOption = None,
    json_: JsonOption = False,
    columns: ColumnsOption = None,
) -> None:
    """Does the machine predict the rewards of these episodes? Exit with 1 if it does not."""
    import markovize

    known = markovize.read_machine(machine)
    report = markovize.replay(known, files.read(episodes, columns, reward_decimals))
    if json_:
        print_json(report.to_json())
    else:
        out = console()
        colour = "red" if report.mismatches else "green"
        out.print(f"{report.steps:,} steps, {report.unseen:,} unseen, [{colour}]{report.mismatches:,} mismatches[/]")
        if report.first_mismatch is not None:
            episode, step, expected, observed = report.first_mismatch
            out.print(f"first: episode {episode} step {step}: the machine says {expected:g}, observed {observed:g}")
    raise typer.Exit(NO if report.mismatches else DONE)
