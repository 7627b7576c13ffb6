"""Runs an experiment: every trial that is not finished yet, then all files and the page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from markovize.clusters.ray_cluster import check_executor
from markovize.episodes.strict_json import strict_json
from markovize.errors import InputError, MarkovizeError, one_line
from markovize.experiments.execute.display import experiment_display
from markovize.experiments.execute.kinds import check_task
from markovize.experiments.execute.local import OnProgress, run_here, run_in_processes
from markovize.experiments.execute.store import TrialStore
from markovize.experiments.records import Finished
from markovize.experiments.report.files import write_report
from markovize.experiments.spec import Experiment, Trial
from markovize.io.files import atomic_write, read_text
from markovize.runs import check_new


def run_experiment(
    experiment: Experiment,
    folder: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    executor: str = "local",
    address: str | None = None,
    resume: bool = False,
) -> list[Finished]:
    """Runs all trials and writes results, tables, figures and ``report.html`` into the folder.

    ``jobs`` is how many trials run at once, by default one for each core. ``executor`` is ``local`` or ``ray``, whose
    cluster is at ``address``, or started here. A finished trial is never run again: with ``resume`` the folder may hold
    those of an earlier run. Scripts must start it under ``if __name__ == "__main__":``, unless ``jobs`` is 1.

    >>> import tempfile
    >>> from markovize import Settings
    >>> from markovize.experiments import Experiment, Task
    >>> meals = Task("breakfast", "markovize/BreakfastWorld-v0", {"task": "b"}, Settings.of(episodes=100))
    >>> folder = Path(tempfile.mkdtemp(), "mine")
    >>> [(record, timings)] = run_experiment(Experiment("mine", "A first look", [meals], 1), folder, jobs=1)
    >>> record.states, record.optimal, (folder / "report.html").is_file()
    (5, True, True)
    """
    check_executor(executor)
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    if executor == "local":
        for task in experiment.tasks:
            check_task(task)
    path = _folder(folder, experiment.name, resume)
    atomic_write(path / "experiment.json", _describe(experiment))
    store = TrialStore(path)
    store.tidy()
    trials = list(experiment.trials())
    found = {trial.key: store.find(trial) for trial in trials}
    todo = [trial for trial in trials if found[trial.key] is None]
    try:
        with experiment_display(experiment) as bars:
            for trial in trials:
                if found[trial.key] is not None:
                    bars.finish(trial)
            for trial, finished in _execute(todo, executor, jobs, address, bars.update):
                store.add(trial, finished)
                found[trial.key] = finished
                bars.finish(trial)
        all_of_them = [finished for finished in found.values() if finished is not None]
        write_report(path, all_of_them, title=experiment.title, paper=experiment.paper)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted; finished trials are kept in {path}, go on with --resume") from None
    return all_of_them


def _execute(
    todo: Sequence[Trial], executor: str, jobs: int | None, address: str | None, on_progress: OnProgress
) -> Iterator[tuple[Trial, Finished]]:
    if not todo:
        return iter(())
    if executor == "ray":
        from markovize.experiments.execute.cluster import run_on_ray

        return run_on_ray(todo, jobs, address, on_progress)
    jobs = min(jobs or _cores(), len(todo))
    return run_here(todo, on_progress) if jobs == 1 else run_in_processes(todo, jobs, on_progress)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _folder(folder: str | os.PathLike[str], name: str, resume: bool) -> Path:
    path = Path(folder)
    if resume and path.is_dir():
        known = path / "experiment.json"
        if any(path.iterdir()) and not known.is_file():
            raise InputError("no experiment was begun here (no experiment.json)", where=one_line(path))
        if known.is_file() and (other := strict_json(read_text(known), where=one_line(known)).get("name")) != name:
            raise InputError(f"holds the experiment {other!r}, not {name!r}; give another folder", where=one_line(path))
        return path
    try:
        path = check_new(folder)
    except InputError as error:
        if (path / "experiment.json").is_file():
            raise InputError("already has an experiment in it; go on with --resume", where=one_line(path)) from None
        raise error from None
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise MarkovizeError(f"{one_line(path)}: cannot be made: {one_line(error)}") from None
    return path


def _describe(experiment: Experiment) -> str:
    trials = list(experiment.trials())
    tasks = {trial.task.title: trial.config() for trial in trials}
    seeds = sorted({trial.seed for trial in trials})
    data = {"name": experiment.name, "title": experiment.title, "seeds": seeds, "tasks": list(tasks.values())}
    return json.dumps(data, indent=2) + "\n"
