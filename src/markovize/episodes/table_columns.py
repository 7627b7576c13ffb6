"""Which column of a table holds what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

from markovize.errors import InputError, one_line

_MANY: Final = ("state", "action", "next_state")


@dataclass(frozen=True)
class TableColumns:
    """Which column holds what. Several columns of one kind make a list; families are found by their first word.

    >>> TableColumns.parse("state=x+y,next_state=x2+y2,reward=r").state
    ('x', 'y')
    """

    episode: str = "episode"
    state: tuple[str, ...] = ("state",)
    action: tuple[str, ...] = ("action",)
    reward: str = "reward"
    next_state: tuple[str, ...] = ("next_state",)
    terminated: str = "terminated"
    truncated: str | None = None

    @classmethod
    def parse(cls, text: str) -> TableColumns:
        """From ``kind=column`` pairs with commas between; ``+`` joins several columns of one kind."""
        known = [f.name for f in fields(cls)]
        chosen: dict[str, Any] = {}
        for part in text.split(","):
            kind, equals, names = (piece.strip() for piece in part.partition("="))
            if not equals or kind not in known or not names:
                raise InputError(f'columns: "{one_line(part, 40)}" is not KIND=COLUMN with one of {", ".join(known)}')
            chosen[kind] = tuple(n.strip() for n in names.split("+")) if kind in _MANY else names
        return cls(**chosen)

    def found_in(self, header: Sequence[str]) -> TableColumns:
        """These columns, with the families of this header in place of missing defaults; no next states if none fit."""
        out = self
        for kind in _MANY:
            if getattr(self, kind) == (kind,) and kind not in header:
                family = tuple(name for name in header if name.startswith(kind + "_"))
                if family:
                    # the empty name keeps a family of one column a list of one value
                    chosen: dict[str, Any] = {kind: (*family, "") if len(family) == 1 else family}
                    out = replace(out, **chosen)
                elif kind == "next_state":  # the next row tells
                    out = replace(out, next_state=())
        if out.truncated is None and "truncated" in header:
            out = replace(out, truncated="truncated")
        return out

    def names_of(self, kind: Literal["state", "action"]) -> tuple[str, ...]:
        """What the parts of a state or action are called: as their columns, without the word that these share.

        >>> TableColumns(state=("state_x", "state_y")).names_of("state"), TableColumns().names_of("action")
        (('x', 'y'), ())
        """
        columns = getattr(self, kind)
        if len(columns) < 2:  # a single value is no list of parts
            return ()
        full = tuple(name for name in columns if name)
        short = tuple(name.removeprefix(f"{kind}_") or name for name in full)
        return full if len(set(short)) < len(short) or any(map(_means_more, short)) else short


def _means_more(name: str) -> bool:
    """Whether a name would be taken for a feature of the action, or of the state before the step."""
    return name == "action" or name.startswith(("action.", "before."))


def places_of(columns: TableColumns, header: Sequence[str], where: str) -> dict[str, int]:
    """The number of each column, if every column that is needed is there."""
    places: dict[str, int] = {}
    for number, column in enumerate(header):
        if column in places:
            raise InputError(f'column "{one_line(column, 40)}" appears twice', where=where)
        places[column] = number
    for f in fields(columns):
        chosen = getattr(columns, f.name)
        for column in (chosen,) if isinstance(chosen, str) else chosen or ():
            if column and column not in places:
                shown = one_line(", ".join(header), 60)
                raise InputError(
                    f'no column "{one_line(column, 40)}"; found: {shown} (say which with --columns {f.name}=NAME)',
                    where=where,
                )
    if columns.next_state and len(columns.state) != len(columns.next_state):
        counts = f"{len(columns.state)} state columns, but {len(columns.next_state)} next_state columns"
        raise InputError(counts, where=where)
    return places
