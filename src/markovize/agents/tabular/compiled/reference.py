"""How compiled code finds an agent: by the addresses of its arrays.

A call from Python pays for every array that it passes; for the forty of an agent that is ten times what a step takes.
So one small array is passed instead, the *reference*: a field for each array, with its address and its shape. Compiled
code turns it into :class:`AgentArrays` wherever it needs some of them, which costs a few loads from memory. Which
fields there are follows from the declarations in :mod:`arrays`. They are part of the reference's type, so that code
compiled for other declarations is never found in numba's cache.

Two functions here are written for the compiler, since numba has no words for what they do. Without a compiler their
plain twins do the same.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias, cast

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, njit, types
from numba.np import arrayobj

from markovize.agents.tabular.compiled.allocation import Declared, declared, groups, new_arrays
from markovize.agents.tabular.compiled.arrays import AgentArrays, Sizes

_numba: Any = numba  # whose types are not all told
_numba_intrinsic: Any = extending.intrinsic
_populate_array: Any = arrayobj.populate_array
AgentRef: TypeAlias = npt.NDArray[np.void]
NextDouble = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)


def _every_array() -> Iterator[tuple[str, Declared]]:
    for kind in groups():
        for array in declared(kind):
            yield f"{kind.__name__}.{array.name} {array.dtype}", array


WORDS = np.dtype([(name, np.int64, 1 + len(array.table.axes)) for name, array in _every_array()])


def refer_to(arrays: AgentArrays) -> AgentRef:
    """A reference, which is good as long as the arrays are there and none of them is replaced.

    >>> arrays = new_arrays(Sizes(2, 3, 4, 5, 6, 7, 8, 9))
    >>> refer_to(arrays)[0]["Values.q float64"].tolist() == [arrays.values.q.ctypes.data, 2, 3, 4]
    True
    """
    reference = np.zeros(1, WORDS)
    every: list[npt.NDArray[Any]] = [array for group in arrays for array in cast(Any, group)]
    for (name, declaration), array in zip(_every_array(), every, strict=True):
        if not array.flags.carray or array.dtype != declaration.dtype:
            raise ValueError(f"{name} must be contiguous and writeable, and of this type, not {array.dtype}")
        reference[0][name] = (array.ctypes.data, *array.shape)
    return reference


def set_generator(arrays: AgentArrays, rng: np.random.Generator) -> None:
    """From now on compiled code draws from this generator."""
    functions, record = rng.bit_generator.ctypes, arrays.control.generator[0]
    record.next_double = ctypes.cast(functions.next_double, ctypes.c_void_p).value or 0
    record.state = functions.state_address


# --- without a compiler --------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _arrays_of(words: bytes) -> AgentArrays:
    reference = np.frombuffer(words, WORDS)[0]
    found: dict[type, list[npt.NDArray[Any]]] = {kind: [] for kind in groups()}
    for kind, arrays in found.items():
        for array in declared(kind):
            address, *shape = reference[f"{kind.__name__}.{array.name} {array.dtype}"].tolist()
            memory = (ctypes.c_byte * (int(np.prod(shape)) * array.dtype.itemsize)).from_address(address)
            view = np.ndarray(shape, array.dtype, memoryview(memory))
            arrays.append(view.view(np.recarray) if array.dtype.names else view)
    return AgentArrays._make(kind(*arrays) for kind, arrays in found.items())


def arrays_at_plain(agent: AgentRef) -> AgentArrays:
    """The arrays that a reference refers to."""
    return _arrays_of(agent.tobytes())


def call_plain(function: int, state: int) -> float:
    """Calls a generator's function by its address."""
    return float(NextDouble(int(function))(int(state)))


# --- with a compiler -----------------------------------------------------------------------------------------------


def _build_arrays(_: Any, agent: Any) -> Any:
    """Reads address and shape of one array after the other, and makes a tuple of tuples of arrays of them."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = context.get_value_type(types.int64)
        data = context.make_array(agent)(context, builder, arguments[0]).data
        place = builder.bitcast(data, word.as_pointer())

        def read() -> Any:
            nonlocal place
            value = builder.load(place)
            place = builder.gep(place, [ir.Constant(word, 1)])
            return value

        def make(kind: Any) -> Any:
            if not isinstance(kind, types.Array):
                return context.make_tuple(builder, kind, [make(part) for part in kind])
            array = context.make_array(kind)(context, builder)
            size = stride = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
            address, shape = read(), [read() for _ in range(kind.ndim)]
            strides: list[Any] = []
            for length in reversed(shape):
                strides.insert(0, stride)
                stride = builder.mul(stride, length)
            pointer = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
            _populate_array(array, data=pointer, shape=shape, strides=strides, itemsize=size, meminfo=None)
            return array._getvalue()

        return make(signature.return_type)

    return _ARRAYS(agent), build


def _call_function(_: Any, function: Any, state: Any) -> Any:
    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double, pointer = context.get_value_type(signature.return_type), context.get_value_type(types.voidptr)
        draw = builder.inttoptr(arguments[0], ir.FunctionType(double, [pointer]).as_pointer())
        return builder.call(draw, [builder.inttoptr(arguments[1], pointer)])

    return types.float64(function, state), call


_ARRAYS: Any = _numba.typeof(new_arrays(Sizes(1, 1, 1, 1, 1, 1, 1, 1)))
_plainly = bool(_numba.config.DISABLE_JIT)
arrays_at: Callable[[AgentRef], AgentArrays] = arrays_at_plain if _plainly else _numba_intrinsic(_build_arrays)
_call: Callable[[int, int], float] = call_plain if _plainly else _numba_intrinsic(_call_function)


@njit(cache=True)
def draw(agent: AgentRef) -> float:
    """A random number between 0 and 1."""
    generator = arrays_at(agent).control.generator[0]
    return float(_call(generator.next_double, generator.state))
