"""``markovize draw``: a picture of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markovize.cli import files
from markovize.cli.options import JsonOption, MachineArgument, features_option, function_option, join_words
from markovize.pictures.formats import DRAWINGS

if TYPE_CHECKING:
    from markovize.machine.support import Support

EXAMPLE = "markovize draw machine.json -o machine.svg"
PICTURE_FILES = join_words([format.pattern for format in DRAWINGS])


def draw(
    machine: MachineArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help=f"A {PICTURE_FILES} file.", show_default=False)],
    json_: JsonOption = False,
    episodes: Annotated[
        Path | None,
        typer.Option(
            metavar="EPISODES",
            help="Beside each trigger, how many steps of these fired it, and how many paid steps need it.",
            show_default=False,
        ),
    ] = None,
    trigger_on: Annotated[str | None, function_option()] = None,
    reward_on: Annotated[str | None, function_option()] = None,
    features: Annotated[str | None, features_option()] = None,
) -> None:
    """Draw a machine. No other program is needed for SVG and PNG."""
    import markovize

    known = markovize.read_machine(machine)
    if episodes is None and (trigger_on or reward_on or features):
        raise typer.BadParameter("--trigger-on, --reward-on and --features go with --episodes: they label its steps")
    support: tuple[Support, ...] = ()
    if episodes is not None:
        files.check_other_file(output, episodes)
        support = files.support_in(known, episodes, trigger_on, reward_on, features)
    markovize.draw(output, known, support=support)
    files.report_written(output, json_)
