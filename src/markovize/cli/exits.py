"""How a command ends: its exit code, and one line on stderr where something went wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from markovize.errors import LONGEST_LINE, one_line

DONE, NO, BAD, STOPPED, INTERRUPTED = 0, 1, 2, 3, 130


@contextmanager
def saying_how_to_go_on() -> Iterator[None]:
    """Ctrl-C ends the command with what the work has to say about going on."""
    try:
        yield
    except KeyboardInterrupt as error:
        fail(str(error) or "interrupted", INTERRUPTED)


def fail(message: str, code: int) -> NoReturn:
    """Ends the command: one line on stderr, and this exit code."""
    typer.echo(one_line(f"markovize: {' '.join(message.split())}", LONGEST_LINE), err=True)
    sys.exit(code)
