"""The paper's experiment 3: both tasks of Breakfastworld, with all rewards and with only the last one."""

from __future__ import annotations

from typing import Final

from markovize.experiments.catalogue.entry import Entry, Preset, Wanted
from markovize.experiments.paper import EXPERIMENT_3
from markovize.experiments.spec import Experiment, Task

BREAKFAST: Final = "markovize/BreakfastWorld-v0"
MEALS: Final = {
    f"{task} {rewards}": {"task": task, "rewards": rewards} for task in "bc" for rewards in ("full", "cumulative")
}
SIZES: Final = {
    "paper": Preset(10, 10_000, 1_000_000),
    "quick": Preset(3, 10_000, 100_000),
    "smoke": Preset(1, 5_000, 20_000, first=4),
}


def make(wanted: Wanted) -> Experiment:
    """A column of the paper's figure for each meal."""
    tasks = [Task(task, BREAKFAST, args, wanted.settings()) for task, args in MEALS.items()]
    return Experiment(wanted.name, "Experiment 3: Breakfastworld", tasks, wanted.seeds, EXPERIMENT_3)


ENTRY: Final = Entry(make, SIZES)
