"""Run folders: complete, readable, the same bytes for the same run, and never over something else."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import matplotlib
import numpy as np
import pytest
from PIL import Image

import markovize
from markovize.agents.tabular import ActiveLearner, RunResult, Settings
from markovize.runs import check_new, curve, moving_average, read_run, write_run

ID = "markovize/OfficeWorld-v0"
ARGS: dict[str, Any] = {"task": "c"}
FILES = {
    "config.json",
    "metrics.csv",
    "exemplars.jsonl",
    "machine.json",
    "machine.svg",
    "q.csv",
    "curve.png",
    "result.json",
    "rng.json",
    "timings.json",
}


def played(**settings: Any) -> RunResult:
    return ActiveLearner(gymnasium.make(ID, **ARGS), Settings.of(**{"episodes": 150, **settings})).run()


@pytest.fixture(scope="module")
def result() -> RunResult:
    return played()


@pytest.fixture(scope="module")
def folder(result: RunResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "deep" / "run"
    write_run(path, ID, ARGS, result, imports=["some_module"])
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_all_files_and_nothing_else(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FILES


def test_machine_and_exemplars_are_read_back(folder: Path, result: RunResult) -> None:
    machine, kept = markovize.read_machine(folder / "machine.json"), markovize.read_episodes(folder / "exemplars.jsonl")
    assert machine == result.machine
    assert len(kept) == len(result.kept) > 0
    assert markovize.replay(machine, kept).mismatches == 0
    assert (folder / "machine.svg").read_text().startswith("<?xml")


def test_config_and_result(folder: Path, result: RunResult) -> None:
    config, numbers = read_run(folder)
    assert config == {
        "env_id": ID,
        "env_args": ARGS,
        "imports": ["some_module"],
        "settings": result.settings.to_json(),
        "markovize": markovize.__version__,
    }
    timings = json.loads((folder / "timings.json").read_text())
    assert numbers | {name: timings[name] for name in ("seconds", "solve_seconds")} == result.to_json()
    assert not {"seconds", "solve_seconds"} & set(numbers)
    assert [solve["episode"] for solve in timings["solves"]] == [solve.episode for solve in result.solves]


def test_the_same_run_can_be_made_again_from_its_config(folder: Path, result: RunResult) -> None:
    config, numbers = read_run(folder)
    again = ActiveLearner(gymnasium.make(config["env_id"], **config["env_args"]), Settings(**config["settings"])).run()
    assert again.machine == result.machine
    assert {name: again.to_json()[name] for name in numbers} == numbers


def test_metrics(folder: Path, result: RunResult) -> None:
    table = rows(folder / "metrics.csv")
    assert [int(row["episode"]) for row in table] == list(range(1, 151))
    assert [float(row["mean_return"]) for row in table] == pytest.approx(result.returns.tolist())
    assert [float(row["mean_length"]) for row in table] == result.lengths.tolist()
    first = result.solves[0]
    before, at, last = table[first.episode - 2], table[first.episode - 1], table[-1]
    assert (before["states"], before["triggers"], before["exemplars"]) == ("1", "0", "0")
    assert (at["states"], at["triggers"]) == (str(first.states), str(first.triggers))
    assert (last["states"], last["triggers"]) == (str(result.machine.states), str(len(result.machine.triggers)))


def test_metrics_in_blocks(result: RunResult, tmp_path: Path) -> None:
    returns, lengths = np.arange(1001.0), np.full(1001, 7, np.int32)
    write_run(tmp_path, ID, ARGS, replace(result, returns=returns, lengths=lengths))
    table = rows(tmp_path / "metrics.csv")
    assert [int(row["episode"]) for row in table] == [*range(5, 1001, 5), 1001]
    assert [float(row["mean_return"]) for row in table] == [*(n + 2.0 for n in range(0, 1000, 5)), 1000.0]


def test_q_table(folder: Path, result: RunResult) -> None:
    table = rows(folder / "q.csv")
    assert len(table) == result.q.size
    known = [(u, json.dumps(list(o) if isinstance(o, tuple) else o), str(a), q) for u, o, a, q in result.q_rows()]
    assert [(int(row["u"]), row["observation"], row["action"]) for row in table] == [row[:3] for row in known]
    assert [float(row["value"]) for row in table] == pytest.approx([row[3] for row in known])


def test_curve_is_a_picture_whatever_the_users_settings_are(folder: Path, result: RunResult) -> None:
    with Image.open(folder / "curve.png") as picture:
        assert picture.format == "PNG"
        assert picture.size == (1050, 630)
    with matplotlib.rc_context({"font.size": 30, "axes.grid": True, "savefig.dpi": 30}):
        assert curve(result) == (folder / "curve.png").read_bytes()


def test_the_same_run_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    write_run(tmp_path, ID, ARGS, played(), imports=["some_module"])
    for name in FILES - {"timings.json"}:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_a_run_without_conflicts_and_without_an_optimum(tmp_path: Path) -> None:
    write_run(tmp_path, ID, {}, replace(played(mode="q-learning", episodes=1), optimal_return=None))
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert read_run(tmp_path)[1]["states"] == 1


def test_refuses_a_folder_in_use(folder: Path, result: RunResult) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(markovize.InputError, match="already has files in it; nothing was overwritten"):
        write_run(folder, ID, ARGS, result)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_refuses_what_cannot_become_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for path in (file, file / "below"):
        with pytest.raises(markovize.InputError, match="is not a folder"):
            check_new(path)
    with pytest.raises(markovize.InputError, match="cannot be made"):
        check_new(tmp_path / ("x" * 5000))
    assert check_new(tmp_path / "new" / "er") == tmp_path / "new" / "er"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_refuses_folders_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(markovize.InputError, match="no permission"):
        check_new(tmp_path / "new")


def test_folder_that_fails_to_be_made(result: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(markovize.InputError, match=r"cannot be made: .*No space left on device"):
        write_run(tmp_path / "new", ID, ARGS, result)
    monkeypatch.undo()
    with pytest.raises(markovize.InputError, match="cannot be made: embedded null byte"):
        write_run(tmp_path / "a\0b", ID, ARGS, result)


def test_reading_other_things(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(markovize.InputError, match=r"config\.json: must be a JSON object"):
        read_run(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(markovize.InputError, match=r"result\.json: no such file"):
        read_run(tmp_path)


def test_moving_average() -> None:
    values = np.random.default_rng(0).normal(size=250)
    assert moving_average(values)[[0, 50, 249]] == pytest.approx([values[0], values[:51].mean(), values[150:].mean()])
    assert len(moving_average([])) == 0
