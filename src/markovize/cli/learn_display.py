"""The live display of a long solve; silent where nobody is watching."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from markovize.learning.search import Progress

QUIET_SECONDS = 0.5  # short solves need no display


@contextmanager
def progress_display() -> Iterator[Callable[[Progress], None]]:
    """Gives a function for ``learn(on_progress=…)``; where stderr is no terminal, it only tells hints."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    console, told = Console(stderr=True), set[str]()

    def tell_once(progress: Progress) -> None:
        if progress.hint and progress.hint not in told:
            told.add(progress.hint)
            console.print(
                f"note: {progress.hint.rstrip('.')} (the search goes on)", markup=False, highlight=False, soft_wrap=True
            )

    if not console.is_terminal:
        yield tell_once
        return
    start = time.monotonic()
    spinner = Spinner(
        "dots", text="starting; the first use on a computer compiles inner loops, which takes some seconds"
    )
    with Live(spinner, console=console, transient=True, refresh_per_second=8, auto_refresh=False) as live:
        shown = 0.0

        def show(progress: Progress) -> None:
            nonlocal shown
            tell_once(progress)
            elapsed = time.monotonic() - start
            if elapsed < QUIET_SECONDS or elapsed - shown < 0.125:
                return
            shown = elapsed
            spinner.update(text=progress.sentence(elapsed))
            live.refresh()

        yield show
