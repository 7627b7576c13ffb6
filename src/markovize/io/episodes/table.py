"""Episodes as a table (CSV, TSV), one step a row: ``episode, state, action, reward, next_state, terminated``."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from markovize.episodes.traces import Traces, TracesBuilder
from markovize.episodes.values import Value, key_of, show
from markovize.errors import InputError, UnsupportedError, one_line
from markovize.io.episodes.cells import cell_of
from markovize.io.episodes.table_columns import TableColumns, places_of, readers
from markovize.io.files import atomic_open, readable


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
                raise InputError(
                    f"episode {_brief(row.episode)} appears again; its rows must stand together", where=where
                )
            current = _Open(row.episode)
        elif current.rows[-1].terminated or current.rows[-1].truncated:
            raise InputError(
                f"episode {_brief(row.episode)} goes on after its end in row {current.rows[-1].line}", where=where
            )
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
    header = [
        "episode",
        *_names("state", state_width),
        *_names("action", action_width),
        "reward",
        *_names("next_state", state_width),
        "terminated",
        "truncated",
    ]
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
                writer.writerow(
                    [
                        str(number),
                        *states[ids[step]],
                        *actions[moves[step]],
                        repr(rewards[step]),
                        *states[ids[step + 1]],
                        *flags,
                    ]
                )
        text.flush()
        text.detach()


def _rows(path: Path, name: str, columns: TableColumns, delimiter: str | None) -> Iterator[_Row]:
    with path.open("rb") as file:
        # decoded line by line, so that an error knows its line
        lines = chain((line.decode("utf-8-sig") for line in islice(file, 1)), (line.decode() for line in file))
        reader = csv.reader(lines, delimiter=delimiter or _delimiter(path), strict=True)
        try:
            header = [cell.strip() for cell in next(reader, [])]
            if not any(header):
                raise InputError("no episodes in this file", where=name)
            columns = columns.found_in(header)
            kinds = readers(columns, places_of(columns, header, f"{name}:1"))
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


def _close(builder: TracesBuilder, episode: _Open, name: str) -> None:
    rows, last = episode.rows, episode.rows[-1]
    truncated = not last.terminated if last.truncated is None else last.truncated
    observations = [row.state for row in rows] + [last.next_state]
    actions, rewards = [row.action for row in rows], [row.reward for row in rows]
    builder.add(observations, actions, rewards, last.terminated, truncated, where=f"{name}:{rows[0].line}")


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
