"""The live display of an audit: a line on a terminal, one now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markovize.auditing.audit import AuditProgress

PAUSE: Final = 0.125  # seconds between two pictures on a terminal
SELDOM: Final = 10.0  # and between two lines elsewhere


@contextmanager
def audit_display() -> Iterator[Callable[[AuditProgress], None]]:
    """Gives a function for ``check_reward(on_progress=…)``."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    console = Console(stderr=True)
    shown = time.monotonic()
    if not console.is_terminal:

        def say(progress: AuditProgress) -> None:
            nonlocal shown
            if time.monotonic() - shown >= SELDOM:
                shown = time.monotonic()
                print(sentence(progress), file=sys.stderr, flush=True)

        yield say
        return
    spinner = Spinner("dots")
    with Live(spinner, console=console, transient=True, refresh_per_second=8, auto_refresh=False) as live:

        def show(progress: AuditProgress) -> None:
            nonlocal shown
            if time.monotonic() - shown >= PAUSE:
                shown = time.monotonic()
                spinner.update(text=sentence(progress))
                live.refresh()

        yield show


def sentence(progress: AuditProgress) -> str:
    """One line: what is being done, the steps so far, the time.

    >>> from markovize.auditing.audit import AuditProgress
    >>> sentence(AuditProgress("walking", 12_000, 3.21))
    'walking · 12,000 steps · 3.2 s'
    """
    return f"{progress.phase} · {progress.steps:,} steps · {progress.seconds:.1f} s"
