"""``learn --all``: alone it shows everything, with a number it lists machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from in_process import run_here
from instances import walk

import markovize
from markovize import Traces
from markovize.learning import enumeration
from markovize.learning.limits import Stop

TIED = Traces.of([walk(0, 1, 2, 3, pays=(1.0,)), walk(0, 3), walk(0, 2, 1)])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    markovize.write_episodes("e.jsonl", TIED)
    return tmp_path


def test_machines_are_listed_and_written(folder: Path) -> None:
    ran = run_here("learn", "e.jsonl", "--all", "5", "-o", "m.json")
    assert ran.code == 0
    assert "All of this size: 2 minimal machines, proven to be all" in ran.out
    assert "machine 2: in state 0, entering" in ran.out
    assert "told apart from machine 1 by a walk from 0:" in ran.out
    assert "written to m.json, the others to m.2.json and so on" in ran.out
    machines = [markovize.read_machine(folder / name) for name in ("m.json", "m.2.json")]
    assert {machine.triggers[0].on for machine in machines} == {1, 2}
    assert not (folder / "m.3.json").exists()


def test_as_json() -> None:
    told = json.loads(run_here("learn", "e.jsonl", "--all", "1", "--json").out)["all"]
    assert (len(told["machines"]), told["at_least"], told["complete"], told["unique"]) == (1, 2, False, False)


@pytest.mark.parametrize("arguments", [("--all", "e.jsonl"), ("e.jsonl", "--all"), ("e.jsonl", "--all", "--json")])
def test_without_a_number_nothing_is_listed(arguments: tuple[str, ...]) -> None:
    ran = run_here("learn", *arguments)
    assert ran.code == 0
    assert "All of this size" not in ran.out
    assert '"all"' not in ran.out


@pytest.mark.parametrize("number", ["0", "-3"])
def test_a_number_that_is_none(number: str) -> None:
    ran = run_here("learn", "e.jsonl", "--all", number)
    assert ran.code == 2
    assert "is no number of machines" in ran.err


def test_guards_and_allowances_are_refused() -> None:
    for more in (("--outliers", "auto"), ("--tolerance", "0.5"), ("--trigger-on", "guards")):
        ran = run_here("learn", "e.jsonl", "--all", "3", *more)
        assert ran.code == 2
        assert "without guards and allowances" in ran.err


def test_a_list_that_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> bool:
        raise Stop

    monkeypatch.setattr(enumeration.Enumeration, "_next", stop)
    ran = run_here("learn", "e.jsonl", "--all", "3")
    assert ran.code == 3
    assert "at least 1 minimal machine (1 listed, stopped early)" in ran.out
