"""``markovize run --resume``: after kill -9, after Ctrl-C, and what it refuses."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from in_process import run_here
from lamp import LAMP
from progress_lines import without_progress

import markovize

RUNS = {
    "directed": ("markovize/OfficeWorld-v0", "--env-arg", "task=e", "--acyclic", "--episodes", "2000", "--seed", "2"),
    "paper": ("markovize/OfficeWorld-v0", "--env-arg", "task=e", "--mode", "paper", "--episodes", "60000"),
    "stepping": ("Lamp-v0", "--import", "lamp", "--episodes", "2500", "--mode", "q-learning"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lamp.py").write_text(LAMP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "markovize", "run", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, without_progress(err)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "timings.json"}


def until(condition: object, process: subprocess.Popen[str]) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 120
    while not condition() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def killed_and_resumed(kind: str, kills: int, seed: int) -> None:
    """Kills a run again and again, a while after it begins to play, and compares its end with an undisturbed one."""
    chance = random.Random(seed)
    assert ended(start(*RUNS[kind], "--out", "whole", "--json"))[0] == 0
    while_playing = 0.8 * json.loads(Path("whole", "timings.json").read_text())["seconds"]
    interrupted = 0
    while not interrupted:  # a run that is over before it is killed, on a machine that is busy only at times
        shutil.rmtree("killed", ignore_errors=True)
        process = start(*RUNS[kind], "--out", "killed")
        for _ in range(kills):
            until(lambda: Path("killed", "config.json").is_file(), process)
            time.sleep(chance.uniform(0, while_playing))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                interrupted += 1
            ended(process)
            process = start("--resume", "killed")
        while_playing /= 2
        if not interrupted:
            ended(process)
    code, _, err = ended(process)
    assert (code, err) == (0, "")
    assert contents(Path("killed")) == contents(Path("whole"))


@pytest.mark.parametrize("kind", ["directed", pytest.param("stepping", marks=pytest.mark.long)])
def test_kill_9(kind: str, here: Path) -> None:
    del here
    killed_and_resumed(kind, kills=1, seed=3)


@pytest.mark.long
@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("seed", range(4))
def test_kill_9_many_times(kind: str, seed: int, here: Path) -> None:
    del here
    killed_and_resumed(kind, kills=8, seed=seed)


def test_ctrl_c_leaves_a_run_that_can_go_on(here: Path) -> None:
    process = start(*RUNS["stepping"], "--episodes", "1000000", "--out", "stopped")
    until(lambda: (here / "stopped" / "checkpoint.npz").is_file(), process)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out) == (130, "")
    assert err == "markovize: interrupted; go on with: markovize run --resume stopped\n"
    so_far = markovize.read_machine("stopped/machine.json")
    assert markovize.replay(so_far, markovize.read_episodes("stopped/exemplars.jsonl")).mismatches == 0
    assert len((here / "stopped" / "metrics.csv").read_text().splitlines()) > 2


def test_a_run_that_is_over(here: Path) -> None:
    code, out, _ = run_here("run", "markovize/BreakfastWorld-v0", "--episodes", "100", "--out", "over", "--json")
    numbers = json.loads(out)
    (here / "over" / ".q.csv.0123.tmp").write_text("a piece")  # left by a kill between the last file and the end
    shutil.copy("over/q.csv", "over/checkpoint.npz")
    before = contents(Path("over"))
    code, out, err = run_here("run", "--resume", "over")
    assert (code, out, err) == (0, "over: this run is over, all of it is there\n", "")
    assert contents(Path("over")) == {name: data for name, data in before.items() if name[0] != "." and name[-1] != "z"}
    assert json.loads(run_here("run", "--resume", "over", "--json")[1]) == numbers
    for damage, said in ((b"{", "timings.json"), (b"{}", "timings.json: no 'seconds'; this file was damaged")):
        (here / "over" / "timings.json").write_bytes(damage)
        code, out, err = run_here("run", "--resume", "over", "--json")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err


def test_bad_use(here: Path) -> None:
    def refused(*args: object) -> str:
        code, out, err = run_here("run", *args)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        return err

    assert "nowhere: no run was begun here (no config.json)" in refused("--resume", "nowhere")
    assert "--resume goes alone: everything else is in the folder" in refused("--resume", "x", "--seed", "3")
    assert "Missing argument 'ENV_ID'" in refused("--seed", "3")
    folder = here / "run"
    folder.mkdir()
    (folder / "config.json").write_text('{"env_id": "markovize/BreakfastWorld-v0"}')
    assert "config.json: not the configuration of a run: no 'env_args'" in refused("--resume", "run")
    config = {
        "env_id": "markovize/BreakfastWorld-v0",
        "env_args": {},
        "imports": [],
        "settings": {"mode": "fast"},
        "markovize": "0",
    }
    (folder / "config.json").write_text(json.dumps(config))
    assert "config.json: settings: modes are directed" in refused("--resume", "run")
    (folder / "config.json").write_text(json.dumps(config | {"imports": 3}))
    assert "config.json: not the configuration of a run" in refused("--resume", "run")
    config["settings"] = {"mode": "directed", "episodes": "x"}
    (folder / "config.json").write_text(json.dumps(config))
    assert "config.json: settings: episodes must be a whole number, not 'x'" in refused("--resume", "run")
    config["settings"] = {"mode": "directed", "episodes": 10}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "checkpoint.npz").write_bytes(os.urandom(100))
    assert "checkpoint.npz: not a checkpoint of a run" in refused("--resume", "run")


def test_a_changed_environment(here: Path) -> None:
    process = start(*RUNS["stepping"], "--episodes", "1000000", "--out", "run")
    until(lambda: (here / "run" / "checkpoint.npz").is_file(), process)
    process.kill()
    ended(process)
    (here / "lamp.py").write_text(LAMP.replace("self.place == 5), self", "self.place == 5) / 2, self"))
    code, out, err = ended(start("--resume", "run"))
    assert (code, out) == (2, "")
    assert err.startswith("markovize: run: the environment has changed since this run began: with the same seed")
