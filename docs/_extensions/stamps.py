"""The directive ``{stamp} NAME``: command, commit, date and machine of a recorded result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Stamp(SphinxDirective):
    """Two lines under a result: what was measured where, and how to measure it again."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        file = Path(self.env.srcdir) / "results" / name / "stamp.json"
        self.env.note_dependency(str(file))
        note = json.loads(file.read_text())
        box = nodes.container(classes=["stamp"])
        box += _line(
            "Measured by ", note["command"], f" at commit {note['commit']}, {note['date']}, on {note['machine']}."
        )
        box += _line("Measure it again: ", f"python docs/record.py {name}", "")
        if note.get("remark"):
            box += nodes.paragraph("", note["remark"])
        return [box]


def _line(before: str, code: str, after: str) -> nodes.paragraph:
    line = nodes.paragraph("", before)
    line += nodes.literal("", code)
    line += nodes.Text(after)
    return line


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("stamp", Stamp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
