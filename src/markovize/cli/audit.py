"""``markovize audit``: what does the reward depend on?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markovize.cli.exits import DONE, NO, STOPPED
from markovize.cli.options import ColumnsOption, DecimalsOption, JsonOption, named_values
from markovize.cli.terminal import console, count, print_json

if TYPE_CHECKING:
    from markovize.auditing.report import RewardReport

EXAMPLE = "markovize audit FrozenLake-v1"


def audit(
    source: Annotated[
        str,
        typer.Argument(
            metavar="ENV_ID|EPISODES|minari:NAME",
            help="A Gymnasium environment, a file of episodes (- for stdin), or a Minari data set.",
            show_default=False,
        ),
    ],
    import_: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="Imported first, to register ENV_ID.", show_default=False),
    ] = None,
    env_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="For gymnasium.make; JSON or text; repeatable.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal walks.", min=0)] = 0,
    seconds: Annotated[float, typer.Option(help="For walking; replays and learning take some more.", min=0.1)] = 20.0,
    steps: Annotated[int, typer.Option(help="The most steps to walk.", min=1)] = 40_000,
    replay_witness: Annotated[
        bool, typer.Option("--replay-witness", help="Play the witness again, in new environments.")
    ] = False,
    report_: Annotated[
        Path | None,
        typer.Option("--report", metavar="PAGE.html", help="Write a page with the witness drawn.", show_default=False),
    ] = None,
    reward_decimals: DecimalsOption = None,
    columns: ColumnsOption = None,
    json_: JsonOption = False,
) -> None:
    """What does the reward depend on: the step, its number, the history, earlier episodes, or chance?

    Exit codes: 0 Markov, 1 not Markov or random, 2 bad use, 3 not testable.
    """
    from markovize.auditing.audit import check_reward, find_source, not_testable
    from markovize.auditing.sources import EnvSource
    from markovize.cli.audit_display import audit_display
    from markovize.cli.environment_errors import guarding_environment
    from markovize.cli.files import table_columns
    from markovize.errors import UnsupportedError

    try:
        opened = find_source(
            "/dev/stdin" if source == "-" else source,
            imports=import_ or [],
            env_args=named_values(env_arg or [], "--env-arg"),
            columns=table_columns(columns),
            reward_decimals=reward_decimals,
        )
    except UnsupportedError as error:  # continuous observations in a data set
        report = not_testable(str(error))
    else:
        with audit_display() as show, guarding_environment():
            report = check_reward(opened, seed=seed, seconds=seconds, steps=steps, on_progress=show)
    report = replace(report, source=source)
    again = None
    if replay_witness and report.witness is not None and isinstance(opened, EnvSource):
        again = report.replay_witness_in(opened)
    if report_ is not None:
        from markovize.cli.audit_page import audit_page
        from markovize.io.files import atomic_write

        atomic_write(report_, audit_page(report, again))
    if json_:
        print_json(report.to_json() | ({} if again is None else {"replayed": list(again)}))
    else:
        _print(report)
        if again is not None:
            typer.echo(f"played again: {again[0]:.12g} and {again[1]:.12g}")
    raise typer.Exit({"markov": DONE, "not-testable": STOPPED}.get(report.verdict, NO))


def _print(report: RewardReport) -> None:
    from markovize.machine.describe import describe

    out = console()
    compared = "repeated observations" if report.given == "observation" else "restored states"
    out.print(
        f"{count(report.episodes, 'episode')}, {count(report.steps, 'step')}, "
        f"{report.comparable:,} comparable by {compared}, {report.seconds:.1f} s",
        highlight=False,
        soft_wrap=True,
    )
    colour = {"markov": "green", "not-testable": "yellow"}.get(report.verdict, "red")
    out.print(report.headline, style=colour, markup=False, highlight=False, soft_wrap=True)
    lines = [] if report.witness is None else [f"witness: {report.witness}"]
    if report.apart is not None:
        lines.append(f"(s, a, s') that paid differently: {report.apart}")
    if report.machine is not None:
        lines.append(f"a machine with {count(report.machine.states, 'state')} explains it:")
        lines += [f"  {line}" for line in describe(report.machine)[:8]]
    for line in (*lines, *report.notes, f"What to do: {report.advice}"):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
