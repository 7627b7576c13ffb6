"""The reference of the command line, written by Typer from the commands themselves."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

PROGRAM = "markovize"
TITLE = re.compile(r"^# .*\n+", re.MULTILINE)
EXAMPLE = re.compile(r"^Example: (.*)$", re.MULTILINE)
CUT_SHORT = re.compile(r"^\*\*Commands\*\*:\n\n(?:\* .*\n)+", re.MULTILINE)


def write_reference(app: Sphinx) -> None:
    """Writes what ``reference/command-line.md`` includes."""
    command = [sys.executable, "-m", "typer", f"{PROGRAM}.cli.app", "utils", "docs", "--name", PROGRAM]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = unescape(text)  # the options stand in code, where Markdown reads no entities
    text = TITLE.sub("", text, count=1)
    text = CUT_SHORT.sub("", text)  # the list of commands, with their help cut off in the middle of a sentence
    text = EXAMPLE.sub(r"**Example**:\n\n```shell\n\1\n```", text).replace("```console\n$ ", "```text\n")
    target = Path(app.srcdir) / "_generated" / "command-line.md"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text() != text:  # an unchanged file is not read again
        target.write_text(text)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
