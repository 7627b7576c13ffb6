"""``markovize verify``: does a certificate hold?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markovize.cli import options
from markovize.cli.exits import DONE, NO
from markovize.cli.groups import with_groups
from markovize.cli.logs import PLAIN, Log
from markovize.cli.terminal import console, count, print_json

if TYPE_CHECKING:
    from markovize.episodes.traces import Traces

EXAMPLE = "markovize verify certificate/ episodes.jsonl"


@with_groups
def verify(
    folder: Annotated[Path, typer.Argument(help="The folder that `learn --certificate` wrote.", show_default=False)],
    episodes: options.EpisodesArgument,
    function: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="A function that labels come from; no other is called. May be given twice.",
            callback=options.check_functions,
            show_default=False,
        ),
    ] = None,
    checker: Annotated[
        str, typer.Option(metavar="own|PROGRAM", help="What checks proofs: own, or a program such as drat-trim.")
    ] = "own",
    time_limit: Annotated[float, typer.Option(min=0.001, help="Give up after this many seconds.")] = 600.0,
    reward_decimals: options.DecimalsOption = None,
    json_: options.JsonOption = False,
    log: Log = PLAIN,
) -> None:
    """Check that a machine is the smallest, by its certificate and the episodes alone. Exit with 1 if that fails."""
    import markovize

    known = _episodes(episodes, reward_decimals, log)
    found = markovize.verify(folder, known, functions=function or (), checker=checker, time_limit=time_limit)
    if json_:
        print_json(found.to_json())
    elif found.verified:
        size = f"{count(found.states or 0, 'state')}, {count(found.triggers or 0, 'trigger')}"
        console().print(f"[green]verified:[/] {size}, {count(found.claims or 0, 'claim')} ({found.seconds:.2f} s)")
        console().print(f"  {found.statement()}", markup=False, highlight=False, soft_wrap=True)
    else:
        console().print(f"[red]not verified:[/] {found.reason}", highlight=False, soft_wrap=True)
    raise typer.Exit(DONE if found.verified else NO)


def _episodes(path: Path, reward_decimals: int | None, log: Log) -> Path | Traces:
    """A plain JSONL file is for the checker to read by itself; all else is read as ever, and handed to it as JSONL."""
    from markovize.io.files import readable

    if path.suffix == ".jsonl" and reward_decimals is None and log == PLAIN:
        return readable(path)
    return log.read_whole(path, reward_decimals)
