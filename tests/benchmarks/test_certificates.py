"""The table of certificates: every row was verified, and says how long that took."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.slow
def test_a_row_for_each_setting(tmp_path: Path) -> None:
    page = tmp_path / "certificates.md"
    command = [sys.executable, "certificates.py", "--acyclic", "office-b", "--out", str(page)]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"^\| office-b \| 2, 2 \|(?: [0-9.]+ \|){6} clique of 2, 2 \(1\) \|$", text, re.M)
    assert len(rows) == 2
    assert "Checking kept to its goal in 2 of 2 rows." in text
