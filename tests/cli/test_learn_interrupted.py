"""Ctrl-C at random instants of ``markovize learn`` on hard instances: it ends soon, with its machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from instances import paid_by_history
from interrupting import Ended, interrupt

import markovize.cli
from markovize import Traces
from markovize.worlds import noisy_walks, random_grid_world, world

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
WITHIN = 2.0  # seconds, in the long test
SOON = 20.0  # in those that run on every submission: it ends, whatever else is done on the machine
LATEST = 5.0  # seconds after the start


def in_random_world() -> Traces:
    grid = random_grid_world(np.random.default_rng(8), width=8, height=8, states=6, landmarks=8)
    return noisy_walks(grid, 2_000, np.random.default_rng(8))


INSTANCES = {
    "history": lambda: paid_by_history(300, 20, 4),
    "many labels": lambda: paid_by_history(500, 50, 2_000),
    "office": lambda: noisy_walks(world("office", task="d"), 2_000, np.random.default_rng(0)),
    "breakfast": lambda: noisy_walks(world("breakfast", task="c", rewards="cumulative"), 300, np.random.default_rng(0)),
    "random": in_random_world,
}
WAYS = [
    ("history", []),
    ("history", ["--engine", "ilp"]),
    ("history", ["--engine", "exhaustive"]),
    ("history", ["--acyclic", "--objective", "states"]),
    ("many labels", []),
    ("many labels", ["--engine", "ilp"]),
    ("office", ["--objective", "states"]),
    ("office", ["--engine", "ilp", "--acyclic"]),
    ("breakfast", []),
    ("breakfast", ["--audit", "ilp"]),
    ("random", ["--objective", "states"]),
]


def press(way: tuple[str, list[str]], folder: Path, after: float) -> Ended:
    name, options = way
    file = folder / f"{name}.jsonl"
    if not file.exists():
        markovize.write_episodes(file, INSTANCES[name]())
    return interrupt(["learn", file.name, "-o", "out.json", "--json", *options], folder, after)


def check(ended: Ended, folder: Path, what: object, within: float = WITHIN) -> None:
    assert ended.code == 130, (what, ended)
    assert ended.err == "markovize: interrupted\n", (what, ended)
    assert ended.seconds <= within, (what, ended)
    if ended.out:  # else it was pressed while the file was read
        said = json.loads(ended.out)
        assert said["status"] in ("feasible", "unknown", "optimal"), (what, said)
        assert (folder / "out.json").exists() == (said["states"] is not None)
    (folder / "out.json").unlink(missing_ok=True)


def test_while_the_command_is_being_loaded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Pressed:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "markovize.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "markovize.cli.app", raising=False)
    monkeypatch.delattr("markovize.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Pressed(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        markovize.cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", "markovize: interrupted\n")


@pytest.mark.parametrize("number", range(3))
def test_at_some_instants(number: int, tmp_path: Path) -> None:
    way, after = [(WAYS[0], 1.0), (WAYS[1], 0.7), (WAYS[10], 1.5)][number]
    check(press(way, tmp_path, after), tmp_path, way, SOON)


@pytest.mark.long
def test_at_fifty_random_instants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng()
    failures = []
    for number in range(50):
        way, after = WAYS[number % len(WAYS)], float(rng.uniform(0, LATEST))
        ended = press(way, tmp_path, after)
        took = f"{ended.clock:5.2f} s by the clock, {ended.processor:5.2f} s of the processor"
        with capsys.disabled():
            print(
                f"{number:3} {way[0]:12} {' '.join(way[1]):32} after {after:4.2f} s: {took}, {ended.code}", flush=True
            )
        try:
            check(ended, tmp_path, (way, after))
        except AssertionError as error:
            failures.append(error)
    assert not failures
