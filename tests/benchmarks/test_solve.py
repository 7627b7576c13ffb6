"""The table of solving times measures the shipped episodes, and nothing else under their names."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def solve(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "solve.py", "--acyclic", "--no-ilp", "--repeat", "1", *arguments]
    return subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=False)


def test_the_page_says_the_known_optimum_and_where_it_was_measured(tmp_path: Path) -> None:
    page = tmp_path / "solve.md"
    done = solve("office-c", "breakfast-b-full", "--objective", "triggers", "--out", str(page))
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert re.search(r"^\| office-c \| 500 \| 2, 1 \| [0-9.]+ \|", text, re.M)
    assert re.search(r"^\| breakfast-b-full \| 196 \| 5, 4 \| [0-9.]+ \|", text, re.M)
    assert "Made by `python benchmarks/solve.py --acyclic" in text
    assert re.search(r"^commit ([0-9a-f]{10}( with changes)?|unknown), 20\d\d-\d\d-\d\d, on .* cores", text, re.M)


def test_other_episodes_under_a_name_of_the_table_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    episodes = importlib.import_module("episodes")
    data = tmp_path / "data"
    shutil.copytree(BENCHMARKS / "data", data)
    monkeypatch.setattr(episodes, "DATA", data)
    assert episodes.load("office-c").steps > 0
    shutil.copy(data / "office-c.jsonl.gz", data / "office-b.jsonl.gz")
    with pytest.raises(SystemExit, match="office-b: these are not the episodes of the table"):
        episodes.load("office-b")
    (data / "office-b.jsonl.gz").unlink()
    with pytest.raises(FileNotFoundError):
        episodes.load("office-b")
