"""The Python of the README runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[1].joinpath("README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
EXTRAS = {"markovize.agents.deep": "torch", "markovize.integrations.sb3": "stable_baselines3"}


SLOW = ("__main__", "stable_baselines3")
OUTCOME = {"ConflictCallback": "assert watch.ready and watch.machine.states == 5"}


def numbers() -> list[Any]:
    """Of all blocks; a sweep or a training takes its time."""
    long = [any(word in block for word in SLOW) for block in BLOCKS]
    return [pytest.param(n, marks=pytest.mark.long) if slow else n for n, slow in enumerate(long)]


@pytest.mark.parametrize("number", numbers())
def test_python_of_the_readme(number: int, tmp_path: Path) -> None:
    block = BLOCKS[number]
    for module, library in EXTRAS.items():
        if module in block:
            pytest.importorskip(library, reason=f"{library} is not installed")
    ends = [check for word, check in OUTCOME.items() if word in block]
    (tmp_path / "block.py").write_text("\n".join([block, *ends]))
    subprocess.run([sys.executable, "block.py"], cwd=tmp_path, check=True, capture_output=True, text=True)


def test_what_the_readme_says_about_its_first_example() -> None:
    """Each comment beside an expression is its value."""
    names: dict[str, object] = {}
    exec(BLOCKS[0], names)
    said = re.findall(r"^([^#=\n]+?) {2,}# (False|\(.*\)|\[.*\]|'.*')$", BLOCKS[0], re.MULTILINE)
    assert len(said) >= 3
    for expression, value in said:
        assert eval(expression, names) == eval(value), expression
