"""The compiled loop, one step at a time, for environments that only Python can step.

A call from Python to compiled code pays for every array that it passes, here more than 30 of them: ten times what the
step itself takes. So a *handle* is passed instead, one small array with the address and the shape of each array, and
compiled code finds the mind behind it. It also finds the random generator, since a draw in Python takes as long as a
step. The functions here do that and nothing else: what happens in a step stands in
:mod:`markovize.agents.tabular.loop` alone.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from markovize.agents.tabular import loop
from markovize.agents.tabular.tables import Beliefs, Mind, Model, Pool, Record, Rules, Way
from markovize.episodes.traces import Bools, Floats, Ints, Longs

DIMENSIONS = 3  # of an array, at most
KINDS = {"Ints": np.int32, "Longs": np.int64, "Floats": np.float64, "Bools": np.bool_}


class Handle:
    """A mind and a random generator, for the functions below, and kept alive for them.

    ``rows`` has a row for each array of the mind, in the order of the tables: the address, then the shape. The last row
    has the address of the function that draws, and of the generator's state.
    """

    def __init__(self, mind: Mind, rng: np.random.Generator) -> None:
        arrays: list[npt.NDArray[Any]] = [array for part in mind for array in part]
        said = [kind for part in mind for kind in type(part).__annotations__.values()]
        names = [str(getattr(kind, "__forward_arg__", kind)) for kind in said]
        fit = [array.flags.carray and array.dtype == KINDS[name] for array, name in zip(arrays, names, strict=True)]
        if not all(fit):  # contiguous, aligned, writeable
            raise ValueError("the arrays of a mind must be contiguous, writeable and of the kinds that its tables say")
        self.mind, self.rng = mind, rng
        self.rows: Longs = np.zeros((len(arrays) + 1, 1 + DIMENSIONS), np.int64)
        for row, array in zip(self.rows[:-1], arrays, strict=True):
            row[0] = array.ctypes.data
            row[1 : 1 + array.ndim] = array.shape
        generator = rng.bit_generator.ctypes
        self.rows[-1, 0] = ctypes.cast(generator.next_double, ctypes.c_void_p).value or 0
        self.rows[-1, 1] = generator.state_address


def numbers(rules: Rules) -> Floats:
    """Rules as the functions below want them."""
    return np.array(rules, np.float64)


# --- from addresses to arrays --------------------------------------------------------------------------------------


def _pointer_to(kind: Any) -> Any:
    """A compiled cast from an address to a pointer."""

    def pointer(_: Any, address: Any) -> Any:
        def cast(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(address), cast  # type: ignore[no-untyped-call]

    return intrinsic(pointer)


def _call(_: Any, function: Any, state: Any) -> Any:
    """A compiled call of a generator's function, given its address."""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double, pointer = context.get_value_type(signature.return_type), context.get_value_type(types.voidptr)
        draw = builder.inttoptr(arguments[0], ir.FunctionType(double, [pointer]).as_pointer())
        return builder.call(draw, [builder.inttoptr(arguments[1], pointer)])

    return types.float64(function, state), call


_next_double: Any = intrinsic(_call)
_ints, _longs = _pointer_to(types.int32), _pointer_to(types.int64)
_floats, _bools = _pointer_to(types.float64), _pointer_to(types.boolean)


@njit(cache=True)
def _beliefs(rows: Longs) -> Beliefs:
    return Beliefs(
        _ints1(rows[0]),
        _ints1(rows[1]),
        _ints1(rows[2]),
        _ints1(rows[3]),
        _ints1(rows[4]),
        _ints2(rows[5]),
        _floats1(rows[6]),
        _floats3(rows[7]),
        _bools3(rows[8]),
        _ints3(rows[9]),
        _ints3(rows[10]),
        _longs2(rows[11]),
        _floats3(rows[12]),
    )


@njit(cache=True)
def _model(rows: Longs) -> Model:
    return Model(_longs1(rows[13]), _ints2(rows[14]), _ints1(rows[15]), _bools1(rows[16]))


@njit(cache=True)
def _way(rows: Longs) -> Way:
    return Way(
        _ints1(rows[17]),
        _ints1(rows[18]),
        _ints1(rows[19]),
        _ints1(rows[20]),
        _ints1(rows[21]),
        _floats1(rows[22]),
        _ints1(rows[23]),
    )


@njit(cache=True)
def _pool(rows: Longs) -> Pool:
    return Pool(
        _ints2(rows[24]),
        _floats2(rows[25]),
        _ints1(rows[26]),
        _bools1(rows[27]),
        _bools1(rows[28]),
        _ints1(rows[29]),
        _ints1(rows[30]),
        _ints1(rows[31]),
    )


@njit(cache=True)
def _record(rows: Longs) -> Record:
    return Record(_ints1(rows[32]), _floats1(rows[33]), _ints1(rows[34]), _ints1(rows[35]), _ints1(rows[36]))


@njit(cache=True)
def _draw(rows: Longs) -> float:
    return float(_next_double(rows[-1, 0], rows[-1, 1]))


@njit(cache=True)
def _rules(numbers: Floats) -> Rules:
    return Rules(
        numbers[0] != 0,
        numbers[1],
        int(numbers[2]),
        numbers[3],
        numbers[4],
        numbers[5] != 0,
        numbers[6] != 0,
        numbers[7] != 0,
    )


@njit(cache=True)
def _ints1(row: Longs) -> Ints:
    return carray(_ints(row[0]), (row[1],))


@njit(cache=True)
def _ints2(row: Longs) -> Ints:
    return carray(_ints(row[0]), (row[1], row[2]))


@njit(cache=True)
def _ints3(row: Longs) -> Ints:
    return carray(_ints(row[0]), (row[1], row[2], row[3]))


@njit(cache=True)
def _longs1(row: Longs) -> Longs:
    return carray(_longs(row[0]), (row[1],))


@njit(cache=True)
def _longs2(row: Longs) -> Longs:
    return carray(_longs(row[0]), (row[1], row[2]))


@njit(cache=True)
def _floats1(row: Longs) -> Floats:
    return carray(_floats(row[0]), (row[1],))


@njit(cache=True)
def _floats2(row: Longs) -> Floats:
    return carray(_floats(row[0]), (row[1], row[2]))


@njit(cache=True)
def _floats3(row: Longs) -> Floats:
    return carray(_floats(row[0]), (row[1], row[2], row[3]))


@njit(cache=True)
def _bools1(row: Longs) -> Bools:
    return carray(_bools(row[0]), (row[1],))


@njit(cache=True)
def _bools3(row: Longs) -> Bools:
    return carray(_bools(row[0]), (row[1], row[2], row[3]))


# --- the pieces of the loop ----------------------------------------------------------------------------------------


@njit(cache=True)
def begin(rows: Longs, numbers: Floats, s: int) -> tuple[int, int]:
    """As :func:`markovize.agents.tabular.loop.begin`, with a draw."""
    return loop.begin(_beliefs(rows), _way(rows), _record(rows), _rules(numbers), s, _draw(rows))


@njit(cache=True)
def act(rows: Longs, numbers: Floats, n: int, explored: int, u: int, s: int) -> int:
    """As :func:`markovize.agents.tabular.loop.act`, with two draws."""
    beliefs, model, way, rules = _beliefs(rows), _model(rows), _way(rows), _rules(numbers)
    first, second = _draw(rows), _draw(rows)
    return loop.act(beliefs, model, way, rules, n, explored, u, s, first, second)


@njit(cache=True)
def absorb(rows: Longs, numbers: Floats, n: int, u: int, x: int, reward: float, end: bool) -> int:
    """As :func:`markovize.agents.tabular.loop.absorb`."""
    beliefs, model, record = _beliefs(rows), _model(rows), _record(rows)
    return loop.absorb(beliefs, model, record, _rules(numbers), n, u, x, reward, end)


@njit(cache=True)
def conclude(rows: Longs, numbers: Floats) -> int:
    """As :func:`markovize.agents.tabular.loop.conclude`."""
    mind = Mind(_beliefs(rows), _model(rows), _way(rows), _pool(rows), _record(rows))
    return loop.conclude(mind, _rules(numbers))
