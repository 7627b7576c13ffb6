"""``markovize convert``: another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markovize.cli import files
from markovize.cli.completion import complete_format
from markovize.cli.options import ColumnsOption, JsonOption
from markovize.io.registry import EPISODES, MACHINES

EXAMPLE = "markovize convert machine.json machine.txt"
HELP = (
    f"Convert machines ({', '.join(format.name for format in MACHINES)}) "
    f"and episodes ({', '.join(format.name for format in EPISODES)})."
)


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="What to read.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="What to write.", show_default=False)],
    from_: Annotated[
        str | None,
        typer.Option("--from", help="Format of IN, if its ending does not say.", autocompletion=complete_format),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format of OUT, if its ending does not say.", autocompletion=complete_format),
    ] = None,
    columns: ColumnsOption = None,
    json_: JsonOption = False,
) -> None:
    import markovize

    files.check_other_file(target, source)
    markovize.convert(source, target, source_format=from_, target_format=to, columns=files.table_columns(columns))
    files.report_written(target, json_)
