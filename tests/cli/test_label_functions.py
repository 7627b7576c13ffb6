"""``--trigger-on module:function``: learned, replayed, checked, run and resumed with; and what is refused."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lamp import LAMP

from markovize import ActiveLearner, Settings, Traces, read_machine, write_episodes
from markovize.cli import app as cli
from markovize.runs import RunFolder

EVENTS = """
limit = 3

def region(state, action, next_state):
    return "left" if next_state == 0 else "right" if next_state == 5 else "between"

def fails(state, action, next_state):
    return {}[next_state]

def takes_two(state, action):
    return action

def nothing(state, action, next_state):
    pass

def unhashable(state, action, next_state):
    return {"at": next_state}
"""
BOTH = ("--trigger-on", "events_of_test:region", "--reward-on", "events_of_test:region")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "events_of_test.py").write_text(EVENTS)
    (tmp_path / "lamp_of_test.py").write_text(LAMP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    rng = random.Random(0)
    write_episodes(tmp_path / "walks.jsonl", Traces.of([walk(rng) for _ in range(40)]))
    yield tmp_path
    sys.modules.pop("events_of_test", None)
    sys.modules.pop("lamp_of_test", None)


def walk(rng: random.Random) -> tuple[list[int], list[int], list[float]]:
    places, actions, rewards, lit = [2], [], [], False
    for _ in range(30):
        actions.append(rng.choice([-1, 1]))
        places.append(min(5, max(0, places[-1] + actions[-1])))
        lit = lit or places[-1] == 0
        rewards.append(float(lit and places[-1] == 5))
    return places, actions, rewards


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *args: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["markovize", *args])
    with pytest.raises(SystemExit) as end:
        cli.main()
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


def test_learn_replay_and_check(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(capsys, monkeypatch, "learn", "walks.jsonl", "-o", "m.json", *BOTH, "--holdout", "0.3", "--json")
    found = json.loads(out)
    assert (code, found["states"], found["triggers"], found["holdout"]["mismatches"]) == (0, 2, 1, 0)
    machine = read_machine("m.json")
    assert (machine.trigger_on, machine.reward_on, machine.triggers[0].on) == ("function", "function", "left")
    code, out, _ = run(capsys, monkeypatch, "replay", "m.json", "walks.jsonl", *BOTH, "--json")
    assert (code, json.loads(out)["mismatches"]) == (0, 0)
    code, out, _ = run(capsys, monkeypatch, "check", "walks.jsonl", "--machine", "m.json", *BOTH, "--json")
    assert (code, json.loads(out)["markov"]) == (0, True)
    code, _, err = run(capsys, monkeypatch, "replay", "m.json", "walks.jsonl")
    assert (code, err.count("\n")) == (2, 1) and "--trigger-on module:function" in err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("events_of_test:nowhere", "there is no nowhere in the module events_of_test"),
        ("events_of_test:limit", "events_of_test:limit is no function, but 3"),
        ("no_such_events:region", "cannot import no_such_events"),
        ("events_of_test:", "a function is named like module:function"),
        ("region", "labels are 'state', 'source', 'choice', 'transition', 'module:function'"),
        ("events_of_test:fails", "the label function fails failed with KeyError"),
        ("events_of_test:takes_two", "it must take every (state, action, next_state)"),
        ("events_of_test:nothing", "returned None"),
        ("events_of_test:unhashable", "a dict is not a label"),
    ],
)
def test_refused_in_one_line(name: str, said: str, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in (("learn", "walks.jsonl"), ("run", "Lamp-v0", "--import", "lamp_of_test")):
        code, out, err = run(capsys, monkeypatch, *command, "--trigger-on", name, "--reward-on", "state")
        assert (code, out, err.count("\n")) == (2, "", 1) and said in err


def test_check_without_a_machine_has_no_use_for_functions(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = run(capsys, monkeypatch, "check", "walks.jsonl", *BOTH)
    assert code == 2 and "--machine" in err


def test_a_run_is_recorded_and_resumed_with_its_functions(
    here: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lamp = ("run", "Lamp-v0", "--import", "lamp_of_test", "--episodes", "400", *BOTH)
    assert run(capsys, monkeypatch, *lamp, "--out", "whole")[0] == 0
    code, _, _ = run(capsys, monkeypatch, *lamp, "--out", "parts", "--time-limit", "0.001")
    assert code == 3
    settings = json.loads((here / "parts/config.json").read_text())["settings"]
    assert (settings["trigger_on"], settings["reward_on"]) == ("events_of_test:region", "events_of_test:region")
    (here / "events_of_test.py").rename(here / "away.py")
    monkeypatch.delitem(sys.modules, "events_of_test")
    code, _, err = run(capsys, monkeypatch, "run", "--resume", "parts")
    assert (code, err.count("\n")) == (2, 1) and "cannot import events_of_test" in err
    (here / "away.py").rename(here / "events_of_test.py")
    assert run(capsys, monkeypatch, "run", "--resume", "parts")[0] == 0
    for name in ("machine.json", "q.csv", "metrics.csv", "result.json"):
        assert (here / "parts" / name).read_bytes() == (here / "whole" / name).read_bytes()


def test_a_run_of_python_goes_on_from_the_command_line(
    here: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function that its module and name find again is recorded by them."""
    import gymnasium

    monkeypatch.syspath_prepend(str(here))
    import events_of_test  # type: ignore[import-not-found, unused-ignore]
    import lamp_of_test  # type: ignore[import-not-found, unused-ignore] # noqa: F401

    settings = Settings.of(episodes=200, trigger_on=events_of_test.region, reward_on=events_of_test.region)
    folder = RunFolder.new(here / "run", "Lamp-v0", {}, settings, imports=["lamp_of_test"])
    env = gymnasium.make("Lamp-v0")
    ActiveLearner(env, settings, on_checkpoint=folder.checkpoint).run(time_limit=0.001)
    code, _, err = run(capsys, monkeypatch, "run", "--resume", "run")
    assert code == 0, err
