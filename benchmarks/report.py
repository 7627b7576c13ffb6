"""Measured tables in Markdown, under a line that says when, where, from which commit and by which command.

    report = Report("Solving times", "Seconds from episodes to a proven optimum.")
    report.heads("instance", "seconds")      # printed as they come
    report.row("office-e", 0.18)
    report.save(path)                        # the same table, with its origin; nothing is written if path is None

``python benchmarks/report.py`` prints the line of origin alone.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Report:
    """One page of results: a title, a few words, tables. Rows are printed at once and kept."""

    def __init__(self, title: str, words: str = "") -> None:
        self.title, self.words = title, words
        self._lines: list[str] = []

    def heads(self, *cells: object, over: str = "") -> None:
        """Begins a table, under a heading of its own if there are several."""
        if over:
            self._add(f"\n## {over}")
        self._add("")
        self.row(*cells)
        self._add("|---" * len(cells) + "|")

    def row(self, *cells: object) -> None:
        """One line of the table."""
        self._add("| " + " | ".join(str(cell) for cell in cells) + " |")

    def note(self, words: str) -> None:
        """A sentence below the table."""
        self._add("\n" + words)

    def save(self, path: Path | None) -> None:
        """Writes the page; the command is the one that runs now."""
        if path is not None:
            parts = [f"# {self.title}", self.words, origin(), "\n".join(self._lines).strip()]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")

    def _add(self, line: str) -> None:
        self._lines.append(line)
        print(line, flush=True)


def origin(command: Sequence[str] | None = None) -> str:
    """Command, commit, machine and date of a measurement that is made now.

    >>> origin(["benchmarks/solve.py", "--no-ilp"]).splitlines()[0]
    'Made by `python benchmarks/solve.py --no-ilp`,'
    """
    said = shlex.join(["python", *(relative_to_root(part) for part in command or sys.argv)])
    return (
        f"Made by `{said}`,\ncommit {commit()}, {datetime.now(UTC).date()}, on {machine()};\nload average {load():.1f}."
    )


def commit(checkout: Path = ROOT) -> str:
    """The commit of this checkout, or of another one, and whether files differ from it."""
    try:
        name = _git("rev-parse", "--short=10", "HEAD", at=checkout)
        # the pages of results themselves may be new
        changed = _git("status", "--porcelain", "--", ".", ":!*results*", ":!docs", at=checkout)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name} with changes" if changed else name


def machine() -> str:
    """The processor, the cores that this process may use, the memory, the system and Python; no host's name."""
    parts = [_processor(), f"{_cores()} cores"]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        parts.append(f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GB")
    return ", ".join([*parts, platform.system(), f"Python {platform.python_version()}"])


def load() -> float:
    """How many processes wanted a core in the last minutes, the measured one included: to read the times with."""
    return os.getloadavg()[1] if hasattr(os, "getloadavg") else float("nan")


def relative_to_root(part: str) -> str:
    """An argument as it would be typed at the root of the project: no path of one machine goes into a page."""
    path = Path(part)
    return (
        path.resolve().relative_to(ROOT).as_posix() if path.resolve().is_relative_to(ROOT) and path.exists() else part
    )


def _git(*arguments: str, at: Path = ROOT) -> str:
    return subprocess.run(["git", *arguments], cwd=at, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    print(origin())
