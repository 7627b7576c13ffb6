"""Experiments as data: which environments, which settings, which seeds. How they are run is said elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from markovize.agents.deep.settings import DeepSettings
from markovize.agents.tabular import Settings
from markovize.errors import InputError
from markovize.experiments.paper import PaperValues


@dataclass(frozen=True)
class Task:
    """One environment and how to learn in it: a column of the figure, or with ``variant`` a line of it.

    ``imports`` are modules that register the environment. ``kind`` names what runs it, in
    :data:`markovize.experiments.execute.kinds.KINDS`.
    """

    kind: ClassVar[str] = "tabular"

    name: str
    env_id: str
    env_args: Mapping[str, Any] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings.of)
    variant: str = ""
    imports: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name, with its variant."""
        return f"{self.name}, {self.variant}" if self.variant else self.name

    def config(self, seed: int) -> dict[str, Any]:
        """All that the result of a trial depends on, but the experiment's name."""
        return {
            "task": self.name,
            "variant": self.variant,
            "env_id": self.env_id,
            "env_args": dict(self.env_args),
            "imports": list(self.imports),
            "settings": replace(self.settings, seed=seed).to_json(),
        }


@dataclass(frozen=True)
class DeepTask(Task):
    """One environment and one deep agent in it, as ``deep`` says.

    If that is ADQN, the machine that it sees is learned first, by an active learner with these ``settings``; that is
    part of the trial. The record's final return is the mean of the last 1,000 episodes.

    >>> task = DeepTask("e", "markovize/OfficeWorld-v0", {"task": "e"}, variant="GRU", deep=DeepSettings("GRU"))
    >>> task.title, sorted(task.config(0))
    ('e, GRU', ['deep', 'env_args', 'env_id', 'imports', 'seed', 'task', 'variant'])
    """

    kind: ClassVar[str] = "deep"

    deep: DeepSettings = field(default_factory=lambda: DeepSettings("DQN"))

    def config(self, seed: int) -> dict[str, Any]:
        """All that the result of a trial depends on, but the experiment's name."""
        config = super().config(seed)
        learning = config.pop("settings")
        needed = {"machine": learning} if self.deep.model == "ADQN" else {}
        return config | {"seed": seed, "deep": self.deep.to_json()} | needed


@dataclass(frozen=True)
class Trial:
    """One task with one seed: the smallest thing that is run, and never run twice."""

    experiment: str
    task: Task
    seed: int

    def config(self) -> dict[str, Any]:
        """All that the result depends on."""
        return {"experiment": self.experiment, **self.task.config(self.seed)}

    @property
    def key(self) -> str:
        """Stands for the full configuration.

        >>> one, other = (Trial("mine", Task("b", "markovize/OfficeWorld-v0", {"task": task}), 0) for task in "bc")
        >>> one.key == other.key, len(one.key)
        (False, 16)
        """
        return hashlib.sha256(json.dumps(self.config(), sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Experiment:
    """Tasks, each with all seeds. ``paper`` has published values by task name, if there are any.

    >>> sweep = Experiment("mine", "Two offices", [Task(t, "markovize/OfficeWorld-v0", {"task": t}) for t in "bc"], 3)
    >>> [(trial.task.name, trial.seed) for trial in sweep.trials()]
    [('b', 0), ('b', 1), ('b', 2), ('c', 0), ('c', 1), ('c', 2)]
    """

    name: str
    title: str
    tasks: Sequence[Task]
    seeds: int | Sequence[int] = 10
    paper: Mapping[str, PaperValues] = field(default_factory=dict)

    def __post_init__(self) -> None:
        twice = [task.title for n, task in enumerate(self.tasks) if task.title in [t.title for t in self.tasks[:n]]]
        if twice:
            raise InputError(f"two tasks are called {twice[0]!r}; give each a name or a variant of its own")
        if not self.tasks or not list(self._seeds()):
            raise InputError("an experiment needs at least one task and one seed")

    def _seeds(self) -> Sequence[int]:
        return range(self.seeds) if isinstance(self.seeds, int) else self.seeds

    def only(self, names: Sequence[str]) -> Experiment:
        """The same with these tasks alone.

        >>> sweep = Experiment("x", "X", [Task(name, "Env-v0") for name in "bcd"], 2)
        >>> [task.name for task in sweep.only(["d"]).tasks]
        ['d']
        >>> sweep.only(["e"])
        Traceback (most recent call last):
        markovize.errors.InputError: tasks are b, c, d, not 'e'
        """
        known = list(dict.fromkeys(task.name for task in self.tasks))
        if unknown := [name for name in names if name not in known]:
            raise InputError(f"tasks are {', '.join(known)}, not {unknown[0]!r}")
        return replace(self, tasks=[task for task in self.tasks if task.name in names])

    def trials(self) -> Iterator[Trial]:
        """All of them, in the order of the results."""
        for task in self.tasks:
            for seed in self._seeds():
                yield Trial(self.name, task, seed)
