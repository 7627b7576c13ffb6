"""One progress bar for each task of an experiment; silent where nobody is watching."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from markovize.agents.tabular import RunProgress
from markovize.experiments.spec import Experiment, Trial

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bars:
    """Where each task is: its finished trials, and parts of those under way."""

    def __init__(self, experiment: Experiment, bars: Progress | None) -> None:
        self._bars, self._parts = bars, dict[tuple[str, int], float]()
        self._ids: dict[str, TaskID] = {}
        self._totals: dict[str, int] = {}
        if bars is not None:
            for task in experiment.tasks:
                trials = sum(trial.task.title == task.title for trial in experiment.trials())
                self._ids[task.title] = bars.add_task(task.title, total=trials, note="", done=f"0/{trials}")
                self._totals[task.title] = trials

    def update(self, trial: Trial, progress: RunProgress) -> None:
        """A trial under way says how far it is."""
        part = 0.0 if progress.episodes is None else progress.episode / progress.episodes
        what = "waits for a first conflict" if progress.episodes is None else f"return {progress.moving_return:.2f}"
        note = f"seed {trial.seed}: {what}, K={progress.states} z={progress.triggers}, episode {progress.episode:,}"
        self._set(trial, min(part, 0.999), note)

    def finish(self, trial: Trial) -> None:
        """A trial is finished."""
        self._set(trial, 1.0, "")

    def _set(self, trial: Trial, part: float, note: str) -> None:
        if self._bars is None:
            return
        title = trial.task.title
        self._parts[title, trial.seed] = part
        parts = [value for (name, _), value in self._parts.items() if name == title]
        done = f"{sum(value == 1.0 for value in parts)}/{self._totals[title]}"
        self._bars.update(self._ids[title], completed=sum(parts), done=done, note=note)


@contextmanager
def experiment_display(experiment: Experiment) -> Iterator[Bars]:
    """The bars, on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Bars(experiment, None)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=console, refresh_per_second=5) as bars:
        yield Bars(experiment, bars)
