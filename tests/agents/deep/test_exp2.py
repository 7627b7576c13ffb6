"""Experiment 2 through the runner that all experiments share, with files and page."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from in_process import run_here

pytest.importorskip("torch", reason="the extra `deep` is not installed")

from markovize.agents.deep import MODELS, DeepSettings
from markovize.agents.tabular import Settings
from markovize.errors import InputError
from markovize.experiments import DeepTask, Experiment, Trial, catalogue, run_experiment
from markovize.experiments.execute.kinds import run_trial
from markovize.experiments.paper import EXPERIMENT_2, PaperValues
from markovize.experiments.records import Finished, TrialRecord, TrialTimings
from markovize.experiments.report.comparison import compare
from markovize.experiments.report.csv_files import results_csv
from markovize.experiments.report.returns_figure import returns_figure

OFFICE = "markovize/OfficeWorld-v0"


def small(episodes: int = 40) -> Experiment:
    """Task b, all models, as the catalogue has them but for their length."""
    asked = catalogue.experiment("exp2", "quick", seeds=1, episodes=episodes)
    tasks = [
        replace(task, settings=Settings.of(episodes=400, acyclic=True)) for task in asked.tasks if task.name == "b"
    ]
    return replace(asked, tasks=tasks)


@cache
def finished() -> tuple[Path, list[Finished]]:
    folder = Path(mkdtemp(), "exp2")
    return folder, run_experiment(small(), folder, jobs=1)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_row_for_each_task_and_model() -> None:
    folder, trials = finished()
    results, timings = rows(folder / "results.csv"), rows(folder / "timings.csv")
    assert [(row["task"], row["variant"]) for row in results] == [("b", model) for model in MODELS]
    for row, timing in zip(results, timings, strict=True):
        machine = row["variant"] == "ADQN"
        assert row["machine_episodes"] == ("400" if machine else "")
        assert bool(timing["machine_seconds"]) == machine
        assert float(timing["training_seconds"]) > 0
        assert row["states"] == ("2" if machine else "1")
    for name in ("report.html", "table.md", "figures/returns.png", "figures/returns.svg", "curves.csv"):
        assert (folder / name).stat().st_size > 0
    page = (folder / "report.html").read_text()
    assert "machine episodes" in page and "figure-returns" in page and "figure-learning" not in page
    assert len(trials) == len(MODELS)


def test_records_survive_a_file_and_the_episode_fits_the_machine() -> None:
    for record, timings in finished()[1]:
        assert TrialRecord.from_json(record.to_json()) == record
        assert TrialTimings.from_json(timings.to_json()) == timings
        u = record.machine.initial
        for step in record.episode.steps:
            assert step.state == record.machine.step(u, step.label)
            assert (step.fired is None) == (step.state == u)
            u = step.state
        assert sum(step.reward for step in record.episode.steps) == record.extra["greedy_return"]
        assert record.curve.episode[-1] == 40 and record.curve.mean_return[-1] == record.final_return


def test_trials_repeat_exactly(tmp_path: Path) -> None:
    again = run_experiment(small(), tmp_path / "again", jobs=1)
    assert [record for record, _ in again] == [record for record, _ in finished()[1]]
    assert results_csv(again) == (finished()[0] / "results.csv").read_text()


def test_the_table_has_the_papers_returns_and_judges_only_long_trainings() -> None:
    _, trials = finished()
    first = compare(trials, EXPERIMENT_2)[0]
    assert (first.task, first.variant, first.verdict, first.agrees) == ("b", "ADQN", "too short to say", None)
    assert first.cells[1][1] == "0.77 ± 0.03 after 50,000"
    mean = trials[0][0].final_return
    one = {"b, ADQN": PaperValues(final_return=mean, episodes=40)}
    assert compare(trials, one)[0].verdict == "too few seeds to compare"
    trials = [*trials, *((replace(record, seed=1), timings) for record, timings in trials)]
    for said, verdict in [(mean, "yes"), (mean - 0.5, "yes (above)"), (mean + 0.5, "no: below")]:
        paper = {"b, ADQN": PaperValues(final_return=said, final_return_sd=0.01, episodes=40)}
        assert compare(trials, paper)[0].verdict == verdict
        sooner = {"b, ADQN": PaperValues(final_return=9.0, episodes=80, sooner={40: (said, 0.01)})}
        assert compare(trials, sooner)[0].verdict == verdict
        assert compare(trials, sooner)[0].cells[1][1].endswith(" after 40; 9 after 80")
        assert returns_figure(trials, sooner, kind="svg") != returns_figure(trials, paper, kind="svg")
    assert compare(trials)[0].verdict == "–"


def test_figures_are_the_same_each_time() -> None:
    _, trials = finished()
    assert returns_figure(trials, EXPERIMENT_2, kind="svg") == returns_figure(trials, EXPERIMENT_2, kind="svg")
    assert returns_figure(trials) != returns_figure(trials, EXPERIMENT_2)


@pytest.mark.parametrize(("preset", "trials"), [("paper", 200), ("quick", 60), ("smoke", 5)])
def test_the_papers_settings(preset: str, trials: int) -> None:
    asked = catalogue.experiment("exp2", preset)
    assert len({trial.key for trial in asked.trials()}) == trials
    for task in asked.tasks:
        assert isinstance(task, DeepTask)
        assert task.deep == DeepSettings(task.variant, episodes=task.deep.episodes)
        assert task.title in asked.paper
    if preset == "paper":
        assert asked.tasks[0].deep.episodes == 50_000  # type: ignore[attr-defined]


def test_what_a_trial_depends_on() -> None:
    asked = DeepTask("e", OFFICE, {"task": "e"}, variant="DQN", deep=DeepSettings("DQN"))
    key = Trial("x", asked, 0).key
    assert Trial("x", asked, 1).key != key
    assert Trial("x", replace(asked, deep=DeepSettings("DQN", gamma=0.9)), 0).key != key
    other = Settings.of(episodes=7)  # of a machine that DQN does not use
    assert Trial("x", replace(asked, settings=other), 0).key == key
    abstract = replace(asked, deep=DeepSettings("ADQN"))
    assert Trial("x", replace(abstract, settings=other), 0).key != Trial("x", abstract, 0).key


def test_environments_without_tables_are_refused() -> None:
    with pytest.raises(InputError, match="FrozenLake-v1 has none"):
        run_trial(Trial("x", DeepTask("lake", "FrozenLake-v1"), 0))


def test_episodes_are_not_longer_than_the_environments() -> None:
    task = DeepTask("b", OFFICE, {"task": "b", "max_episode_steps": 20}, variant="DQN", deep=DeepSettings("DQN"))
    with pytest.raises(InputError, match="cuts episodes after 20 steps, max_steps is 200"):
        run_trial(Trial("x", task, 0))


def test_smoke(tmp_path: Path) -> None:
    done = run_here("reproduce", "exp2", "--preset", "smoke", "--json", "--jobs", 1, "--out", tmp_path)
    told = json.loads(done.out)
    assert (told["experiment"], told["trials"], told["optimal"], done.err) == ("exp2", 5, None, "")
    assert [row["task"] for row in rows(tmp_path / "results.csv")] == ["e"] * 5


def test_progress_is_told() -> None:
    told: list[tuple[int, int | None]] = []
    task = DeepTask("b", OFFICE, {"task": "b"}, variant="DQN", deep=DeepSettings("DQN", episodes=400, max_steps=20))
    run_trial(Trial("x", task, 0), lambda progress: told.append((progress.episode, progress.episodes)))
    assert told == [(200, 400), (400, 400)]


def test_torch_is_imported_only_when_an_agent_is() -> None:
    code = (
        "import sys, markovize, markovize.experiments, markovize.experiments.catalogue as c; c.experiment('exp2');"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_ends_trainings_within_two_seconds(jobs: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "markovize", "reproduce", "exp2", "--preset", "quick", "--task", "e"]
    command += ["--out", str(tmp_path / "out"), "--jobs", str(jobs), "--seeds", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out" / "experiment.json").exists():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(8)  # amid the first trainings, their kernels loaded
    process.send_signal(signal.SIGINT)
    pressed = time.monotonic()
    assert process.stderr is not None
    said = process.stderr.readline()
    assert time.monotonic() - pressed < 2  # then Python unloads PyTorch, which is nothing that we could hurry
    assert said == f"markovize: interrupted; finished trials are kept in {tmp_path / 'out'}, go on with --resume\n"
    assert process.wait(60) == 130
    assert process.stderr.read() == ""
    process.stderr.close()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith("markovize.agents.deep.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("markovize.agents.deep.train", raising=False)  # a name that was used stays
    with pytest.raises(InputError, match=r"need the extra: pip install 'markovize\[deep\]'"):
        run_trial(Trial("x", DeepTask("b", OFFICE, {"task": "b"}), 0))
    with pytest.raises(InputError, match="need the extra"):
        run_experiment(small(), tmp_path / "out")
    assert not (tmp_path / "out").exists()
