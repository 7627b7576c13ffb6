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
                print(progress.sentence(), file=sys.stderr, flush=True)

        yield say
        return
    spinner = Spinner("dots")
    with Live(spinner, console=console, transient=True, refresh_per_second=8, auto_refresh=False) as live:

        def show(progress: AuditProgress) -> None:
            nonlocal shown
            if time.monotonic() - shown >= PAUSE:
                shown = time.monotonic()
                spinner.update(text=progress.sentence())
                live.refresh()

        yield show
