"""``markovize draw``: a picture of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markovize.cli import files
from markovize.cli.options import JsonOption, MachineArgument, join_words
from markovize.pictures.formats import DRAWINGS

EXAMPLE = "markovize draw machine.json -o machine.svg"
PICTURE_FILES = join_words([format.pattern for format in DRAWINGS])


def draw(
    machine: MachineArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help=f"A {PICTURE_FILES} file.", show_default=False)],
    json_: JsonOption = False,
) -> None:
    """Draw a machine. No other program is needed for SVG and PNG."""
    import markovize

    markovize.draw(output, markovize.read_machine(machine))
    files.report_written(output, json_)
