"""Which column of a table holds what, and how its cells become values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from typing import Any, Final

from markovize.errors import InputError, one_line
from markovize.io.episodes.cells import parse_cell, parse_flag, parse_reward

_REMEMBERED: Final = 100_000
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
        """These columns, with the families of this header in place of missing defaults."""
        out = self
        for kind in _MANY:
            if getattr(self, kind) == (kind,) and kind not in header:
                family = tuple(name for name in header if name.startswith(kind + "_"))
                if family:
                    # a trailing comma in spirit: one column of a family is still a list of one
                    chosen: dict[str, Any] = {kind: (*family, "") if len(family) == 1 else family}
                    out = replace(out, **chosen)
        if out.truncated is None and "truncated" in header:
            out = replace(out, truncated="truncated")
        return out


def places_of(columns: TableColumns, header: list[str], where: str) -> dict[str, int]:
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
    if len(columns.state) != len(columns.next_state):
        counts = f"{len(columns.state)} state columns, but {len(columns.next_state)} next_state columns"
        raise InputError(counts, where=where)
    return places


class Cells:
    """Reads the cells of one kind. Equal cells are parsed once: that is what makes a million rows bearable."""

    def __init__(
        self, names: Sequence[str], places: dict[str, int], parse: Callable[[str], Any], *, many: bool
    ) -> None:
        self._names, self._parse, self._many = [name for name in names if name], parse, many
        self._pick = itemgetter(*(places[name] for name in self._names))
        self.known: dict[Any, Any] = {}

    def __call__(self, cells: list[str], where: str) -> Any:
        raw = self._pick(cells)
        try:
            return self.known[raw]
        except KeyError:
            value = self._value(raw if isinstance(raw, tuple) else (raw,), where)
        if len(self.known) >= _REMEMBERED:
            self.known.clear()
        self.known[raw] = value
        return value

    def _value(self, raw: tuple[str, ...], where: str) -> Any:
        values = []
        for name, text in zip(self._names, raw, strict=True):
            try:
                values.append(self._parse(text))
            except InputError as error:
                raise InputError(f'column "{one_line(name, 40)}": {error}', where=where) from None
        return tuple(values) if self._many else values[0]


def readers(columns: TableColumns, places: dict[str, int]) -> list[Cells]:
    """One reader for each field of a row, in their order."""
    plan: list[tuple[Sequence[str], Callable[[str], Any], bool]] = [
        ([columns.episode], parse_cell, False),
        (columns.state, parse_cell, len(columns.state) > 1),
        (columns.action, parse_cell, len(columns.action) > 1),
        ([columns.reward], parse_reward, False),
        (columns.next_state, parse_cell, len(columns.next_state) > 1),
        ([columns.terminated], parse_flag, False),
    ]
    if columns.truncated is not None:
        plan.append(([columns.truncated], parse_flag, False))
    out = [Cells(names, places, parse, many=many) for names, parse, many in plan]
    out[4].known = out[1].known  # a next state and the state after it become one object, which compares fast
    return out
