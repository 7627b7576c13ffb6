"""What commands say beside what was recorded: left out before a record is made or compared.

``changes.json`` lists changes one by one. An addition that every run of a command has would fill it with hundreds of
lines, so it is a rule here: fields of its JSON object, or a pattern in its text. The cases that are ``whole`` keep
what was added, and show it.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple


class Addition(NamedTuple):
    """What the JSON object of a command gained, or a pattern of what its text did; and why."""

    command: str
    fields: tuple[str, ...]
    pattern: str
    why: str


ADDITIONS: Final = [
    Addition(
        "check",
        ("comparable", "testable"),
        r"(?<= steps), [\d,]+ comparable$",
        "issue: say how many steps were comparable",
    ),
    Addition(
        "check",
        ("noise", "history", "repeated_histories", "outside"),
        r"^Of these, noise: .*\n",
        "issue Noise: noise told from history, with counts",
    ),
    Addition(
        "replay",
        ("unseen_paid",),
        r"^[\d,]+ of the unseen (is|are) paid: .*\n",
        "issue: replay counts unseen paid steps",
    ),
    Addition(
        "learn",
        ("support",),
        r"; [\d,]+ steps? fired it, [\d,]+ paid steps? needs? it$|^note: little pins this machine.*\n",
        "issue: for each trigger, how many steps and how many paid steps support it",
    ),
]


def without_additions(line: str, text: str) -> str:
    """What a command printed, without what was added since the records were made.

    >>> without_additions("check a.jsonl", "3 episodes, 1,200 steps, 1,100 comparable")
    '3 episodes, 1,200 steps'
    >>> without_additions("check a.jsonl --json", '{"markov": true, "testable": true}')
    '{"markov": true}'
    """
    for addition in ADDITIONS:
        if line.split()[0] != addition.command:
            continue
        if addition.pattern:
            text = re.sub(addition.pattern, "", text, flags=re.MULTILINE)
        text = "\n".join(_without(addition.fields, row) if row.startswith("{") else row for row in text.split("\n"))
    return text


def _without(names: tuple[str, ...], line: str) -> str:
    """One JSON object without these fields."""
    try:
        fields = json.loads(line)
    except ValueError:
        return line
    return json.dumps({name: value for name, value in fields.items() if name not in names})
