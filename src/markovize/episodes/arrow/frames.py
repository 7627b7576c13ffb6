"""Data frames as episodes: pandas, polars, Arrow tables and whatever else hands out its columns through Arrow."""

from __future__ import annotations

from typing import Any

from markovize.episodes.arrow.batches import BatchReader, Tables
from markovize.episodes.stream import join_chunks
from markovize.episodes.table_columns import TableColumns
from markovize.episodes.traces import Traces
from markovize.errors import InputError
from markovize.extras import load


def is_frame(data: object) -> bool:
    """Whether the columns can be had through Arrow's interface for all libraries (the PyCapsule interface).

    >>> is_frame([1, 2])
    False
    """
    return hasattr(data, "__arrow_c_stream__")


def read_frame(frame: Any, *, columns: TableColumns | None = None, reward_decimals: int | None = None) -> Traces:
    """The episodes of a data frame, one step a row, with the columns of a table (see the format ``csv``)."""
    pa: Any = load("pyarrow", "reading data frames and Parquet", "data")
    try:
        reader = pa.RecordBatchReader.from_stream(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"the data frame cannot be read through Arrow: {error}") from None
    tables, name = Tables(), "data frame"
    batches = BatchReader(reader.schema.names, name, tables, columns=columns, decimals=reward_decimals)
    traces = join_chunks(batches.chunks(reader))
    if not len(traces):
        raise InputError("no episodes in this data frame")
    return traces
