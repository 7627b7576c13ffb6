"""An ablation of experiment 3: fewest states first, as in the paper, or fewest triggers first."""

from __future__ import annotations

from typing import Final

from markovize.experiments.catalogue.breakfast import BREAKFAST, MEALS, SIZES
from markovize.experiments.catalogue.entry import Entry, Wanted
from markovize.experiments.paper import EXPERIMENT_3
from markovize.experiments.spec import Experiment, Task


def make(wanted: Wanted) -> Experiment:
    """Every meal under both objectives."""
    tasks = [
        Task(task, BREAKFAST, args, wanted.settings(objective=objective), objective)
        for task, args in MEALS.items()
        for objective in ("states", "triggers")
    ]
    title = "Ablation: rewards and objectives in Breakfastworld"
    return Experiment(wanted.name, title, tasks, wanted.seeds, EXPERIMENT_3)


ENTRY: Final = Entry(make, SIZES)
