"""Episodes as a table (CSV, TSV), one step a row: ``episode, state, action, reward, next_state, terminated``.

Without ``next_state``, the next row of the episode tells; its last state stands in a row without action and reward.
"""

from __future__ import annotations

import csv
import io
from itertools import chain, islice
from pathlib import Path
from typing import Final

from markovize.episodes.traces import Traces
from markovize.errors import InputError, one_line
from markovize.io.compression import atomic_open_bytes, open_bytes, uncompressed_name
from markovize.io.episodes.cells import cell_of, parse_cell, parse_flag, parse_reward
from markovize.io.episodes.rows import CellKinds, read_rows, rows_of
from markovize.io.files import readable
from markovize.io.registry import AnyPath, ReadOptions

_TEXT: Final = CellKinds(parse_cell, parse_reward, parse_flag, remember=True, empty=lambda cell: not cell.strip())
_NO_OPTIONS: Final = ReadOptions()


def read_table(path: AnyPath, options: ReadOptions = _NO_OPTIONS, *, delimiter: str | None = None) -> Traces:
    """Reads a CSV or TSV file as a stream; a delimiter that is not given is found in the header.

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
    with open_bytes(path) as file:
        # decoded line by line, so that an error knows its line
        lines = chain((line.decode("utf-8-sig") for line in islice(file, 1)), (line.decode() for line in file))
        reader = csv.reader(lines, delimiter=delimiter or _delimiter(path), strict=True)
        try:
            header = [cell.strip() for cell in next(reader, [])]
            if not any(header):
                raise InputError("no episodes in this file", where=name)
            rows = ((reader.line_num, cells) for cells in reader if any(cells))
            return read_rows(header, rows, _TEXT, options, name)
        except UnicodeDecodeError:
            raise InputError("not UTF-8 text; is this a binary file?", where=f"{name}:{reader.line_num + 1}") from None
        except csv.Error as error:
            raise InputError(f"not a table: {one_line(error, 60)}", where=f"{name}:{reader.line_num}") from None


def read_tsv(path: AnyPath, options: ReadOptions = _NO_OPTIONS) -> Traces:
    """Reads a table with tabs between its cells, whatever its name."""
    return read_table(path, options, delimiter="\t")


def write_csv(path: AnyPath, traces: Traces) -> None:
    """Writes one row for each step, commas between the cells."""
    write_table(path, traces, delimiter=",")


def write_tsv(path: AnyPath, traces: Traces) -> None:
    """Writes one row for each step, tabs between the cells."""
    write_table(path, traces, delimiter="\t")


def write_table(path: AnyPath, traces: Traces, *, delimiter: str) -> None:
    """Writes one row for each step; lists take several columns. Refuses what a table cannot say."""
    header, rows = rows_of(traces, cell_of)
    with atomic_open_bytes(path) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", errors="surrogatepass")
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        text.flush()
        text.detach()


def _delimiter(path: Path) -> str:
    if uncompressed_name(path).lower().endswith((".tsv", ".tab")):
        return "\t"
    with open_bytes(path) as file:
        header = file.readline(1 << 16)
    return next((mark for mark in ",\t;" if mark.encode() in header), ",")
