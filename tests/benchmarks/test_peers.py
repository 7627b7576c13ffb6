"""Samples of words: drawn repeatably, read in the peers' format, and solved to the known number of states."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("words")


def test_a_seed_draws_the_same_words_with_few_that_are_short(words: ModuleType) -> None:
    sample = words.draw(6, 1)
    assert sample == words.draw(6, 1) != words.draw(6, 2)
    lengths = [len(word) for word in sample.words]
    counts = [lengths.count(length) for length in range(3, 12)]
    assert counts == [2, 2, 4, 8, 16, 32, 64, 128, 44]


def test_files_in_the_format_of_peers_are_read(words: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "res2-1.txt").write_text("3 2\n1 2 0 1 \n0 1 1 \n1 0 \n", encoding="ascii")
    (sample,) = words.samples(2, 5, tmp_path)
    assert sample == ("2-1", {(0, 1): 1, (1,): 0, (): 1})
    assert [len(episode.rewards) for episode in sample.traces()] == [3, 2, 1]
    (tmp_path / "res2-2.txt").write_text("1 2\n1 3 0 1 \n", encoding="ascii")
    with pytest.raises(SystemExit, match="a word of 3 symbols has 2"):
        words.samples(2, 5, tmp_path)


def test_the_table_says_the_least_number_of_states() -> None:
    command = [sys.executable, "peers.py", "4", "--seeds", "2"]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\| 4-1 \| 200 \| 4 \| [0-9.]+ \| – \|$", done.stdout, re.M)
    assert "Proven within 300 s: N = 4: 2 samples." in done.stdout
