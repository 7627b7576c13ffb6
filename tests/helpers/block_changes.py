"""A copy of the package to which the changes of a page are made: what the page says works there.

Folders are new, files are links, so a copy costs nothing; a file that the page changes becomes a file of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sybil import Example

ROOT = Path(__file__).parents[2]


def copy_package(folder: Path) -> None:
    """The package, and what its tests need, as links; compiled code is shared."""
    for file in (*(ROOT / "src").rglob("*"), *(ROOT / "tests").rglob("*")):
        target = folder / file.relative_to(ROOT)
        if file.parent.name != "__pycache__" and (file.is_file() or file.name == "__pycache__"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(file)
    (folder / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")


def change_file(example: Example) -> str | None:
    """Applies a diff: lines with ``+`` come in the place of those with ``-``, between lines that are there."""
    name, diff = example.parsed
    lines = [line for line in diff.splitlines() if line.strip() and not line.startswith("@@")]
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    path = Path(name)
    text = path.read_text()
    if text.count(before) != 1:
        return f"{name} has these lines {text.count(before)} times, not once:\n{before}"
    path.unlink()  # the link
    path.write_text(text.replace(before, after))
    return None


def run_in_copy(example: Example) -> str | None:
    """Runs Python in a process of its own, which loads the changed copy; after ``>>>``, as a doctest."""
    block = Path("block.py")
    block.write_text(example.parsed)
    command: list[str | Path] = [sys.executable, block]
    if example.parsed.lstrip().startswith(">>>"):
        command = [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", block.rename("block.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else None
