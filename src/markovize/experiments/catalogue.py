"""The paper's experiments, and the ablation that it argues for, each in three sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from markovize.agents.deep.settings import MODELS, DeepSettings
from markovize.agents.tabular import Settings
from markovize.errors import InputError
from markovize.experiments.deep_task import DeepTask
from markovize.experiments.paper import EXPERIMENT_1, EXPERIMENT_2, EXPERIMENT_3
from markovize.experiments.spec import Experiment, Task

OFFICE, BREAKFAST = "markovize/OfficeWorld-v0", "markovize/BreakfastWorld-v0"
MEALS: Final = {
    f"{task} {rewards}": {"task": task, "rewards": rewards} for task in "bc" for rewards in ("full", "cumulative")
}
NAMES: Final = ("exp1", "exp2", "exp3", "ablation")


class Preset(NamedTuple):
    """How large: seeds, reported episodes, how long to wait for a first conflict; which tasks, and the first seed."""

    seeds: int
    episodes: int
    max_wait: int = 0
    tasks: str = "bcde"
    first: int = 0


PRESETS: Final[Mapping[str, Mapping[str, Preset]]] = {
    "exp1": {
        "paper": Preset(10, 100_000, 1_000_000),
        "quick": Preset(3, 50_000, 200_000),
        "smoke": Preset(1, 10_000, 100_000),
    },
    "exp2": {
        "paper": Preset(10, 50_000),
        "quick": Preset(3, 8_000),
        "smoke": Preset(1, 100, tasks="e"),
    },
    "exp3": {
        "paper": Preset(10, 10_000, 1_000_000),
        "quick": Preset(3, 10_000, 100_000),
        "smoke": Preset(1, 5_000, 20_000, first=4),
    },
    "ablation": {
        "paper": Preset(10, 10_000, 1_000_000),
        "quick": Preset(3, 10_000, 100_000),
        "smoke": Preset(1, 5_000, 20_000, first=4),
    },
}


def experiment(
    name: str, preset: str = "paper", *, seeds: int | None = None, episodes: int | None = None, engine: str = "auto"
) -> Experiment:
    """One of the paper's experiments; ``seeds`` and ``episodes`` override those of the preset.

    >>> exp1 = experiment("exp1")
    >>> exp1.title, [task.name for task in exp1.tasks], exp1.tasks[0].settings.patience
    ('Experiment 1: Officeworld', ['b', 'c', 'd', 'e'], 20000)
    >>> experiment("exp9")
    Traceback (most recent call last):
    markovize.errors.InputError: experiments are exp1, exp2, exp3, ablation, not 'exp9'
    """
    if name not in NAMES:
        raise InputError(f"experiments are {', '.join(NAMES)}, not {name!r}")
    if preset not in PRESETS[name]:
        raise InputError(f"presets are {', '.join(PRESETS[name])}, not {preset!r}")
    size = PRESETS[name][preset]
    episodes = episodes or size.episodes
    numbers = range(size.first, size.first + (seeds or size.seeds))
    common: dict[str, Any] = {"episodes": episodes, "max_wait": max(size.max_wait, episodes), "engine": engine}
    if name == "exp1":
        # the shortest path of task b passes the coffee: with little exploration the first conflict may never come
        waiting = {"b": 0.2}
        tasks = [
            Task(task, OFFICE, {"task": task}, Settings.of("paper", **common, wait_epsilon=waiting.get(task)))
            for task in "bcde"
        ]
        return Experiment(name, "Experiment 1: Officeworld", tasks, numbers, EXPERIMENT_1)
    if name == "exp2":
        # the machine of ADQN is learned in each of its trials, by directed exploration
        learning = Settings.of("directed", episodes=1_000, acyclic=True, engine=engine)
        trainings = [
            DeepTask(task, OFFICE, {"task": task}, learning, model, deep=DeepSettings(model, episodes=episodes))
            for task in size.tasks
            for model in MODELS
        ]
        return Experiment(name, "Experiment 2: deep agents in Officeworld", trainings, numbers, EXPERIMENT_2)
    if name == "exp3":
        tasks = [Task(task, BREAKFAST, args, Settings.of("paper", **common)) for task, args in MEALS.items()]
        return Experiment(name, "Experiment 3: Breakfastworld", tasks, numbers, EXPERIMENT_3)
    tasks = [
        Task(task, BREAKFAST, args, Settings.of("paper", **common, objective=objective), objective)
        for task, args in MEALS.items()
        for objective in ("states", "triggers")
    ]
    return Experiment(name, "Ablation: rewards and objectives in Breakfastworld", tasks, numbers, EXPERIMENT_3)
