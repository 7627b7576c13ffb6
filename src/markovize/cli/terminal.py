"""What all commands say alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "state"), count(1200, "episode")
    ('1 state', '1,200 episodes')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_json(data: Any) -> None:
    """One JSON value on one line of stdout."""
    typer.echo(json.dumps(data, allow_nan=False))


def console() -> Console:
    """Where answers for people go."""
    from rich.console import Console

    return Console()
