"""``markovize run``: what it prints, writes and refuses, and its live display."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import rich.console

import markovize
from markovize.agents.tabular import RunProgress
from markovize.cli import app as cli
from markovize.cli import run_display
from markovize.cli.options import named_values
from markovize.runs import read_run

OFFICE = ("run", "markovize/OfficeWorld-v0", "--env-arg", "task=c", "--episodes", "150")
KEYS = [
    "episodes",
    "states",
    "triggers",
    "exemplars",
    "solve_seconds",
    "seconds",
    "greedy_return",
    "optimal_return",
    "episodes_to_optimal",
    "status",
    "mode",
    "trigger_on",
    "reward_on",
]
NOISY = """
import gymnasium

class Noisy(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)
    payments = 0

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        self.payments += 1
        return 1, float(self.payments % 3 == 0), True, False, {}

gymnasium.register("NoisyOfTests-v0", entry_point=Noisy, max_episode_steps=10)
"""
Ran = tuple[int, str, str]
Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs the command inside this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])

    def command(*args: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["markovize", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert isinstance(stopped.value.code, int)
        return stopped.value.code, *capsys.readouterr()

    return command


def test_prints_the_machine_and_what_is_earned(run: Run) -> None:
    code, out, err = run(*OFFICE)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("optimal: 2 states, 1 trigger (labels state/state, ")
    assert lines[1].startswith("  in state 0, entering (")
    assert lines[2].startswith("greedy return 1, the optimum, since episode ")
    assert len(lines) == 3
    assert list(Path.cwd().iterdir()) == []


def test_json_and_nothing_else(run: Run) -> None:
    code, out, err = run("run", "markovize/BreakfastWorld-v0", "--env-arg", "task=b", "--episodes", 300, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert sorted(data) == sorted(KEYS)
    assert (data["episodes"], data["states"], data["mode"]) == (300, 5, "directed")
    assert data["greedy_return"] == data["optimal_return"] == pytest.approx(3.2)


def test_options_reach_the_settings_and_the_rest_is_the_modes(run: Run) -> None:
    options = {
        "--mode": "paper",
        "--seed": 5,
        "--objective": "triggers",
        "--trigger-on": "auto",
        "--reward-on": "transition",
        "--engine": "sat",
        "--epsilon": 0.4,
        "--alpha": 0.2,
        "--gamma": 0.9,
        "--max-steps": 50,
        "--episodes": 40,
        "--out": "a",
    }
    args = [arg for pair in options.items() for arg in pair]
    assert run("run", "markovize/BreakfastWorld-v0", *args, "--no-acyclic")[0] == 0
    settings = read_run("a")[0]["settings"]
    expected = {name.removeprefix("--").replace("-", "_"): value for name, value in options.items() if name != "--out"}
    assert {name: settings[name] for name in expected} == expected
    assert (settings["acyclic"], settings["patience"]) == (False, 8)
    run("run", "markovize/BreakfastWorld-v0", "--mode", "paper", "--episodes", 40, "--out", "b")
    settings = read_run("b")[0]["settings"]
    assert (settings["acyclic"], settings["objective"], settings["trigger_on"]) == (True, "states", "state")


def test_writes_a_folder_once(run: Run) -> None:
    code, out, err = run(*OFFICE, "--out", "new/run")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "written to new/run"
    assert markovize.read_machine("new/run/machine.json").states == 2
    assert len(markovize.read_episodes("new/run/exemplars.jsonl")) > 0
    assert read_run("new/run")[0]["env_args"] == {"task": "c"}
    before = {path.name: path.read_bytes() for path in Path("new/run").iterdir()}
    said = "markovize: new/run: already has files in it; nothing was overwritten, give a new folder\n"
    assert run(*OFFICE, "--out", "new/run") == (2, "", said)
    assert {path.name: path.read_bytes() for path in Path("new/run").iterdir()} == before


def test_another_process_writes_the_same_bytes(run: Run) -> None:
    """Whatever its hash seed: only timings.json differs."""
    assert run(*OFFICE, "--out", "here")[0] == 0
    command = [sys.executable, "-m", "markovize", *OFFICE, "--out", "there"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "77"})
    names = {path.name for path in Path("here").iterdir()}
    assert names == {path.name for path in Path("there").iterdir()}
    different = {name for name in names if Path("here", name).read_bytes() != Path("there", name).read_bytes()}
    assert different == {"timings.json"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["NoSuchWorld-v0"], "cannot make NoSuchWorld-v0: Environment `NoSuchWorld` doesn't exist"),
        (["a:b:c"], "cannot make a:b:c: ValueError"),
        (["no_such_module:World-v0"], "cannot make no_such_module:World-v0: ModuleNotFoundError"),
        (["World-v0", "--import", "no_such_module"], "cannot import no_such_module: ModuleNotFoundError"),
        (["markovize/OfficeWorld-v0", "--env-arg", "task"], "--env-arg must look like name=value, not 'task'"),
        (["markovize/OfficeWorld-v0", "--env-arg", "=c"], "--env-arg must look like name=value, not '=c'"),
        (["markovize/OfficeWorld-v0", "--env-arg", "task=b", "--env-arg", "task=c"], "--env-arg task is given twice"),
        (["markovize/OfficeWorld-v0", "--env-arg", "task=z"], "OfficeWorld-v0: office tasks are b, c, d, e, loop"),
        (["markovize/OfficeWorld-v0", "--env-arg", "colour=1"], "unexpected keyword argument 'colour'"),
        (["CartPole-v1"], "the observations are continuous"),
        (["markovize/OfficeWorld-v0", "--epsilon", "2"], "epsilon must be between 0 and 1, not 2.0"),
        (["markovize/OfficeWorld-v0", "--set", "mode=paper"], "--set mode=… has an option of its own: --mode"),
        (["markovize/OfficeWorld-v0", "--set", "max_steps=3"], "has an option of its own: --max-steps"),
        (["markovize/OfficeWorld-v0", "--set", "keep=many"], "keep must be a whole number, not 'many'"),
        (["markovize/OfficeWorld-v0", "--set", "colour=red"], "there is no setting 'colour'"),
        (["markovize/OfficeWorld-v0", "--episodes", "0"], "episodes must be at least 1, not 0"),
        (["markovize/OfficeWorld-v0", "--mode", "clever"], "clever"),
    ],
)
def test_refusals_are_one_line(run: Run, args: list[str], said: str) -> None:
    code, out, err = run("run", *args, "--out", "new")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("markovize: ")
    assert said in err
    assert not Path("new/result.json").exists()


def test_env_args_are_json_or_text() -> None:
    pairs = ["a=1", "b=[1, true]", "c=text", 'd="1"', "e=NaN", "f=1e999", "g=", "h=x=y"]
    assert named_values(pairs, "--env-arg") == {
        "a": 1,
        "b": [1, True],
        "c": "text",
        "d": "1",
        "e": "NaN",
        "f": "1e999",
        "g": "",
        "h": "x=y",
    }


def test_reward_that_no_machine_explains(run: Run) -> None:
    Path("noisy_of_tests.py").write_text(NOISY)
    code, out, err = run("run", "NoisyOfTests-v0", "--import", "noisy_of_tests", "--out", "new", "--episodes", 50)
    assert (code, out) == (1, "")
    assert err.startswith("markovize: no reward machine with transition/transition labels explains these episodes")
    assert "share their history and label but have rewards 0 and 1" in err
    assert len(markovize.read_episodes("new/exemplars.jsonl")) >= 2  # those that the error names
    assert not Path("new/result.json").exists()


def test_a_time_limit_ends_a_run_that_can_go_on(run: Run) -> None:
    long = ("run", "markovize/OfficeWorld-v0", "--env-arg", "task=c", "--episodes", 4_000_000, "--out", "new")
    code, out, err = run(*long, "--time-limit", 1.5, "--json")
    assert (code, err) == (3, "")
    data = json.loads(out)
    assert (data["stopped"], data["greedy_return"]) == ("time limit", None)
    assert 0 < data["episodes"] < 4_000_000
    for name in ("machine.json", "q.csv", "machine.svg", "curve.png", "result.json", "exemplars.jsonl"):
        assert Path("new", name).is_file(), name
    code, out, err = run("run", "--resume", "new", "--time-limit", 0.5)
    assert (code, err) == (3, "")
    assert "stopped: time limit" in out
    assert "go on with: markovize run --resume new" in out
    assert read_run("new")[1]["episodes"] >= data["episodes"]


def test_help(run: Run) -> None:
    code, out, err = run("run", "--help")
    assert (code, err) == (0, "")
    assert "Example: markovize run markovize/OfficeWorld-v0" in out


# --- the live display -------------------------------------------------------------------------------------------------


def at(episode: int, note: str = "", episodes: int | None = 5000) -> RunProgress:
    return RunProgress(episode, episodes, 0.51239, 3, 2, 9, 1.25, note)


def test_sentence() -> None:
    rest = " · return 0.512 · K=3 z=2 · 9 exemplars · solving 1.2 s"
    assert at(1200).sentence() == "episode 1,200 of 5,000" + rest
    assert at(1200, episodes=None).sentence() == "episode 1,200" + rest


def test_a_line_every_ten_seconds_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("markovize.cli.run_display.time.monotonic", lambda: now)
    with run_display.run_display() as show:
        for now, episode in ((100.0, 1), (109.9, 2), (110.0, 3), (119.0, 4), (125.0, 5)):  # noqa: B007 - the clock's
            show(replace(at(episode), doing="learning a machine"))
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 2)
    assert err.startswith("10 s: episode 3 of 5,000 · ")
    assert err.splitlines()[1].startswith("25 s: episode 5 of 5,000 · ")
    assert err.splitlines()[1].endswith(" · learning a machine")


def test_shows_runs_not_too_often_and_every_note_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()

    class Terminal(rich.console.Console):
        def __init__(self, **_: object) -> None:
            super().__init__(file=written, force_terminal=True, width=150)

    monkeypatch.setattr(rich.console, "Console", Terminal)
    now = 100.0
    monkeypatch.setattr("markovize.cli.run_display.time.monotonic", lambda: now)
    with run_display.run_display() as show:
        assert show is not None
        note = "labels [refined]"
        for now, progress in ((100.0, at(1)), (100.1, at(2, note)), (100.2, at(3, note))):  # noqa: B007 - the clock's
            show(progress)
    text = written.getvalue()
    assert text.count(note) == 1
    assert "episode 1 of 5,000 · return 0.512 · K=3 z=2" in text
    assert "episode 3 of 5,000" in text
    assert "episode 2 of" not in text


def test_the_module_of_an_environment_may_lie_beside_the_user(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("lying_beside.py").write_text(
        "import gymnasium\n"
        "def make(**given):\n    return gymnasium.make('markovize/OfficeWorld-v0', task='c').unwrapped\n"
        "gymnasium.register('Beside-v0', make, max_episode_steps=50)\n"
    )
    code, out, err = run("run", "lying_beside:Beside-v0", "--episodes", "5")
    assert code == 0, err
    assert "greedy return" in out
