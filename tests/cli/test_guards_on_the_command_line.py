"""Machines with guards on the command line: check, replay, draw and convert, and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from guarded_machines import BOXES, COFFEE, OFFICE_WALKS

from markovize import Feature, Traces, write_episodes, write_machine
from markovize.cli import app as cli

PLACES = """
def places(state, action, next_state):
    return {"here": {3: "coffee", 4: "office"}.get(next_state, "hall")}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "places_of_test.py").write_text(PLACES)
    write_episodes(tmp_path / "walks.jsonl", OFFICE_WALKS)
    write_machine(tmp_path / "machine.json", COFFEE)
    yield tmp_path
    sys.modules.pop("places_of_test", None)


def run(*arguments: str) -> int:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.setattr(sys, "argv", ["markovize", *arguments])
        cli.main()
    return int(end.value.code or 0)


def test_replay_and_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("replay", "machine.json", "walks.jsonl", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"steps": 6, "unseen": 0, "mismatches": 0, "unseen_paid": 0}
    assert run("check", "walks.jsonl", "--machine", "machine.json", "--exit-code") == 0
    assert "not testable: the (u, label, u') of only 0 of 6 steps" in capsys.readouterr().out
    write_episodes("twice.jsonl", Traces.of([*OFFICE_WALKS, *OFFICE_WALKS]))
    assert run("check", "twice.jsonl", "--machine", "machine.json", "--exit-code") == 0
    assert "Markov: every (u, label, u') of the machine" in capsys.readouterr().out
    write_machine("fewer.json", replace(COFFEE, rewards=COFFEE.rewards[:-3]))
    assert run("replay", "fewer.json", "walks.jsonl") == 0
    assert run("replay", "fewer.json", "walks.jsonl", "--exit-code") == 1
    write_machine("one.json", replace(COFFEE, states=1, triggers=(), rewards=()))
    assert run("check", "walks.jsonl", "--machine", "one.json", "--exit-code") == 1


def test_draw_and_convert(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for ending in ("svg", "png", "dot", "mmd"):
        assert run("draw", "machine.json", "-o", f"m.{ending}", "--episodes", "walks.jsonl") == 0
    assert "here = coffee (1 step, 1 paid)" in (here / "m.dot").read_text()
    for ending in ("py", "smt2", "json"):
        assert run("convert", "machine.json", f"again.{ending}") == 0
    assert (here / "again.json").read_bytes() == (here / "machine.json").read_bytes()
    capsys.readouterr()
    assert run("convert", "machine.json", "again.txt") == 2
    assert "cannot say guards over features; use json, py or smt2" in capsys.readouterr().err
    assert not (here / "again.txt").exists()


def test_features_of_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    write_episodes("bare.jsonl", Traces.of([([0, 3, 1, 4], ["go"] * 3, [0, 0, 1], True)]))
    write_machine("machine.json", replace(COFFEE, features=(Feature("here", "categorical"),)))
    assert run("replay", "machine.json", "bare.jsonl") == 2
    assert "give features= (--features module:function)" in capsys.readouterr().err
    own = ("--features", "places_of_test:places")
    assert run("replay", "machine.json", "bare.jsonl", *own) == 0
    assert run("check", "bare.jsonl", "--machine", "machine.json", *own) == 0
    assert run("draw", "machine.json", "-o", "m.dot", "--episodes", "bare.jsonl", *own) == 0
    assert run("check", "bare.jsonl", *own) == 2
    assert run("replay", "machine.json", "bare.jsonl", "--features", "places_of_test:nobody") == 2
    assert run("replay", "machine.json", "bare.jsonl", "--features", "places") == 2
    capsys.readouterr()


def test_episodes_of_something_else(capsys: pytest.CaptureFixture[str]) -> None:
    write_machine("boxes.json", BOXES)
    assert run("replay", "boxes.json", "walks.jsonl") == 2
    err = capsys.readouterr().err
    assert "the machine's feature y is not among those of the episodes: action, here, x" in err
    assert err.count("\n") == 1
