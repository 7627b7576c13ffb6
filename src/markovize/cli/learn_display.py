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
            spinner.update(text=sentence(progress, elapsed))
            live.refresh()

        yield show


def sentence(progress: Progress, elapsed: float) -> str:
    """One line: phase, the size in question, what is proven, the best machine, exemplars, time.

    >>> sentence(Progress("searching", 4, 5, (4, 5), (4, 6), 72), 3.21)
    'searching K=4 z≤5 · proven K≥4 z≥5 · best K=4 z=6 · 72 exemplars · 3.2 s'
    """
    parts = [*filter(None, [progress.labels]), progress.phase]
    if progress.phase == "searching":
        parts[-1] += f" K={progress.states}" + ("" if progress.triggers is None else f" z≤{progress.triggers}")
        parts.append(f"proven K≥{progress.lower[0]} z≥{progress.lower[1]}")
    if progress.best is not None:
        parts.append(f"best K={progress.best[0]} z={progress.best[1]}")
    parts.append(f"{progress.exemplars} exemplars")
    parts.append(f"{elapsed:.1f} s")
    return " · ".join(parts)
