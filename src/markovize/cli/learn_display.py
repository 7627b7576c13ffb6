"""The live display of a long solve; silent where nobody is watching."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from markovize.learning.search import Progress

QUIET_SECONDS = 0.5  # short solves need no display


@contextmanager
def progress_display() -> Iterator[Callable[[Progress], None] | None]:
    """Gives a function for ``learn(on_progress=…)``, or None if stderr is not a terminal."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    start = time.monotonic()
    spinner = Spinner(
        "dots", text="starting; the first use on a computer compiles inner loops, which takes some seconds"
    )
    with Live(spinner, console=console, transient=True, refresh_per_second=8, auto_refresh=False) as live:
        shown = 0.0

        def show(progress: Progress) -> None:
            nonlocal shown
            elapsed = time.monotonic() - start
            if elapsed < QUIET_SECONDS or elapsed - shown < 0.125:
                return
            shown = elapsed
            spinner.update(text=progress.sentence(elapsed))
            live.refresh()

        yield show
