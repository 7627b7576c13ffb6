"""``markovize check``: is the reward Markov?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from markovize.cli import options
from markovize.cli.exits import DONE, NO
from markovize.cli.groups import NO_FUNCTIONS, Functions, with_groups
from markovize.cli.logs import PLAIN, Log
from markovize.cli.terminal import console, count, print_json, screenful

if TYPE_CHECKING:
    from markovize.conflicts.report import CheckReport

MANY_STEPS: Final = 100  # from here on observations should repeat
LITTLE: Final = 0.1  # a smaller share of comparable steps: observations hardly ever repeat
EXAMPLE = "markovize check episodes.jsonl --exit-code"


@with_groups
def check(
    episodes: options.EpisodesArgument,
    machine: Annotated[Path | None, typer.Option(help="Look for conflicts that remain with this machine.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 if there are conflicts.")] = False,
    tolerance: Annotated[
        float, typer.Option(min=0, help="How far rewards may be from the level of their label.")
    ] = 0.0,
    outliers: Annotated[
        int, typer.Option(min=0, help="With --exit-code: how many steps may be in conflict with a level.")
    ] = 0,
    reward_decimals: options.DecimalsOption = None,
    everything: options.AllOption = False,
    json_: options.JsonOption = False,
    log: Log = PLAIN,
    functions: Functions = NO_FUNCTIONS,
) -> None:
    """Is the reward a function of (s, a, s')? If not, show steps that prove it."""
    import markovize

    if machine is None and functions != NO_FUNCTIONS:
        raise typer.BadParameter(
            "--trigger-on, --reward-on and --features go with --machine: without one, (s, a, s') is compared"
        )
    traces = log.read(episodes, reward_decimals)
    known = None if machine is None else markovize.read_machine(machine)
    report = markovize.check(traces, known, tolerance=tolerance, **vars(functions))
    if json_:
        print_json(report.to_json())
    else:
        out = console()
        what = "(s, a, s')" if machine is None else "(u, label, u') of the machine"
        compared = "(u, label, u')" if known is not None and known.has_guards else "(s, a, s')"
        out.print(f"{report.episodes:,} episodes, {report.steps:,} steps, {report.comparable:,} comparable")
        if not report.testable:
            out.print(f"[yellow]not testable:[/] {why_not_testable(report, compared)}", highlight=False, soft_wrap=True)
        elif report.markov:
            within = f", within {tolerance:g} of a level" if tolerance else ""
            out.print(f"[green]Markov:[/] every {what} always paid the same reward{within}")
        else:
            out.print(f"[red]not Markov:[/] {report.conflicts:,} {what} with different rewards, for example")
            shown = report.witnesses if everything else report.witnesses[:5]
            for line in screenful([str(witness) for witness in shown], "conflict", everything):
                out.print(f"  {line}", markup=False, highlight=False)
            if report.apart is not None and report.apart.repeated:
                out.print(f"Of these, {report.apart}", markup=False, highlight=False, soft_wrap=True)
            if tolerance or outliers:
                allowed = f", {'more than' if report.outside > outliers else 'within'} the {outliers:,} allowed"
                off = f"off the level of their {what}: {count(report.outside, 'step')}"
                out.print(off + (allowed if outliers else ""), highlight=False)
        if report.time is not None:
            out.print(f"{report.time}. {report.time.advice}", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(NO if exit_code and report.outside > outliers else DONE)


def why_not_testable(report: CheckReport, what: str = "(s, a, s')") -> str:
    """Why no conflict means nothing here, and what would help.

    >>> from markovize import CheckReport
    >>> why_not_testable(CheckReport(10, 2, 0, (), comparable=3))
    "the (s, a, s') of only 3 of 10 steps occurs more than once; record more episodes, or round the observations"
    """
    if not report.steps:
        return "there are no steps"
    advice = "record more episodes, or round the observations"
    if report.steps >= MANY_STEPS and report.comparable < report.steps * LITTLE:
        advice = "learn guards over their features (learn --trigger-on guards), or round the observations"
    return f"the {what} of only {report.comparable:,} of {report.steps:,} steps occurs more than once; {advice}"
