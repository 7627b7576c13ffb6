"""The command line within this process: what is loaded and compiled is so already, which saves seconds."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from typing import Any, NamedTuple


class Ran(NamedTuple):
    """How a command ended, and what it wrote to stdout and stderr."""

    code: int
    out: str
    err: str


def run_here(*args: object) -> Ran:
    """``markovize ARGS``, as a process of its own would run it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    arguments, path = sys.argv, sys.path[:]
    sys.argv = ["markovize", *map(str, args)]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("markovize", run_name="__main__", alter_sys=True)
    except SystemExit as stopped:
        code = stopped.code
    finally:
        sys.argv, sys.path[:] = arguments, path
    return Ran(int(code or 0), _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
