"""Making, enlarging and checking the arrays of an agent, all from their declarations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from markovize.agents.tabular.compiled.arrays import AgentArrays, One, Sizes, Table
from markovize.errors import InputError

Group = TypeVar("Group", bound=tuple[Any, ...])
NUMBERS = {int: np.int64, bool: np.bool_, float: np.float64}


class Declared(NamedTuple):
    """One array of a group."""

    name: str
    dtype: np.dtype[Any]
    table: Table


@cache
def groups() -> tuple[Any, ...]:
    """The groups of an agent's arrays, in order."""
    return tuple(get_type_hints(AgentArrays).values())


@cache
def declared(kind: Any) -> tuple[Declared, ...]:
    """The arrays of a group.

    >>> from markovize.agents.tabular.compiled.arrays import Values
    >>> [(array.name, array.table.axes) for array in declared(Values)]
    [('visits', ('machine_states', 'states')), ('q', ('machine_states', 'states', 'actions'))]
    """
    return tuple(Declared(name, *_read(hint)) for name, hint in get_type_hints(kind, include_extras=True).items())


def _read(hint: Any) -> tuple[np.dtype[Any], Table]:
    if get_origin(hint) is One:  # a record: its fields become those of a structured array
        fields = get_type_hints(get_args(hint)[0])
        return np.dtype([(name, NUMBERS[kind]) for name, kind in fields.items()], align=True), Table(("one",))
    array, table = get_args(hint)
    return np.dtype(get_args(get_args(array)[1])[0]), table


def _shape(table: Table, sizes: Sizes) -> tuple[int, ...]:
    return tuple(1 if axis == "one" else getattr(sizes, axis) for axis in table.axes)


def allocate(kind: type[Group], sizes: Sizes) -> Group:
    """A new group of arrays."""
    return kind(*[_new(array, sizes) for array in declared(kind)])


def _new(array: Declared, sizes: Sizes) -> npt.NDArray[Any]:
    shape = _shape(array.table, sizes)
    if array.dtype.names:
        return np.zeros(shape, array.dtype).view(np.recarray)
    return np.full(shape, array.table.fill, array.dtype)


def enlarge(group: Group, sizes: Sizes) -> Group:
    """The same group at these sizes, none of which may be smaller; arrays that fit already are the same objects."""
    return type(group)(*[_enlarge(old, array, sizes) for old, array in zip(group, declared(type(group)), strict=True)])


def _enlarge(old: npt.NDArray[Any], array: Declared, sizes: Sizes) -> npt.NDArray[Any]:
    if old.shape == _shape(array.table, sizes):
        return old
    new = _new(array, sizes)
    new[tuple(slice(n) for n in old.shape)] = old
    return new


def to_arrays(groups: tuple[Any, ...]) -> dict[str, npt.NDArray[Any]]:
    """Every array of some groups by its full name, such as ``Values.q``."""
    return {f"{type(group).__name__}.{name}": array for group in groups for name, array in group._asdict().items()}


def from_arrays(kind: type[Group], arrays: dict[str, npt.NDArray[Any]], sizes: Sizes) -> Group:
    """The group in a file's arrays: compiled code does not check what it is given, so all is checked here."""
    return kind(*[_checked(f"{kind.__name__}.{array.name}", array, arrays, sizes) for array in declared(kind)])


def _checked(name: str, array: Declared, arrays: dict[str, npt.NDArray[Any]], sizes: Sizes) -> npt.NDArray[Any]:
    for problem in _problems(arrays.get(name), array, sizes):
        raise InputError(f"not a checkpoint of a run: {name} {problem}")
    found = np.ascontiguousarray(arrays[name])
    return found.view(np.recarray) if array.dtype.names else found


def _problems(found: npt.NDArray[Any] | None, array: Declared, sizes: Sizes) -> Iterator[str]:
    shape, below = _shape(array.table, sizes), array.table.below
    if found is None:
        yield "is missing"
    elif found.dtype != array.dtype or found.shape != shape:
        yield f"is {found.dtype} of shape {found.shape}, not {array.dtype} of shape {shape}"
    elif below is not None and found.size:
        least, most = min(0, int(array.table.fill)), getattr(sizes, below)
        if below != "steps":  # lengths may reach it, numbers may not
            most -= 1
        if found.min() < least or found.max() > most:
            yield f"has entries that are not between {least} and {most}"


def sizes_of(arrays: dict[str, npt.NDArray[Any]], steps: int) -> Sizes:
    """The sizes that a file's arrays say they have."""
    try:
        machine_states, states, actions = arrays["Values.q"].shape
        (transitions,), (rows,) = arrays["Model.seen"].shape, arrays["Witnesses.lengths"].shape
        trigger_labels, reward_labels = arrays["Machine.delta"].shape[1], arrays["Rewards.paid"].shape[1]
    except (KeyError, ValueError, IndexError):
        raise InputError("not a checkpoint of a run: its tables are missing or have other shapes") from None
    return Sizes(machine_states, states, actions, transitions, trigger_labels, reward_labels, rows, steps)


def new_arrays(sizes: Sizes) -> AgentArrays:
    """Everything new: nothing is known."""
    arrays = AgentArrays._make(allocate(kind, sizes) for kind in groups())
    add_free_rows(arrays, 0)
    return arrays


def add_free_rows(arrays: AgentArrays, first: int) -> None:
    """Declares the rows from ``first`` on free; among them the first is used first."""
    witnesses = arrays.witnesses
    last, free = len(witnesses.lengths), witnesses.free_rows[0]
    witnesses.free[free.count : free.count + last - first] = np.arange(last - 1, first - 1, -1)
    free.count += last - first
