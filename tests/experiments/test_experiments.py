"""Experiments: what is run, once and never again, on one core or more, killed or not."""

from __future__ import annotations

import json
import random
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from markovize import InputError, MarkovizeError, Settings
from markovize.cli.choices import ExperimentChoice, PresetChoice
from markovize.experiments import Experiment, Task, catalogue, run_experiment
from markovize.experiments.execute import runner as runner_module
from markovize.experiments.report import files as report_files

SWEEP = """
from markovize import Settings
from markovize.experiments import Experiment, Task, run_experiment

OBJECTIVES = "states", "triggers"
tasks = [
    Task(rewards, "markovize/BreakfastWorld-v0", {"task": "b", "rewards": rewards}, settings, settings.objective)
    for rewards in ("full", "cumulative")
    for settings in [Settings.of("q-learning", episodes=EPISODES, acyclic=True, objective=o) for o in OBJECTIVES]
]
if __name__ == "__main__":
    run_experiment(Experiment("sweep", "A sweep of mine", tasks, seeds=SEEDS), "out", jobs=2, resume=True)
"""
FILES = {
    "experiment.json",
    "trials",
    "results.csv",
    "timings.csv",
    "curves.csv",
    "table.md",
    "figures",
    "machines",
    "report.html",
}


def breakfast(name: str = "b", **changes: Any) -> Task:
    return Task(name, "markovize/BreakfastWorld-v0", {"task": "b"}, Settings.of(**{"episodes": 60, **changes}))


def small(seeds: int = 2) -> Experiment:
    return Experiment("small", "A small one", [breakfast(), breakfast("q", mode="q-learning", episodes=150)], seeds)


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without figures, where nobody looks at them: they take longer than all trials here."""
    monkeypatch.setattr(report_files, "figures_of", lambda _: [])


def test_files(tmp_path: Path) -> None:
    finished = run_experiment(small(), tmp_path / "out", jobs=1)
    assert [(record.task, record.seed) for record, _ in finished] == [("b", 0), ("b", 1), ("q", 0), ("q", 1)]
    assert {path.name for path in (tmp_path / "out").iterdir()} >= FILES
    lines = (tmp_path / "out" / "results.csv").read_text().splitlines()
    assert len(lines) == 5
    assert "seconds" not in lines[0]
    described = json.loads((tmp_path / "out" / "experiment.json").read_text())
    assert (described["seeds"], len(described["tasks"])) == ([0, 1], 2)


@pytest.mark.usefixtures("no_figures")
def test_processes_give_the_same_files(tmp_path: Path) -> None:
    run_experiment(small(), tmp_path / "here", jobs=1)
    run_experiment(small(), tmp_path / "there", jobs=2)
    for name in ("results.csv", "curves.csv", "experiment.json"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name


@pytest.mark.usefixtures("no_figures")
def test_a_finished_trial_is_never_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_experiment(small(seeds=1), tmp_path, jobs=1)
    asked: list[Any] = []
    execute = runner_module._execute

    def watched(todo: Any, *args: Any) -> Any:
        asked.extend((trial.task.name, trial.seed) for trial in todo)
        return execute(todo, *args)

    monkeypatch.setattr(runner_module, "_execute", watched)
    run_experiment(small(seeds=2), tmp_path, jobs=1, resume=True)
    assert asked == [("b", 1), ("q", 1)]
    asked.clear()
    run_experiment(small(seeds=2), tmp_path, jobs=1, resume=True)
    assert asked == []
    changed = Experiment("small", "A small one", [breakfast(gamma=0.9)], 1)
    run_experiment(changed, tmp_path, jobs=1, resume=True)
    assert asked == [("b", 0)]
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 2


@pytest.mark.usefixtures("no_figures")
def test_folders_in_use(tmp_path: Path) -> None:
    run_experiment(small(seeds=1), tmp_path / "one", jobs=1)
    with pytest.raises(InputError, match="already has an experiment in it; go on with --resume"):
        run_experiment(small(seeds=1), tmp_path / "one", jobs=1)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match=r"no experiment was begun here \(no experiment.json\)"):
        run_experiment(small(seeds=1), tmp_path / "mine", jobs=1, resume=True)
    other = Experiment("other", "Another one", [breakfast()], 1)
    with pytest.raises(InputError, match="one: holds the experiment 'small', not 'other'; give another folder"):
        run_experiment(other, tmp_path / "one", jobs=1, resume=True)
    with pytest.raises(InputError, match="already has files in it"):
        run_experiment(small(seeds=1), tmp_path / "mine", jobs=1)


@pytest.mark.usefixtures("no_figures")
def test_broken_files_are_named(tmp_path: Path) -> None:
    run_experiment(Experiment("e", "E", [breakfast()], 1), tmp_path, jobs=1)
    [path] = [path for path in (tmp_path / "trials").iterdir() if "timings" not in path.name]
    path.write_text('{"task": 3}')
    with pytest.raises(InputError, match=rf"{path.name}: .*delete this file"):
        run_experiment(Experiment("e", "E", [breakfast()], 1), tmp_path, jobs=1, resume=True)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_trial_that_fails_stops_the_experiment_and_keeps_the_others(jobs: int, tmp_path: Path) -> None:
    bad = Task("bad", "NoSuchWorld-v0")
    with pytest.raises(InputError, match="cannot make NoSuchWorld-v0"):
        run_experiment(Experiment("e", "E", [breakfast(), bad], 1), tmp_path, jobs=jobs)
    assert len(list((tmp_path / "trials").glob("b-0-*"))) == (
        2 if jobs == 1 else len(list((tmp_path / "trials").glob("b-0-*")))
    )


def test_bad_use(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two tasks are called 'b'"):
        Experiment("e", "E", [breakfast(), breakfast()])
    with pytest.raises(InputError, match="at least one task and one seed"):
        Experiment("e", "E", [breakfast()], 0)
    with pytest.raises(InputError, match="executors are local, ray, not 'cloud'"):
        run_experiment(small(), tmp_path, executor="cloud")
    with pytest.raises(InputError, match="jobs must be at least 1, not 0"):
        run_experiment(small(), tmp_path, jobs=0)
    lambdas = Experiment("e", "E", [breakfast(trigger_on=lambda *step: step[2])], 2)
    with pytest.raises(InputError, match="cannot be sent to other processes"):
        run_experiment(lambdas, tmp_path / "x", jobs=2)


def test_a_worker_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deadly.py").write_text(
        "import os, gymnasium\ngymnasium.register('Deadly-v0', entry_point=lambda: os._exit(9), max_episode_steps=3)\n"
    )
    monkeypatch.chdir(tmp_path)
    deadly = Task("deadly", "Deadly-v0", imports=("deadly",))
    with pytest.raises(MarkovizeError, match="a worker process died"):
        run_experiment(Experiment("e", "E", [deadly], 2), tmp_path / "out", jobs=2)


def write_sweep(folder: Path, seeds: int, episodes: int) -> None:
    (folder / "sweep.py").write_text(SWEEP.replace("SEEDS", str(seeds)).replace("EPISODES", str(episodes)))


def sweep_here(folder: Path, seeds: int) -> None:
    """To its end, within this process."""
    tasks = runpy.run_path(str(folder / "sweep.py"))["tasks"]
    run_experiment(Experiment("sweep", "A sweep of mine", tasks, seeds), folder / "out", jobs=1, resume=True)


def sweep(folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "said.txt").open("w") as said:
        return subprocess.Popen([sys.executable, "sweep.py"], cwd=folder, stdout=said, stderr=said)


def killed_at_random(tmp_path: Path, kills: int, seeds: int, episodes: int) -> None:
    chance = random.Random(kills)
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        write_sweep(tmp_path / name, seeds, episodes)
    sweep_here(tmp_path / "whole", seeds)
    for _ in range(kills):
        process = sweep(tmp_path / "killed")
        time.sleep(chance.uniform(2, 6))
        process.send_signal(signal.SIGKILL)
        process.wait()
    sweep_here(tmp_path / "killed", seeds)
    for name in ("results.csv", "curves.csv"):
        assert (tmp_path / "killed" / "out" / name).read_bytes() == (tmp_path / "whole" / "out" / name).read_bytes()


@pytest.mark.usefixtures("no_figures")
def test_kill_9_and_resume(tmp_path: Path) -> None:
    killed_at_random(tmp_path, kills=1, seeds=2, episodes=2_000)


@pytest.mark.long
def test_kill_9_many_times_and_resume(tmp_path: Path) -> None:
    killed_at_random(tmp_path, kills=8, seeds=10, episodes=4_000)


def test_no_worker_outlives_a_killed_parent(tmp_path: Path) -> None:
    write_sweep(tmp_path, seeds=50, episodes=200_000)
    process = sweep(tmp_path)
    deadline = time.monotonic() + 60
    while len(workers := children(process.pid)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.kill()
    process.wait()
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def children(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == parent and b"spawn_main" in Path(f"/proc/{path.parent.name}/cmdline").read_bytes():
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize("name", [name for name in catalogue.CATALOGUE if name != "exp2"])  # that has tests of its own
@pytest.mark.parametrize("preset", ["paper", "quick", "smoke"])
def test_the_papers_experiments(name: str, preset: str) -> None:
    experiment = catalogue.experiment(name, preset)
    settings = experiment.tasks[0].settings
    assert (settings.mode, settings.acyclic, settings.gamma, settings.alpha, settings.epsilon) == (
        "paper",
        True,
        0.95,
        0.1,
        0.1,
    )
    assert settings.patience == settings.episodes // 5
    assert settings.greedy_tail == settings.episodes // 10
    assert len({trial.key for trial in experiment.trials()}) == len(list(experiment.trials()))
    if preset == "paper":
        assert settings.episodes == (100_000 if name == "exp1" else 10_000)
        assert len(list(experiment.trials())) == (80 if name == "ablation" else 40)


def test_overrides() -> None:
    experiment = catalogue.experiment("exp1", "smoke", seeds=4, episodes=500, engine="ilp")
    assert len(list(experiment.trials())) == 16
    assert experiment.tasks[0].settings.engine == "ilp"
    assert (experiment.tasks[0].settings.episodes, experiment.tasks[0].settings.patience) == (500, 100)
    assert [task.settings.wait_epsilon for task in experiment.tasks] == [0.2, None, None, None]


def test_the_command_line_knows_every_experiment_and_size() -> None:
    assert [choice.value for choice in ExperimentChoice] == list(catalogue.CATALOGUE)
    assert [choice.value for choice in PresetChoice] == list(catalogue.PRESETS)
    for name in catalogue.CATALOGUE:
        assert tuple(catalogue.entry_of(name).presets) == catalogue.PRESETS


def test_listing_the_experiments_loads_none_of_them() -> None:
    code = (
        "import sys, markovize.experiments.catalogue as c; assert list(c.CATALOGUE)[0] == 'exp1';"
        "sys.exit(any(name in sys.modules for name in ('numba', 'matplotlib', 'markovize.experiments.spec')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
