"""Progress in notebooks: one output of the cell that is written again and again, with a bar where the end is known.

    learn(episodes, on_progress=show_progress())
    ActiveLearner(env, on_progress=show_progress()).run()
    check_reward(env, on_progress=show_progress())

It needs no widgets. Outside a notebook it is a line on stderr, and where stderr is no terminal nothing is shown.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from markovize.agents.tabular import RunProgress
    from markovize.auditing.audit import AuditProgress
    from markovize.learning.search import Progress

    Anything: TypeAlias = Progress | RunProgress | AuditProgress

PAUSE: Final = 0.25  # seconds between two pictures
QUIET: Final = 0.5  # seconds; what is done by then needs no display
WIDTH: Final = 24  # letters of a bar


def show_progress() -> Callable[[Anything], None]:
    """A function for ``on_progress``, new for each call.

    >>> from markovize import learn
    >>> learn([(["hall", "office"], ["go"], [0])], on_progress=show_progress()).status
    'optimal'
    """
    write = _notebook() or _terminal()
    start = time.monotonic()
    shown = start + QUIET - PAUSE

    def show(progress: Anything) -> None:
        nonlocal shown
        now = time.monotonic()
        done = getattr(progress, "episode", None)
        total = getattr(progress, "episodes", None)
        last = done is not None and done == total and shown > start + QUIET
        if write is not None and (now - shown >= PAUSE or last):
            shown = now
            write(_bar(done, total) + _sentence(progress, now - start))

    return show


def _sentence(progress: Any, seconds: float) -> str:
    return str(progress.sentence(seconds) if hasattr(progress, "lower") else progress.sentence())


def _bar(done: int | None, total: int | None) -> str:
    """How much of it is done, where that is known.

    >>> _bar(3, 12), _bar(3, None)
    ('██████░░░░░░░░░░░░░░░░░░ ', '')
    """
    if done is None or not total:
        return ""
    full = min(WIDTH, WIDTH * done // total)
    return "█" * full + "░" * (WIDTH - full) + " "


def _notebook() -> Callable[[str], None] | None:
    """Writes into the output of the cell; None where there is none."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    display: Any = sys.modules["IPython.display"]
    handle: Any = None

    def write(text: str) -> None:
        nonlocal handle
        shown = display.HTML(f"<code>{html.escape(text)}</code>")
        if handle is None:
            handle = display.display(shown, display_id=True)
        else:
            handle.update(shown)

    return write


def _terminal() -> Callable[[str], None] | None:
    """Writes one line of stderr again and again; None where that is no terminal."""
    if not sys.stderr.isatty():
        return None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
