"""``markovize learn --trigger-on guards``: what it says and writes, and what is refused, each in one line."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interrupting import interrupt

from markovize import Traces, read_machine, replay, write_episodes
from markovize.cli import app as cli
from markovize.learning.search import Progress

FUNCTIONS = """
def fails(state, action, next_state):
    raise KeyError("nope")

def nothing(state, action, next_state):
    return None

def nan(state, action, next_state):
    return {"z": float("nan")}

def varying(state, action, next_state):
    return {"a": 1} if next_state["x"] > 0.5 else {"b": 1}

def far(state, action, next_state):
    return {"far": next_state["x"] > 0.8}

def side(state, action, next_state):
    return "high" if next_state["y"] > 0.7 else "low"
"""
GUARDS = ("-o", "out.json", "--trigger-on", "guards")


def walks(episodes: int = 30, steps: int = 6, seed: int = 0) -> Traces:
    """x above 0.8 is remembered; then y above 0.7 pays."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(episodes):
        seen = [{"x": float(x), "y": float(y)} for x, y in rng.random((steps + 1, 2))]
        armed, rewards = False, []
        for at in seen[1:]:
            armed = armed or at["x"] > 0.8
            rewards.append(float(armed and at["y"] > 0.7))
        out.append((seen, ["go"] * steps, rewards))
    return Traces.of(out)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "functions_of_test.py").write_text(FUNCTIONS)
    write_episodes("walks.jsonl", walks())
    yield tmp_path
    sys.modules.pop("functions_of_test", None)


def learn(*arguments: str) -> int:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.setattr(sys, "argv", ["markovize", "learn", *arguments])
        cli.main()
    return int(end.value.code or 0)


def write(name: str, *episodes: tuple[list[Any], list[float]]) -> str:
    """A file of episodes with these observations and rewards, as JSON has them."""
    lines = [
        json.dumps({"observations": seen, "actions": ["go"] * len(rewards), "rewards": rewards})
        for seen, rewards in episodes
    ]
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return name


def test_what_it_says_and_writes(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn("walks.jsonl", *GUARDS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("optimal: 2 states, 1 trigger, 2 guards, 2 literals (labels guards/guards, ")
    assert lines[1].startswith("  in state 0, x ≥ 0.8 → state 1; ")
    assert lines[2:4] == ["  in state 0, y ≥ 0.7 → state 1 pays 1", "  in state 1, y ≥ 0.7 pays 1"]
    assert any(line.startswith("Gaps that the data leave: x ≥ 0.8 from 0.") for line in lines)
    assert any(line.startswith("Why minimal: ") and "infeasibility proofs" in line for line in lines)
    assert lines[-1] == "written to out.json"
    assert replay(read_machine("out.json"), walks()).mismatches == 0


def test_the_first_line_is_one_line_however_narrow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert learn("walks.jsonl", *GUARDS) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("exemplars)")


def test_json_and_holdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn("walks.jsonl", *GUARDS, "--json", "--holdout", "0.3") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["guards"], said["literals"], said["engine"]) == (2, 2, "guards")
    assert said["bounds"] == {"states": 2, "triggers": 1, "guards": 2, "literals": 2}
    assert said["holdout"] == {"episodes": 9, "steps": 54, "unseen": 0, "mismatches": 0, "unseen_paid": 0}
    assert learn("walks.jsonl", *GUARDS, "--holdout", "0.3") == 0
    assert "54 steps of 9 episodes held out, 0 unseen, 0 mismatches" in capsys.readouterr().out


def test_auto_takes_guards_for_objects_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn("walks.jsonl") == 0
    assert "note: observations are objects: triggers are guards over their features" in capsys.readouterr().out


def test_a_function_adds_features(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn("walks.jsonl", *GUARDS, "--features", "functions_of_test:far", "--numeric", "x, y") == 0
    assert learn("walks.jsonl", *GUARDS, "--reward-on", "functions_of_test:side") == 0
    machine = read_machine("out.json")
    assert (machine.trigger_on, machine.reward_on, machine.reward_guards) == ("guards", "function", ())
    assert learn("walks.jsonl", *GUARDS, "--explain", "reward+termination", "--acyclic", "--before") == 0
    capsys.readouterr()


REFUSED = [
    (["--numeric", "z"], "there is no feature z; the features are action, x, y"),
    (["--categorical", "z"], "there is no feature z; the features are action, x, y"),
    (["--numeric", "x", "--categorical", "x"], "the feature x cannot be numeric and categorical at once"),
    (["--numeric", "action"], "the feature action is not numeric: 'go' is no number"),
    (["--features", "functions_of_test:fails"], "features: fails failed with KeyError: 'nope' at the step"),
    (["--features", "functions_of_test:nothing"], "nothing must return a mapping of names to values, not None"),
    (["--features", "functions_of_test:nan"], "cannot be used: nan is not a finite number"),
    (["--features", "functions_of_test:varying"], "the features that the function returned have different keys"),
    (["--features", "functions_of_test:nobody"], "there is no nobody in the module functions_of_test"),
    (["--features", "functions_of_test"], "features= is a function of (state, action, next_state)"),
    (["--engine", "ilp"], "leave engine as it is"),
    (["--audit", "ilp"], "leave audit as it is"),
    (["--objective", "states"], "leave objective as it is"),
    (["--reward-on", "state"], "the observations are objects, which are no 'state' labels"),
    (["--time-limit", "0"], "--time-limit"),
]


@pytest.mark.parametrize(("options", "why"), REFUSED, ids=[" ".join(options) for options, _ in REFUSED])
def test_wrong_options(options: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert learn("walks.jsonl", *GUARDS, *options) == 2
    said = capsys.readouterr()
    assert why in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert not Path("out.json").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--reward-on", "guards"],
        ["--trigger-on", "state", "--reward-on", "guards"],
        ["--trigger-on", "state", "--before"],
    ],
)
def test_guards_for_half_of_it(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert learn("walks.jsonl", "-o", "out.json", *options) == 2
    said = capsys.readouterr()
    assert "trigger_on='guards'" in said.err and said.err.count("\n") == 1
    assert not Path("out.json").exists()


@pytest.mark.parametrize(
    ("episodes", "code", "why"),
    [
        ([([{"x": 0.1}, {"x": 0.2}], [0]), ([{"x": 0.1}, {"y": 0.2}], [1])], 2, "not an object with the names of"),
        ([([[0.1, 1], [0.2, 1]], [0]), ([[0.1], [0.2]], [1])], 2, "the observations have different lengths"),
        ([([[0.1], [0.2]], [0]), ([[0.1], 0.2], [1])], 2, "some are lists, such as (0.1), and others scalars"),
        ([([{"x": 0.1}, {"x": float("nan")}], [0])], 2, "nan is not a finite number"),
        ([([[0] * 2000, [1] * 2000], [0])], 2, "consist of 2,000 numbers each; give features="),
        ([([{"x": 0.1}], [])], 2, "there are no steps, and so no features"),
        ([], 2, "no episodes in this file"),
        (
            [([{"x": 0.1}, {"x": 0.1}], [0]), ([{"x": 0.1}, {"x": 0.1}], [1])],
            1,
            "No feature ever changes: x, before.x, action; a function may add others",
        ),
        (
            [([{"x": 0.1}, {"x": 0.2}], [0]), ([{"x": 0.1}, {"x": 0.2}], [1])],
            1,
            "episode 0 step 0 and episode 1 step 0 share their history and label but have rewards 0 and 1",
        ),
    ],
    ids=["names", "lengths", "shapes", "nan", "image", "no steps", "empty", "constant", "equal"],
)
def test_wrong_episodes(
    episodes: list[tuple[list[Any], list[float]]], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn(write("wrong.jsonl", *episodes), *GUARDS) == code
    said = capsys.readouterr()
    assert why in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert not Path("out.json").exists()


def test_check_points_to_guards(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(sys, "argv", ["markovize", "check", "walks.jsonl"])
        cli.main()
    assert "learn guards over their features (learn --trigger-on guards)" in capsys.readouterr().out


def test_episodes_of_one_step(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("one.jsonl", *(([{"x": 0.5}, {"x": at / 10}], [float(at > 5)]) for at in range(10)))
    assert learn(file, *GUARDS) == 0
    out = capsys.readouterr().out
    assert "in state 0, x ≥ 0.55 pays 1" in out and "x ≥ 0.55 from 0.5 to 0.6" in out


def paid_by_numbers() -> Traces:
    """Every reward is another number: no few guards explain that."""
    rng = np.random.default_rng(1)
    seen = [[{"x": float(x)} for x in rng.random(21)] for _ in range(20)]
    return Traces.of([(walk, ["go"] * 20, [at["x"] for at in walk[1:]]) for walk in seen])


def test_a_limit_ends_in_time_and_says_what_may_be_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    write_episodes("numbers.jsonl", paid_by_numbers())
    assert learn("numbers.jsonl", *GUARDS, "--time-limit", "1.5") == 3
    said = capsys.readouterr()
    assert "unknown: nothing found within the limit; at least" in said.out
    assert "note: more than 8 guards are needed" in said.out
    assert "labels, reward_on= (--reward-on) module:function\n" in said.out  # objects are no labels
    assert not Path("out.json").exists()


def test_numbers_and_texts_in_one_feature_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    charges = [0.5, "low", 0.75, 0.25]
    file = write("mixed.jsonl", *(([{"charge": 0.5}, {"charge": to}], [float(to == "low")]) for to in charges))
    assert learn(file, *GUARDS) == 0
    out = capsys.readouterr().out
    assert "note: the feature charge has numbers, such as 0.5, and other values, such as low" in out
    assert "in state 0, charge = low pays 1" in out
    assert learn(file, *GUARDS, "--categorical", "charge") == 0
    assert "and other values" not in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_without_a_machine(folder: Path) -> None:
    write_episodes("numbers.jsonl", paid_by_numbers())
    ended = interrupt(["learn", "numbers.jsonl", *GUARDS, "--json"], folder, 1.0)
    assert (ended.code, ended.err) == (130, "markovize: interrupted\n")
    assert ended.seconds < 20  # it ends; how soon is for the long tests
    assert json.loads(ended.out)["status"] == "unknown"
    assert not Path("out.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_with_a_machine(
    as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As soon as there is a machine, before it is proven."""

    @contextmanager
    def pressing() -> Iterator[Callable[[Progress], None]]:
        def press(progress: Progress) -> None:
            if progress.best is not None:
                signal.raise_signal(signal.SIGINT)

        yield press

    monkeypatch.setattr("markovize.cli.learn_display.progress_display", pressing)
    assert learn("walks.jsonl", *GUARDS, *(["--json"] if as_json else [])) == 130
    said = capsys.readouterr()
    assert said.err == "markovize: interrupted\n"
    assert replay(read_machine("out.json"), walks()).mismatches == 0
    if as_json:
        assert json.loads(said.out)["status"] == "feasible"
    else:
        assert said.out.startswith("feasible: ") and "Stopped early; proven so far: at least" in said.out
