"""What the table of runs with cycles says is so of a short run."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_a_row_says_what_came_of_its_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    module = importlib.import_module("runs")
    result, seconds, used = module.run("breakfast c cumulative", 0, 12)
    monkeypatch.setattr(sys, "argv", ["runs.py", "breakfast", "--seeds", "1", "--episodes", "12"])
    module.main()
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| breakfast"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:4] == [
        "breakfast c cumulative",
        "0",
        result.status,
        f"{result.machine.states}, {len(result.machine.triggers)}",
    ]
    assert float(cells[4]) >= 0 and seconds >= 0 and float(cells[5]) >= 0 and used >= 0
