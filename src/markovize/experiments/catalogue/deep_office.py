"""The paper's experiment 2: deep agents in Officeworld, with a learned machine, with memory, with neither."""

from __future__ import annotations

from typing import Final

from markovize.agents.deep.settings import MODELS, DeepSettings
from markovize.agents.tabular import Settings
from markovize.experiments.catalogue.entry import Entry, Preset, Wanted
from markovize.experiments.catalogue.office import OFFICE
from markovize.experiments.paper import EXPERIMENT_2
from markovize.experiments.spec import DeepTask, Experiment


def make(wanted: Wanted) -> Experiment:
    """Every model on every task; the machine of ADQN is learned in each of its trials, by directed exploration."""
    learning = Settings.of("directed", episodes=1_000, acyclic=True, engine=wanted.engine)
    tasks = [
        DeepTask(task, OFFICE, {"task": task}, learning, model, deep=DeepSettings(model, episodes=wanted.episodes))
        for task in wanted.tasks
        for model in MODELS
    ]
    return Experiment(wanted.name, "Experiment 2: deep agents in Officeworld", tasks, wanted.seeds, EXPERIMENT_2)


ENTRY: Final = Entry(make, {"paper": Preset(10, 50_000), "quick": Preset(3, 8_000), "smoke": Preset(1, 100, tasks="e")})
