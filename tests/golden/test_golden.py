"""The command line prints and writes what it did before, byte for byte, times aside.

``expected/`` is what it did at an earlier commit; ``changes.json`` has every change that was meant since, with its
reason. ``record.py`` says how to go on from there.
"""

from __future__ import annotations

import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from golden.case import Case
from golden.cases import CASES
from golden.comparing import CHANGES, EXPECTED, differences, expected_of, read_changes
from golden.running import run_case

LARGEST = 600_000  # bytes, of all records


def parameter(case: Case) -> Any:
    return pytest.param(case, id=case.name, marks=[pytest.mark.long] if case.long else [])


@pytest.mark.parametrize("case", [parameter(case) for case in CASES if not case.bound])
def test_same_as_recorded(case: Case, tmp_path: Path) -> None:
    if missing := [name for name in case.needs if find_spec(name) is None]:
        pytest.skip(f"needs {missing[0]}")
    found = differences(expected_of(case.name), run_case(case, tmp_path, in_process=True))
    assert not found, "\n".join([f"what was written is in {tmp_path}", *map(str, found[:20])])


def test_every_record_has_its_case_and_all_are_small() -> None:
    names = {case.name for case in CASES}
    assert {path.stem for path in EXPECTED.iterdir()} == names
    assert sum(path.stat().st_size for path in [*EXPECTED.iterdir(), CHANGES]) < LARGEST
    assert {change["case"] for change in read_changes()} <= names
    assert all(change["why"] for change in read_changes())


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    """Whether it is printed, written in a short file or in one of which only the digest is kept."""
    case = Case("tampered", ("learn coffee.jsonl -o a.json --json", "convert office-e.jsonl b.jsonl"))
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    before, after = (run_case(case, folder, in_process=True) for folder in folders)
    assert before == after
    changed = copy.deepcopy(before)
    printed = changed["commands"][0]["out"]
    printed[0] = printed[0].replace('"states": 2', '"states": 3')
    changed["files"]["a.json"][0] += " "
    changed["files"]["b.jsonl"]["sha256"] = "0" * 64
    places = [difference.place for difference in differences(changed, after)]
    assert places == [("commands", 0, "out", 0), ("files", "a.json", 0), ("files", "b.jsonl")]
