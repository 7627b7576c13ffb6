"""Episodes as Parquet, one step a row, in the columns of a CSV file: one file, a folder of them, or a pattern.

Files are read in the order of their names, batch by batch; no episode goes from one file into the next. Columns that
Parquet holds as dictionaries are used as such.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from markovize.episodes.arrow.batches import BatchReader, Tables
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.table_columns import TableColumns
from markovize.episodes.traces import Traces
from markovize.episodes.values import Value
from markovize.errors import InputError, UnsupportedError, one_line
from markovize.extras import load
from markovize.io.episodes.rows import columns_of
from markovize.io.files import atomic_open, readable
from markovize.io.registry import AnyPath, ReadOptions

ENDING: Final = ".parquet"
BATCH: Final = 1 << 19  # rows read at once: some 20 MB, and no slower than more
_NO_OPTIONS: Final = ReadOptions()


@dataclass(frozen=True)
class ParquetStream(EpisodeStream):
    """The episodes of Parquet files, read anew by each call of :meth:`chunks`."""

    paths: tuple[Path, ...]
    columns: TableColumns | None = None
    reward_decimals: int | None = None
    may_be_empty: bool = False

    def chunks(self) -> Iterator[Traces]:
        tables, found = Tables(), False
        for path in self.paths:
            for chunk in self._file(path, tables):
                found = True
                yield chunk
        if not found and not self.may_be_empty:
            raise InputError("no episodes in this file", where=one_line(self.paths[0]))

    def shards(self) -> list[ParquetStream]:
        """Each file as a stream of its own."""
        return [replace(self, paths=(path,), may_be_empty=True) for path in self.paths]

    def _file(self, path: Path, tables: Tables) -> Iterator[Traces]:
        pa, parquet = _pyarrow()
        name = one_line(readable(path))
        try:
            with parquet.ParquetFile(path) as file:
                schema = file.schema_arrow
                reader = BatchReader(schema.names, name, tables, columns=self.columns, decimals=self.reward_decimals)
            text = [
                field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
            ]
            with parquet.ParquetFile(path, read_dictionary=text) as file:
                yield from reader.chunks(file.iter_batches(BATCH, columns=reader.needed))
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"is damaged, or no Parquet file: {one_line(error, 120)}", where=name) from None


def stream_parquet(path: AnyPath, options: ReadOptions = _NO_OPTIONS) -> ParquetStream:
    """The files, to be read chunk by chunk."""
    return ParquetStream(tuple(shard_paths(path)), options.columns, options.reward_decimals)


def read_parquet(path: AnyPath, options: ReadOptions = _NO_OPTIONS) -> Traces:
    """All episodes of a file, of a folder of files or of those that fit a pattern."""
    return stream_parquet(path, options).read()


def shard_paths(path: AnyPath) -> list[Path]:
    """The files that a name, a folder or a pattern stands for, in the order of their names."""
    path = Path(path)
    if path.is_dir():
        found = sorted(path.rglob(f"*{ENDING}"))
        if not found:
            raise InputError(f"no {ENDING} files in this folder", where=one_line(path))
        return found
    if not path.exists() and glob.has_magic(os.fspath(path)):
        found = sorted(Path(name) for name in glob.glob(os.fspath(path), recursive=True))  # noqa: PTH207 - any pattern
        if not found:
            raise InputError("no file fits this pattern", where=one_line(path))
        return found
    return [readable(path)]


def write_parquet(path: AnyPath, traces: Traces) -> None:
    """Writes one row for each step; labels as dictionaries, lists in several columns. What it cannot say is refused."""
    pa, parquet = _pyarrow()
    columns = columns_of(traces)
    arrays = {}
    for name, column in columns.items():
        if isinstance(column, np.ndarray):
            arrays[name] = pa.array(column)
        else:
            arrays[name] = pa.DictionaryArray.from_arrays(pa.array(column.codes), _typed(pa, column.values, name))
    with atomic_open(path) as file:
        parquet.write_table(pa.table(arrays), file, row_group_size=1 << 20, compression="zstd")


def _typed(pa: Any, values: list[Value], name: str) -> Any:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError):
        kinds = " and ".join(sorted({type(value).__name__ for value in values}))
        raise UnsupportedError(
            f'the column "{name}" would mix {kinds}, or has values that Parquet cannot hold; use JSONL'
        ) from None


def _pyarrow() -> tuple[Any, Any]:
    what = "reading or writing Parquet"
    return load("pyarrow", what, "data"), load("pyarrow.parquet", what, "data")
