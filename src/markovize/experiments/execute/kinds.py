"""How each kind of task is run: a module and a line for each kind. What a task is, is in its specification."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from markovize.agents.tabular import RunProgress
from markovize.experiments.execute import deep, tabular
from markovize.experiments.records import Finished
from markovize.experiments.spec import Task, Trial


class Kind(NamedTuple):
    """Fails if this machine cannot run a task; runs a trial, here and now."""

    check_task: Callable[[Task], None]
    run_trial: Callable[[Trial, Callable[[RunProgress], None] | None], Finished]


KINDS: Final[Mapping[str, Kind]] = {
    "tabular": Kind(tabular.check_task, tabular.run_trial),
    "deep": Kind(deep.check_task, deep.run_trial),
}


def check_task(task: Task) -> None:
    """Fails if this machine cannot run the task; asked before anything is written."""
    KINDS[task.kind].check_task(task)


def run_trial(trial: Trial, on_progress: Callable[[RunProgress], None] | None = None) -> Finished:
    """Runs a trial of any kind, here and now.

    >>> from markovize import Settings
    >>> task = Task("breakfast", "markovize/BreakfastWorld-v0", {"task": "b"}, Settings.of(episodes=100))
    >>> record, timings = run_trial(Trial("mine", task, seed=0))
    >>> record.states, record.optimal
    (5, True)
    """
    return KINDS[trial.task.kind].run_trial(trial, on_progress)
