"""A golden run: command lines, run one after the other in a fresh folder.

A word of a command line that is the name of an input (see ``inputs.py``) is put into the folder before. ``command <
file`` gets the file through a pipe.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from golden.inputs import GENERATED, TEXTS


@dataclass(frozen=True)
class Case:
    """Some command lines that belong together.

    ``long`` ones are for ``make test-long``. ``own_process`` is for those that a test process cannot run inside
    itself: pipes, worker processes, modules of the user's own. ``needs`` are modules of extras. ``bound`` ones depend
    on the processor (matrix products are summed in another order on another one): only ``record.py`` runs them.
    ``{folder}`` in a value of ``env`` is the folder of the case. ``whole`` ones are newer than the rules of
    ``additions.py``, which do not apply to them.
    """

    name: str
    commands: tuple[str, ...]
    long: bool = False
    own_process: bool = False
    bound: bool = False
    whole: bool = False
    needs: tuple[str, ...] = ()
    more_inputs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def inputs(self) -> list[str]:
        """The names of the files that must be there."""
        words = [word for command in self.commands for word in shlex.split(command)]
        known = [word for word in words if word in TEXTS or word in GENERATED]
        return list(dict.fromkeys([*known, *self.more_inputs]))


def lines(text: str) -> tuple[str, ...]:
    """Command lines, one in each line of a text."""
    return tuple(line.strip() for line in text.strip().splitlines())


def each(template: str, names: Iterable[str]) -> tuple[str, ...]:
    """The same command line for several files; ``{}`` is the name, ``{stem}`` the name without its ending."""
    return tuple(template.replace("{}", name).replace("{stem}", name.partition(".")[0]) for name in names)


def words(text: str) -> tuple[str, ...]:
    """Names, with blanks between them."""
    return tuple(text.split())


NAMED: Final = "episode=id,state=x+y,action=move,next_state=x2+y2,reward=r,terminated=done"
BAD_EPISODES: Final = words("""
    empty.jsonl cut.jsonl not-an-object.jsonl no-rewards.jsonl null.jsonl nan.jsonl infinite.jsonl
    lengths.jsonl text-reward.jsonl flag.jsonl object.jsonl no-column.csv twice.csv short-row.csv
    bad-reward.csv bad-flag.csv jump.csv again.csv after-end.csv missing.jsonl stamps.py
""")
BAD_MACHINES: Final = words("""
    list.json nothing.json nonsense.json far.json twice.json newer.json two-ways.txt formula.txt no-number.dot
    no-start.dot missing.json missing
""")
