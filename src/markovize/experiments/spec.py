"""Experiments as data: which environments, which settings, which seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from markovize.active import RunProgress, Settings
from markovize.errors import InputError
from markovize.experiments.paper import PaperValues

if TYPE_CHECKING:
    from markovize.experiments.records import TrialRecord, TrialTimings


@dataclass(frozen=True)
class Task:
    """One environment and how to learn in it: a column of the figure, or with ``variant`` a line of it.

    ``imports`` are modules that register the environment.
    """

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


@dataclass(frozen=True)
class Trial:
    """One task with one seed: the smallest thing that is run, and never run twice."""

    experiment: str
    task: Task
    seed: int

    @property
    def settings(self) -> Settings:
        """Those of the task, with the seed."""
        return replace(self.task.settings, seed=self.seed)

    def config(self) -> dict[str, Any]:
        """All that the result depends on."""
        task = self.task
        return {
            "experiment": self.experiment, "task": task.name, "variant": task.variant, "env_id": task.env_id,
            "env_args": dict(task.env_args), "imports": list(task.imports), "settings": self.settings.to_json(),
        }  # fmt: skip

    @property
    def key(self) -> str:
        """Stands for the full configuration.

        >>> one, other = (Trial("mine", Task("b", "markovize/OfficeWorld-v0", {"task": task}), 0) for task in "bc")
        >>> one.key == other.key, len(one.key)
        (False, 16)
        """
        return hashlib.sha256(json.dumps(self.config(), sort_keys=True).encode()).hexdigest()[:16]

    def run(self, on_progress: Callable[[RunProgress], None] | None = None) -> tuple[TrialRecord, TrialTimings]:
        """Runs it, here and now."""
        from markovize.active import ActiveLearner
        from markovize.experiments.records import record_of
        from markovize.runs.command import make

        task = self.task
        env = make(task.env_id, task.env_args, task.imports)
        try:
            result = ActiveLearner(env, self.settings, on_progress=on_progress).run()
            return record_of(
                env, result, experiment=self.experiment, task=task.name, variant=task.variant, seed=self.seed,
                env_id=task.env_id, env_args=task.env_args, key=self.key,
            )  # fmt: skip
        finally:
            env.close()


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

    def trials(self) -> Iterator[Trial]:
        """All of them, in the order of the results."""
        for task in self.tasks:
            for seed in self._seeds():
                yield Trial(self.name, task, seed)
