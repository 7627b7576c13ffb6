"""Other people's environments: their errors in one line that says where, and what they print beside our answers."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Final

from markovize.errors import InputError, MarkovizeError, one_line

OURS: Final = str(Path(__file__).parents[1])


@contextmanager
def guarding_environment() -> Iterator[None]:
    """Whatever an environment raises while it is played becomes an error of one line; our own errors stay as they are.

    What it prints goes to stderr (BabyAI tells of its levels): stdout is for answers.

    >>> import gymnasium
    >>> class Broken(gymnasium.Env):
    ...     def step(self, action):
    ...         return 1 / 0
    >>> with guarding_environment():
    ...     Broken().step(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    markovize.errors.InputError: the environment raised ZeroDivisionError: division by zero (<doctest ...>:3 in step)
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (MarkovizeError, MemoryError):
        raise
    except Exception as error:  # other people's code may raise anything
        where = _place(error)
        if where is None:
            raise
        reason = one_line(f"{type(error).__name__}: {error}", 200)
        raise InputError(f"the environment raised {reason} ({where})") from error


def _place(error: Exception) -> str | None:
    """File, line and function where an environment of somebody else's raised it; None if no environment did."""
    import gymnasium

    frames = list(traceback.walk_tb(error.__traceback__))
    within = any(
        isinstance(frame.f_locals.get("self"), gymnasium.Env) and not _is_ours(frame.f_code.co_filename)
        for frame, _ in frames
    )
    last, line = frames[-1]
    if not within or _is_ours(last.f_code.co_filename):
        return None
    return f"{one_line(last.f_code.co_filename, 100)}:{line} in {last.f_code.co_name}"


def _is_ours(path: str) -> bool:
    return path.startswith(OURS)
