"""The notebook of the examples runs from its first cell to its last, and what it shows is so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "trains_badly.ipynb"
ALL_SEEDS = "SEEDS = [0, 1, 2]"
TELL = "import json; print(json.dumps([without, with_it, result.states, result.triggers, report.markov]))"


def cells() -> list[str]:
    """The code of the notebook, cell by cell; stored without outputs."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    return ["".join(cell["source"]) for cell in code]


def run_cells(seeds: list[int]) -> list[Any]:
    """In a process of its own, as a kernel is."""
    code = "\n\n".join((*cells(), TELL))
    assert code.count(ALL_SEEDS) == 1
    code = code.replace(ALL_SEEDS, f"SEEDS = {seeds}")
    ran = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told: list[Any] = json.loads(ran.stdout.splitlines()[-1])
    return told


@pytest.mark.slow
def test_ppo_fails_without_the_machine_and_succeeds_with_it() -> None:
    pytest.importorskip("stable_baselines3")
    assert run_cells([0]) == [[0.0], [1.0], 2, 1, False]


@pytest.mark.long
def test_with_every_seed() -> None:
    pytest.importorskip("stable_baselines3")
    assert run_cells([0, 1, 2]) == [[0.0] * 3, [1.0] * 3, 2, 1, False]
