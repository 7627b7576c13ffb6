"""``markovize reproduce``: the paper's experiments, small, from the command line."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from in_process import run_here


def start(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "markovize", "reproduce", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("name", "task", "trials"), [("exp1", "c", 1), ("exp3", "b full", 1), ("ablation", "b full", 2)]
)
def test_smoke(name: str, task: str, trials: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One task of each; all of them are long golden runs."""
    monkeypatch.chdir(tmp_path)
    args = ("reproduce", name, "--preset", "smoke", "--task", task)
    code, out, err = run_here(*args, "--jobs", 1, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["experiment"], told["trials"]) == (name, trials)
    folder = tmp_path / f"{name}-smoke"
    assert Path(told["report"]) == folder.relative_to(tmp_path) / "report.html"
    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == trials
    assert sum(float(row["final_return"]) >= float(row["optimal_return"]) - 1e-9 for row in rows) == told["optimal"]
    assert told["optimal"] >= trials - 1  # so few episodes may be too few
    figures = {path.name for path in (folder / "figures").iterdir()}
    assert {"learning.png", "learning.svg"} <= figures
    assert ("ablation.svg" in figures) == (name == "ablation")
    table = (folder / "table.md").read_text()
    assert "paper's" in table
    if name == "exp1":
        code, out, err = run_here(*args, "--resume")  # nothing is left to run
        assert (code, err) == (0, "")
        assert "open exp1-smoke" in out


def test_ctrl_c_and_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    args = ("exp3", "--preset", "smoke", "--seeds", 2, "--episodes", 200, "--out", "out")
    process = start(*args, "--jobs", 2)
    deadline = time.monotonic() + 120
    while not list(Path("out/trials").glob("*.timings.json")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    pressed = time.monotonic()
    assert process.stderr is not None
    said = process.stderr.readline()
    assert time.monotonic() - pressed < 2
    assert said == "markovize: interrupted; finished trials are kept in out, go on with --resume\n"
    assert ended(process) == (130, "", "")
    code, _, err = run_here("reproduce", *args)
    assert (code, err) == (2, "markovize: out: already has an experiment in it; go on with --resume\n")
    code, _, err = run_here("reproduce", *args, "--resume", "--jobs", 1)
    assert (code, err) == (0, "")
    assert len(Path("out/results.csv").read_text().splitlines()) == 9


def test_bad_use() -> None:
    assert "Invalid value for 'EXPERIMENT'" in run_here("reproduce", "exp7").err
    assert "--address is for --executor ray" in run_here("reproduce", "exp1", "--address", "here:1").err
    assert "tasks are b, c, d, e, not 'loop'" in run_here("reproduce", "exp1", "--task", "loop").err
    code, _, err = run_here("reproduce", "exp1", "--seeds", 0)
    assert (code, err.count("\n")) == (2, 1)
