"""The benchmark of audits: no false alarm, every planted history found, each in time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def audit(*arguments: str) -> list[dict[str, Any]]:
    pytest.importorskip("popgym")
    command = [sys.executable, "anywhere.py", "--json", *arguments]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_an_environment_as_it_is_and_with_a_history() -> None:
    native, planted = audit("--only", "popgym-MultiarmedBanditEasy-v0", "--steps", "2000")
    assert (native["verdict"], native["signature"], native["agrees"]) == ("markov", ["next_state"], "yes")
    assert (planted["verdict"], planted["agrees"]) == ("history", "yes")
    assert (planted["states"], planted["triggers"]) == (2, 1)


@pytest.mark.long
def test_no_false_alarm_and_every_history() -> None:
    rows = audit()
    assert len({row["name"] for row in rows if not row["planted"]}) >= 25
    assert sum(row["planted"] for row in rows) >= 10
    assert [row["name"] for row in rows if row["truth"] == ["markov"] and row["agrees"] == "no"] == []
    assert [row["name"] for row in rows if row["planted"] and row["agrees"] != "yes"] == []
    assert [row["name"] for row in rows if row["seconds"] > 60] == []
