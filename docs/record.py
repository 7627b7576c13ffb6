"""Runs the command behind a result and keeps what it shows, with its commit, date and machine.

    python docs/record.py solve            run one of results/commands.toml and keep it
    python docs/record.py --list           what there is, and when it was measured

The pages under ``results`` include the files that this writes; they hold no numbers of their own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
sys.path.insert(0, str(ROOT / "benchmarks"))

from report import commit, machine  # noqa: E402 - the benchmarks are scripts, not a package


def commands() -> dict[str, dict[str, Any]]:
    """All commands, by the name of their result."""
    return tomllib.loads((RESULTS / "commands.toml").read_text())


def stamp(command: str) -> dict[str, str]:
    """Where and when a command is run."""
    date = datetime.now(UTC).date().isoformat()
    return {"command": command, "commit": commit(), "date": date, "machine": machine()}


def record(name: str) -> None:
    """Runs a result's command, and replaces the files of the result once it is done."""
    entry = commands()[name]
    with tempfile.TemporaryDirectory() as folder:
        words = [word.format(folder=folder) for word in entry["command"].split()]
        note = stamp(entry["command"].format(folder="results"))
        words = [sys.executable, *words[1:]] if words[0] == "python" else [sys.executable, "-m", *words]
        print(f"$ {note['command']}", flush=True)
        done = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        target = RESULTS / name
        target.mkdir(exist_ok=True)
        kept = entry.get("keep", [])
        if "table.md" not in [Path(file).name for file in kept]:  # what it prints is the result
            (target / "output.md").write_text(as_page(done.stdout))
        for file in kept:
            shutil.copy(Path(folder) / file, target / Path(file).name)
        (target / "stamp.json").write_text(json.dumps(note, indent=2) + "\n")


def as_page(printed: str) -> str:
    """What a command printed, for a page: headings are one level lower, and what has no table stays as it is.

    Comments are for those who watch; between the rows of a table they would end it.
    """
    lines = [line for line in printed.splitlines() if not line.startswith(("plot: ", "<!-- "))]
    text = "\n".join(f"#{line}" if line.startswith("## ") else line for line in lines).strip() + "\n"
    return text if any(line.startswith("|") for line in lines) else f"```text\n{text}```\n"


def show_all() -> None:
    """One line for each result."""
    for name, entry in commands().items():
        file = RESULTS / name / "stamp.json"
        known = json.loads(file.read_text()) if file.exists() else {"date": "never", "commit": ""}
        print(f"{name:14} {known['date']:10} {known['commit']:7.7}  {entry['command']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*commands(), []], help="which results")
    parser.add_argument("--list", action="store_true", help="show what there is")
    given = parser.parse_args()
    if given.list or not given.names:
        show_all()
    for name in given.names:
        record(name)


if __name__ == "__main__":
    main()
