"""Columns of Arrow as small integers and what they mean: each distinct value is looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from markovize.episodes.traces import Bools, Floats, Ints
from markovize.episodes.values import Interner, Value, canonical
from markovize.errors import InputError, one_line
from markovize.extras import load

DENSE: Final = 1 << 22  # combinations of several columns up to which a table of all of them is the fastest way


@dataclass(frozen=True)
class Coded:
    """A number for each row, or -1 where nothing stands in it, and the values of the numbers, not all of them used."""

    codes: Ints
    values: list[Value | None]  # None: no label; an error if a row has it
    reasons: dict[int, str]  # why not

    @classmethod
    def of(cls, column: Any) -> Coded:
        """One column of Arrow, of any type that holds labels."""
        pa, pc = _arrow()
        if pa.types.is_nested(column.type):
            return _lists(column)
        if not pa.types.is_dictionary(column.type):
            column = pc.dictionary_encode(column)
        codes = pc.fill_null(column.indices.cast(pa.int32()), -1).to_numpy(zero_copy_only=False)
        values: list[Value | None] = []
        reasons: dict[int, str] = {}
        for number, raw in enumerate(column.dictionary.to_pylist()):
            try:
                values.append(canonical(raw))
            except InputError as error:
                values.append(None)
                reasons[number] = str(error)
        return cls(codes, values, reasons)

    @classmethod
    def joined(cls, columns: Sequence[Coded]) -> Coded:
        """Several columns as one of lists."""
        codes = columns[0].codes.astype(np.int64)
        empty = codes < 0
        for column in columns[1:]:
            codes = codes * max(1, len(column.values)) + column.codes
            empty |= column.codes < 0
        sizes = [max(1, len(column.values)) for column in columns]
        full = codes[~empty]
        out = np.full(len(codes), -1, np.int32)
        if np.prod(sizes, dtype=np.float64) <= DENSE:
            used = np.zeros(int(np.prod(sizes)), np.bool_)
            used[full] = True
            distinct = np.flatnonzero(used)
            number = np.zeros(len(used), np.int32)
            number[distinct] = np.arange(len(distinct), dtype=np.int32)
            out[~empty] = number[full]
        else:
            distinct, inverse = np.unique(full, return_inverse=True)
            out[~empty] = inverse
        parts = np.unravel_index(distinct, sizes)
        values: list[Value | None] = []
        reasons: dict[int, str] = {}
        for at, places in enumerate(zip(*(part.tolist() for part in parts), strict=True)):
            cells = [column.values[place] for column, place in zip(columns, places, strict=True)]
            wrong = [column.reasons[n] for column, n in zip(columns, places, strict=True) if n in column.reasons]
            if wrong:
                reasons[at] = wrong[0]
            values.append(None if wrong else tuple(cell for cell in cells if cell is not None))
        return cls(out, values, reasons)

    def check(self, rows: Bools, name: str, place: Any) -> None:
        """Refuses a row, of these, in which no label stands; ``place`` tells where a row is."""
        bad = rows & (self.codes < 0)
        if self.reasons:
            bad |= rows & np.isin(self.codes, list(self.reasons))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            reason = self.reasons.get(int(self.codes[row]), "null is not a label")
            raise InputError(f'column "{one_line(name, 40)}": {reason}', where=place(row))


def _lists(column: Any) -> Coded:
    """A column of lists: as columns of their parts if all have one length, or else one by one."""
    pa, pc = _arrow()
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type):
        lengths = pc.unique(pc.list_value_length(column)).to_pylist()
        if len(lengths) == 1 and lengths[0] and not pa.types.is_nested(column.type.value_type):
            flat, width = pc.list_flatten(column), lengths[0]
            part = Coded.of(flat)
            reshaped = part.codes.reshape(-1, width)
            columns = [Coded(np.ascontiguousarray(reshaped[:, n]), part.values, part.reasons) for n in range(width)]
            return Coded.joined(columns)
    table, reasons, codes = Interner(), dict[int, str](), np.full(len(column), -1, np.int32)
    values: list[Value | None] = []
    for row, raw in enumerate(column.to_pylist()):
        if raw is None:
            continue
        try:
            number = table.id(raw)
        except InputError as error:
            number = table.id(("refused", len(values)))
            reasons[number] = str(error)
        if number == len(values):
            values.append(None if number in reasons else table.values[number])
        codes[row] = number
    return Coded(codes, values, reasons)


def reward_column(column: Any, rows: Bools, name: str, decimals: int | None, place: Any) -> Floats:
    """Rewards as floats; only these rows count."""
    pa, pc = _arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(
            f'column "{one_line(name, 40)}" must hold numbers, not {one_line(kind, 40)}', where=place(None)
        )
    nothing = column.is_null().to_numpy(zero_copy_only=False) & rows
    values = pc.fill_null(column.cast(pa.float64(), safe=False), 0.0).to_numpy(zero_copy_only=False)
    for bad, what in ((nothing, "null is not a number"), (rows & ~np.isfinite(values), None)):
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            reason = what or f"{values[row]} is not finite; rewards must be"
            raise InputError(f'column "{one_line(name, 40)}": {reason}', where=place(row))
    if decimals is not None:
        distinct, inverse = np.unique(values, return_inverse=True)
        values = np.array([round(float(value), decimals) for value in distinct])[inverse]
    return np.asarray(values, np.float64)


def flag_column(column: Any, rows: Bools, name: str, place: Any) -> Bools:
    """True or false for each row, or 1 and 0; nothing is false where a row is not among these."""
    coded = Coded.of(column)
    meaning = np.zeros(len(coded.values) + 1, np.int8)  # the last one for rows without a value
    for number, value in enumerate(coded.values):
        text = value.strip().lower() if isinstance(value, str) else value
        meaning[number] = 1 if text in (1, True, "true", "1") else 0 if text in (0, False, "false", "0") else -1
    flags = meaning[coded.codes]
    bad = (flags < 0) | (rows & (coded.codes < 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        number = int(coded.codes[row])
        shown = "null" if number < 0 else one_line(coded.values[number], 40)
        raise InputError(f'column "{one_line(name, 40)}": {shown} is not true/false or 1/0', where=place(row))
    return np.asarray(flags > 0)


def _arrow() -> tuple[Any, Any]:
    what = "reading data frames and Parquet"
    return load("pyarrow", what, "data"), load("pyarrow.compute", what, "data")
