"""Episodes as a table (CSV, TSV), one step a row: ``episode, state, action, reward, next_state, terminated``."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from markovize.errors import InputError, UnsupportedError
from markovize.formats.cells import cell_of, parse_cell, parse_flag, parse_reward
from markovize.formats.files import atomic_open, one_line, readable
from markovize.traces import Traces, TracesBuilder
from markovize.values import Value, key_of, show

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


class _Row(NamedTuple):
    episode: Value
    state: Value
    action: Value
    reward: float
    next_state: Value
    terminated: bool
    truncated: bool | None
    line: int


@dataclass
class _Open:
    """The episode whose rows are being read."""

    id: Value
    rows: list[_Row] = field(default_factory=list)


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: TableColumns | None = None,
    delimiter: str | None = None,
    reward_decimals: int | None = None,
) -> Traces:
    """Reads a CSV or TSV file as a stream.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.csv")
    ...     _ = path.write_text("episode,state_x,state_y,action,reward,next_state_x,next_state_y,terminated\\n"
    ...                         "0,1,1,up,0,1,2,false\\n0,1,2,up,1,1,3,true\\n")
    ...     read_table(path).episode(0).observations
    [(1, 1), (1, 2), (1, 3)]
    """
    path = readable(path)
    name = one_line(path)
    builder = TracesBuilder(reward_decimals=reward_decimals)
    finished: set[Any] = set()
    current: _Open | None = None
    for row in _rows(path, name, columns or TableColumns(), delimiter):
        where = f"{name}:{row.line}"
        if current is None or not _same(row.episode, current.id):
            if current is not None:
                _close(builder, current, name)
                finished.add(key_of(current.id))
            if key_of(row.episode) in finished:
                raise InputError(f"episode {_brief(row.episode)} appears again; its rows must stand together", where=where)
            current = _Open(row.episode)
        elif current.rows[-1].terminated or current.rows[-1].truncated:
            raise InputError(f"episode {_brief(row.episode)} goes on after its end in row {current.rows[-1].line}", where=where)
        elif not _same(current.rows[-1].next_state, row.state):
            last = current.rows[-1]
            raise InputError(
                f"the state is {_brief(row.state)}, but row {last.line} led to {_brief(last.next_state)}", where=where
            )
        current.rows.append(row)
    if current is None:
        raise InputError("no episodes in this file", where=name)
    _close(builder, current, name)
    return builder.build()


def write_table(path: str | os.PathLike[str], traces: Traces, *, delimiter: str | None = None) -> None:
    """Writes one row for each step; lists take several columns. Refuses what a table cannot say."""
    states, state_width = _texts(traces.observation_values, "observations")
    actions, action_width = _texts(traces.action_values, "actions")
    header = ["episode", *_names("state", state_width), *_names("action", action_width), "reward",
              *_names("next_state", state_width), "terminated", "truncated"]  # fmt: skip
    delimiter = delimiter or ("\t" if Path(path).suffix.lower() in (".tsv", ".tab") else ",")
    with atomic_open(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", errors="surrogatepass")
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        for number in range(len(traces)):
            start, end = int(traces.offsets[number]), int(traces.offsets[number + 1])
            if start == end:
                raise UnsupportedError(f"episode {number} has no steps, and a table has one row a step; use JSONL")
            ids = traces.observations[start + number : end + number + 1].tolist()
            moves, rewards = traces.actions[start:end].tolist(), traces.rewards[start:end].tolist()
            last = end - start - 1
            ended, cut = bool(traces.terminated[number]), bool(traces.truncated[number])
            for step in range(end - start):
                flags = (cell_of(ended and step == last), cell_of(cut and step == last))
                writer.writerow([str(number), *states[ids[step]], *actions[moves[step]], repr(rewards[step]),
                                 *states[ids[step + 1]], *flags])  # fmt: skip
        text.flush()
        text.detach()


def _rows(path: Path, name: str, columns: TableColumns, delimiter: str | None) -> Iterator[_Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter or _delimiter(path), strict=True)
        try:
            header = [cell.strip() for cell in next(reader, [])]
            if not any(header):
                raise InputError("no episodes in this file", where=name)
            columns = columns.found_in(header)
            kinds = _kinds(columns, _places(columns, header, name))
            for cells in reader:
                if not any(cells):
                    continue
                where = f"{name}:{reader.line_num}"
                if len(cells) != len(header):
                    raise InputError(f"{len(cells)} cells for {len(header)} columns", where=where)
                values: list[Any] = [kind(cells, where) for kind in kinds]
                if columns.truncated is None:
                    values.append(None)
                yield _Row._make([*values, reader.line_num])
        except UnicodeDecodeError:
            raise InputError("not UTF-8 text; is this a binary file?", where=f"{name}:{reader.line_num + 1}") from None
        except csv.Error as error:
            raise InputError(f"not a table: {one_line(error, 60)}", where=f"{name}:{reader.line_num}") from None


class _Cells:
    """Reads the cells of one kind. Equal cells are parsed once: that is what makes a million rows bearable."""

    def __init__(self, names: Sequence[str], places: dict[str, int], parse: Callable[[str], Any], *, many: bool) -> None:
        self._names, self._parse, self._many = [name for name in names if name], parse, many
        self._pick = itemgetter(*(places[name] for name in self._names))
        self._known: dict[Any, Any] = {}

    def __call__(self, cells: list[str], where: str) -> Any:
        raw = self._pick(cells)
        try:
            return self._known[raw]
        except KeyError:
            value = self._value(raw if isinstance(raw, tuple) else (raw,), where)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[raw] = value
        return value

    def _value(self, raw: tuple[str, ...], where: str) -> Any:
        values = []
        for name, text in zip(self._names, raw, strict=True):
            try:
                values.append(self._parse(text))
            except InputError as error:
                raise InputError(f'column "{one_line(name, 40)}": {error}', where=where) from None
        return tuple(values) if self._many else values[0]


def _kinds(columns: TableColumns, places: dict[str, int]) -> list[_Cells]:
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
    return [_Cells(names, places, parse, many=many) for names, parse, many in plan]


def _close(builder: TracesBuilder, episode: _Open, name: str) -> None:
    rows, last = episode.rows, episode.rows[-1]
    truncated = not last.terminated if last.truncated is None else last.truncated
    observations = [row.state for row in rows] + [last.next_state]
    actions, rewards = [row.action for row in rows], [row.reward for row in rows]
    builder.add(observations, actions, rewards, last.terminated, truncated, where=f"{name}:{rows[0].line}")


def _places(columns: TableColumns, header: list[str], name: str) -> dict[str, int]:
    where = f"{name}:1"
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
                    f'no column "{one_line(column, 40)}"; found: {shown} (say which with --columns {f.name}=NAME)', where=where
                )
    if len(columns.state) != len(columns.next_state):
        counts = f"{len(columns.state)} state columns, but {len(columns.next_state)} next_state columns"
        raise InputError(counts, where=where)
    return places


def _delimiter(path: Path) -> str:
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    with path.open("rb") as file:
        header = file.readline(1 << 16)
    return next((mark for mark in ",\t;" if mark.encode() in header), ",")


def _texts(values: list[Value], what: str) -> tuple[list[list[str]], int | None]:
    """Cells for each value, and how many columns: None for a scalar."""
    widths = {len(value) if isinstance(value, tuple) else None for value in values}
    if len(widths) > 1:
        shown = " and ".join(sorted("single values" if w is None else f"lists of {w}" for w in widths)[:2])
        raise UnsupportedError(f"the {what} mix {shown}; a table needs one shape; use JSONL")
    width = widths.pop() if widths else None
    if width == 0:
        raise UnsupportedError(f"the {what} are empty lists; a table has no column for them; use JSONL")
    return [[cell_of(v) for v in (value if isinstance(value, tuple) else (value,))] for value in values], width


def _names(kind: str, width: int | None) -> list[str]:
    return [kind] if width is None else [f"{kind}_{number}" for number in range(width)]


def _same(one: Value, other: Value) -> bool:
    return one is other or key_of(one) == key_of(other)


def _brief(value: Value) -> str:
    return one_line(show(value), 40)
