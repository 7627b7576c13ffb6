"""``markovize replay``: does a machine predict the rewards of episodes?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from markovize.cli import options
from markovize.cli.exits import DONE, NO
from markovize.cli.groups import NO_FUNCTIONS, Functions, with_groups
from markovize.cli.logs import PLAIN, Log
from markovize.cli.terminal import console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from markovize.machine.replay import ReplayReport

EXAMPLE = "markovize replay machine.json episodes.jsonl"


@with_groups
def replay(
    machine: options.MachineArgument,
    episodes: options.EpisodesArgument,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 also if paid steps are unseen: nothing predicts them.")
    ] = False,
    tolerance: Annotated[float, typer.Option(min=0, help="How far rewards may be from the machine's.")] = 0.0,
    outliers: Annotated[int, typer.Option(min=0, help="Exit with 1 only if there are more mismatches.")] = 0,
    reward_decimals: options.DecimalsOption = None,
    json_: options.JsonOption = False,
    log: Log = PLAIN,
    functions: Functions = NO_FUNCTIONS,
) -> None:
    """Does the machine predict the rewards of these episodes? Exit with 1 if it does not."""
    import markovize

    known = markovize.read_machine(machine)
    if (tolerance or outliers) and any(len(emission.distribution) > 1 for emission in known.rewards):
        raise typer.BadParameter(
            "the rewards of this machine are random: a test compares their distributions, without tolerance or outliers"
        )
    traces = log.read(episodes, reward_decimals)
    report = markovize.replay(known, traces, tolerance=tolerance, **vars(functions))
    if json_:
        print_json(report.to_json())
    else:
        report_replay(console(), report)
    raise typer.Exit(NO if report.mismatches > outliers or (exit_code and report.unseen_paid) else DONE)


def report_replay(out: Console, report: ReplayReport, where: str = "") -> None:
    """How well the machine predicts; ``where`` says of which steps."""
    colour = "red" if report.mismatches else "green"
    out.print(
        f"{report.steps:,} steps{where}, {report.unseen:,} unseen, [{colour}]{report.mismatches:,} mismatches[/]",
        soft_wrap=bool(where),
    )
    if report.unseen_paid:
        are = "is" if report.unseen_paid == 1 else "are"
        out.print(
            f"[yellow]{report.unseen_paid:,} of the unseen {are} paid:[/] they earned another reward than such steps "
            "usually do, and the machine does not know them",
            soft_wrap=True,
        )
    if report.fit is not None:
        misfits = report.fit.misfits
        told = f"{report.fit.cells:,} (u, label, u') compared with their distributions, {len(misfits):,} do not fit"
        out.print("\n  ".join([told, *map(str, misfits[:5])]), markup=False, highlight=False, soft_wrap=True)
    elif report.first_mismatch is not None:
        episode, step, expected, observed = report.first_mismatch
        out.print(f"first: episode {episode} step {step}: the machine says {expected:g}, observed {observed:g}")
