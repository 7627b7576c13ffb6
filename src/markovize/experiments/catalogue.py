"""The paper's experiments, and the ablation that it argues for, each in three sizes.

A new one is a function that makes it and an entry in :data:`CATALOGUE`; for the command line, its name in
:class:`markovize.cli.choices.ExperimentChoice`, where nothing slow may be loaded to look it up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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


class Preset(NamedTuple):
    """How large: seeds, reported episodes, how long to wait for a first conflict; which tasks, and the first seed."""

    seeds: int
    episodes: int
    max_wait: int = 0
    tasks: str = "bcde"
    first: int = 0


@dataclass(frozen=True)
class Wanted:
    """What is asked of an experiment: which tasks and seeds, how many reported episodes, which engine."""

    name: str
    tasks: str
    seeds: Sequence[int]
    episodes: int
    max_wait: int
    engine: str

    def settings(self, **changes: Any) -> Settings:
        """The paper's settings in this size."""
        size: dict[str, Any] = {"episodes": self.episodes, "max_wait": self.max_wait, "engine": self.engine}
        return Settings.of("paper", **size | changes)


def make_exp1(wanted: Wanted) -> Experiment:
    """All tasks of Officeworld."""
    # the shortest path of task b passes the coffee: with little exploration the first conflict may never come
    waiting = {"b": 0.2}
    tasks = [
        Task(task, OFFICE, {"task": task}, wanted.settings(wait_epsilon=waiting.get(task))) for task in wanted.tasks
    ]
    return Experiment(wanted.name, "Experiment 1: Officeworld", tasks, wanted.seeds, EXPERIMENT_1)


def make_exp2(wanted: Wanted) -> Experiment:
    """Deep agents; the machine of ADQN is learned in each of its trials, by directed exploration."""
    learning = Settings.of("directed", episodes=1_000, acyclic=True, engine=wanted.engine)
    tasks = [
        DeepTask(task, OFFICE, {"task": task}, learning, model, deep=DeepSettings(model, episodes=wanted.episodes))
        for task in wanted.tasks
        for model in MODELS
    ]
    return Experiment(wanted.name, "Experiment 2: deep agents in Officeworld", tasks, wanted.seeds, EXPERIMENT_2)


def make_exp3(wanted: Wanted) -> Experiment:
    """Both tasks of Breakfastworld, with all rewards and with only the last one."""
    tasks = [Task(task, BREAKFAST, args, wanted.settings()) for task, args in MEALS.items()]
    return Experiment(wanted.name, "Experiment 3: Breakfastworld", tasks, wanted.seeds, EXPERIMENT_3)


def make_ablation(wanted: Wanted) -> Experiment:
    """The same under both objectives."""
    tasks = [
        Task(task, BREAKFAST, args, wanted.settings(objective=objective), objective)
        for task, args in MEALS.items()
        for objective in ("states", "triggers")
    ]
    title = "Ablation: rewards and objectives in Breakfastworld"
    return Experiment(wanted.name, title, tasks, wanted.seeds, EXPERIMENT_3)


class Entry(NamedTuple):
    """What makes the experiment, and its sizes."""

    make: Callable[[Wanted], Experiment]
    presets: Mapping[str, Preset]


MEAL_SIZES: Final = {
    "paper": Preset(10, 10_000, 1_000_000),
    "quick": Preset(3, 10_000, 100_000),
    "smoke": Preset(1, 5_000, 20_000, first=4),
}
CATALOGUE: Final[Mapping[str, Entry]] = {
    "exp1": Entry(
        make_exp1,
        {
            "paper": Preset(10, 100_000, 1_000_000),
            "quick": Preset(3, 50_000, 200_000),
            "smoke": Preset(1, 10_000, 100_000),
        },
    ),
    "exp2": Entry(
        make_exp2,
        {
            "paper": Preset(10, 50_000),
            "quick": Preset(3, 8_000),
            "smoke": Preset(1, 100, tasks="e"),
        },
    ),
    "exp3": Entry(make_exp3, MEAL_SIZES),
    "ablation": Entry(make_ablation, MEAL_SIZES),
}
NAMES: Final = tuple(CATALOGUE)


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
    if name not in CATALOGUE:
        raise InputError(f"experiments are {', '.join(CATALOGUE)}, not {name!r}")
    make, presets = CATALOGUE[name]
    if preset not in presets:
        raise InputError(f"presets are {', '.join(presets)}, not {preset!r}")
    size = presets[preset]
    episodes = episodes or size.episodes
    numbers = range(size.first, size.first + (seeds or size.seeds))
    return make(Wanted(name, size.tasks, numbers, episodes, max(size.max_wait, episodes), engine))
