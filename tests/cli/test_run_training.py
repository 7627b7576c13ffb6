"""``markovize run --agent``: what it writes, how it stops and goes on, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corridor_env import ENV_ID
from in_process import Ran, run_here

from markovize import read_machine

pytest.importorskip("stable_baselines3")

ENV = [ENV_ID, "--import", "corridor_env", "--features", "corridor_env:position"]
FAST = ["--set", "explore=40", "--set", "hidden=8", "--set", "evaluation_episodes=3", "--set", "environments=2"]


def run(*words: object) -> Ran:
    return run_here("run", *words)


@pytest.mark.slow
def test_a_run_that_is_stopped_and_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(*ENV, *FAST, "--agent", "ppo", "--steps", 100_000, "--out", out, "--time-limit", 5, "--json")
    assert first.code == 3, first.err
    assert json.loads(first.out)["stopped"] == "time limit"
    assert read_machine(out / "machine.json").states == 2
    config = json.loads((out / "config.json").read_text())
    assert config["settings"]["agent"] == "ppo" and config["settings"]["features"] == "corridor_env:position"
    episodes = len((out / "episodes.jsonl").read_text().splitlines())
    again = run("--resume", out, "--time-limit", 3)
    assert again.code == 3, again.err
    assert f"go on with: markovize run --resume {out}" in again.out
    assert len((out / "episodes.jsonl").read_text().splitlines()) >= episodes


def test_allowances(tmp_path: Path) -> None:
    noisy = [*ENV, "--env-arg", "noise=0.1", *FAST, "--agent", "ppo", "--steps", 0]
    told = run(*noisy, "--tolerance", "0.1", "--out", tmp_path / "out")
    assert told.code == 0 and "tolerance 0.1: rewards have 2 levels" in told.out, told.err
    assert json.loads((tmp_path / "out" / "result.json").read_text())["noise"]["tolerance"] == 0.1
    assert run(*noisy, "--tolerance", "-1").code == 2


def test_returns_by_drawn_actions_are_called_so(tmp_path: Path) -> None:
    short = [*ENV, *FAST, "--agent", "ppo", "--steps", 256]
    assert "greedy return " in run(*short, "--out", tmp_path / "likeliest").out
    drawn = run(*short, "--set", "actions=drawn", "--out", tmp_path / "drawn").out
    assert "return by drawn actions " in drawn and "greedy" not in drawn


def test_only_a_machine(tmp_path: Path) -> None:
    done = run(*ENV, *FAST, "--agent", "dqn", "--steps", 0, "--set", "environments=1", "--out", tmp_path / "out")
    assert done.code == 2 and "given twice" in done.err
    quiet = [word for pair in zip(FAST[:6:2], FAST[1:6:2], strict=True) for word in pair]
    scalars = tmp_path / "scalars"
    done = run(*ENV, *quiet, "--agent", "dqn", "--steps", 0, "--out", tmp_path / "out", "--tensorboard", scalars)
    assert done.code == 0, done.err
    assert "in state 0, x < 0." in done.out
    assert "in state 1, x ≥ 0." in done.out and " pays 1" in done.out
    assert any(path.name.startswith("events.out.tfevents") for path in scalars.iterdir())
    assert {"machine.svg", "curve.png", "result.json"} <= {path.name for path in (tmp_path / "out").iterdir()}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--agent", "ppo", "--episodes", "5"], "--episodes is for --agent tabular; give --steps"),
        (["--agent", "ppo", "--mode", "paper"], "--mode is for --agent tabular"),
        (["--agent", "ppo", "--set", "magic=1"], "--agent ppo has no such setting"),
        (["--agent", "ppo", "--set", "steps=1"], "has an option of its own: --steps"),
        (["--agent", "ppo", "--set", "explore=0"], "explore must be a whole number"),
        (["--steps", "5"], "--steps is for --agent dqn and ppo"),
        (["--agent", "ppo", "--features", "nowhere:nothing"], "nowhere"),
    ],
)
def test_what_does_not_go_together(words: list[str], message: str) -> None:
    done = run(ENV_ID, "--import", "corridor_env", *words)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())
