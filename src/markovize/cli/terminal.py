"""What all commands say alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import typer

from markovize.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "state"), count(1200, "episode")
    ('1 state', '1,200 episodes')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


MOST_LINES: Final = 10  # of a list: with two rows for each, and what else is said, an answer fits a screen
MOST_CHARACTERS: Final = 110  # of a line: with what is said of a trigger's support, two rows of a terminal


def screenful(lines: Sequence[str], noun: str, everything: bool = False) -> list[str]:
    """The first lines of a list, each cut to a length that can be read, and how many there are besides.

    >>> screenful([f"in state {n}" for n in range(100)], "trigger")[-2:]
    ['in state 8', '… and 91 more triggers (--all shows them)']
    >>> len(screenful(["x"] * 100, "trigger", everything=True))
    100
    """
    if everything:
        return list(lines)
    shown = lines if len(lines) <= MOST_LINES else lines[: MOST_LINES - 1]
    out = [line if len(line) <= MOST_CHARACTERS else one_line(line, MOST_CHARACTERS) for line in shown]
    more = len(lines) - len(shown)
    return [*out, f"… and {count(more, f'more {noun}')} (--all shows them)"] if more else out


def print_json(data: Any) -> None:
    """One JSON value on one line of stdout."""
    typer.echo(json.dumps(data, allow_nan=False))


def console() -> Console:
    """Where answers for people go."""
    from rich.console import Console

    return Console()
