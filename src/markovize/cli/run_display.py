"""The display of an active run: live on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markovize.agents.tabular import RunProgress

PAUSE = 0.125  # seconds between two pictures
LINE_PAUSE = 10.0  # seconds between two lines where stderr is no terminal


@contextmanager
def run_display() -> Iterator[Callable[[RunProgress], None]]:
    """Gives a function for ``ActiveLearner(on_progress=…)``."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lines_now_and_then()
        return
    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, refresh_per_second=8) as bar:
        task = bar.add_task("", total=None)
        shown, note = -PAUSE, ""

        def show(progress: RunProgress) -> None:
            nonlocal shown, note
            if progress.note and progress.note != note:  # news stay on the screen, above the bar
                note = progress.note
                bar.print(note, markup=False, highlight=False)
            now = time.monotonic()
            if now - shown >= PAUSE:
                shown = now
                bar.update(
                    task,
                    completed=progress.episode,
                    total=progress.episodes,
                    description=progress.sentence(),
                    refresh=True,
                )

        yield show


def lines_now_and_then() -> Callable[[RunProgress], None]:
    """Writes a line to stderr every ten seconds, so that a log shows that the run is alive, and what it is doing."""
    import typer

    began = written = time.monotonic()

    def show(progress: RunProgress) -> None:
        nonlocal written
        now = time.monotonic()
        if now - written >= LINE_PAUSE:
            written = now
            typer.echo(f"{now - began:.0f} s: {progress.sentence()}", err=True)

    return show
