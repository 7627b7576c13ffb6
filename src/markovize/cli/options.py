"""What arguments and options of several commands look like."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from markovize.errors import InputError
from markovize.io.registry import EPISODES, MACHINES


def join_words(words: Sequence[str]) -> str:
    """A list in a sentence.

    >>> join_words([".svg", ".png", ".dot"])
    '.svg, .png or .dot'
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


EPISODE_FILES = ", ".join(format.pattern for format in EPISODES if format.read is not None)
MACHINE_FILES = join_words([format.pattern for format in MACHINES if format.read is not None])

EpisodesArgument = Annotated[
    Path,
    typer.Argument(help=f"Episodes: {EPISODE_FILES}; - for JSONL from stdin", show_default=False),
]
MachineArgument = Annotated[Path, typer.Argument(help=f"A machine: {MACHINE_FILES}", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
AllOption = Annotated[bool, typer.Option("--all", help="Show everything, however long.")]
DecimalsOption = Annotated[
    int | None,
    typer.Option(min=0, max=15, help="Round rewards to this many decimals when reading.", show_default=False),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="KIND=COLUMN,…",
        help="Tables: which columns hold what, for example state=x+y,next_state=x2+y2,reward=r",
        show_default=False,
    ),
]


def named_values(pairs: Sequence[str], option: str) -> dict[str, Any]:
    """Names and values; what is not JSON is text.

    >>> named_values(["task=c", "levels=3", "sizes=[1, 2]", "x=NaN"], "--env-arg")
    {'task': 'c', 'levels': 3, 'sizes': [1, 2], 'x': 'NaN'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (equals and name.isidentifier()):
            raise InputError(f"{option} must look like name=value, not {pair!r}")
        if name in values:
            raise InputError(f"{option} {name} is given twice")
        try:
            values[name] = json.loads(text)
            json.dumps(values[name], allow_nan=False)
        except (ValueError, RecursionError):
            values[name] = text
    return values
