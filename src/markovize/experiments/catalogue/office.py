"""The paper's experiment 1: all tasks of Officeworld."""

from __future__ import annotations

from typing import Final

from markovize.experiments.catalogue.entry import Entry, Preset, Wanted
from markovize.experiments.paper import EXPERIMENT_1
from markovize.experiments.spec import Experiment, Task

OFFICE: Final = "markovize/OfficeWorld-v0"
WAITING: Final = {"b": 0.2}
"""ε while waiting. The shortest path of task b passes the coffee: with less, the first conflict may never come."""


def make(wanted: Wanted) -> Experiment:
    """A column of the paper's figure for each task."""
    tasks = [
        Task(task, OFFICE, {"task": task}, wanted.settings(wait_epsilon=WAITING.get(task))) for task in wanted.tasks
    ]
    return Experiment(wanted.name, "Experiment 1: Officeworld", tasks, wanted.seeds, EXPERIMENT_1)


ENTRY: Final = Entry(
    make,
    {
        "paper": Preset(10, 100_000, 1_000_000),
        "quick": Preset(3, 50_000, 200_000),
        "smoke": Preset(1, 10_000, 100_000),
    },
)
