"""JSON values as labels: observations, actions and what user functions return.

Two values are the same label if they are the same JSON value: ``1`` and ``1.0`` are one number, ``true`` is not
``1``, ``null`` is refused. Python's own equality says ``True == 1``, so identity goes through :func:`key_of`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from markovize.episodes.record import Record
from markovize.errors import InputError

if TYPE_CHECKING:
    from markovize.episodes.features.guard import Guard

Scalar: TypeAlias = bool | int | float | str
Value: TypeAlias = "Scalar | tuple[Value, ...]"
On: TypeAlias = "Value | Guard"
"""What a trigger stands on: a label, or, in machines with guards, a guard, which is its own key and its own text."""

MAX_DEPTH: Final = 32
_EXACT: Final = 2**53
_PLAIN: Final = frozenset({int, str, bool})  # types that are canonical as they are
_KEYS: Final = frozenset({int, float, str})  # types that are keys as they are


class _Flag:
    """Marks a boolean inside a key, so that true and 1 differ."""


def _nested(cells: list[Any], depth: int) -> tuple[Any, ...]:
    return tuple(cells) if depth == 1 else tuple([_nested(inner, depth - 1) for inner in cells])


def canonical(raw: Any, *, depth: int = 0, objects: bool = False) -> Value:
    """The frozen, normalised form of a JSON value (lists become tuples, whole floats become integers).

    NumPy scalars and arrays are accepted; null, NaN and infinities are not. Objects are no labels: only observations
    may be such, and become a :class:`Record`.

    >>> canonical([1.0, [True, "a"]])
    (1, (True, 'a'))
    >>> canonical(float("nan"))
    Traceback (most recent call last):
    markovize.errors.InputError: nan is not a finite number
    >>> canonical({"at": [1, 2]}, objects=True)
    {'at': (1, 2)}
    """
    kind = type(raw)
    if kind is int or kind is str or kind is bool:
        return raw  # type: ignore[no-any-return]
    if kind is tuple and _PLAIN.issuperset(map(type, raw)):  # most labels are: no need to look further
        return raw  # type: ignore[no-any-return]
    if kind is list or kind is tuple:
        if depth >= MAX_DEPTH:
            raise InputError(f"nested deeper than {MAX_DEPTH} lists")
        return tuple([canonical(item, depth=depth + 1, objects=objects) for item in raw])
    if isinstance(raw, (float, np.floating)):
        number = float(raw)
        if not math.isfinite(number):
            raise InputError(f"{number} is not a finite number")
        return int(number) if number.is_integer() and abs(number) <= _EXACT else number
    if kind is np.ndarray and raw.dtype.kind in "iu" and raw.ndim:
        return _nested(raw.tolist(), raw.ndim)  # cells of grids and pixels: many, and nothing can be wrong with them
    if isinstance(raw, (np.ndarray, np.generic)) and not isinstance(raw, np.complexfloating):
        return canonical(raw.tolist(), depth=depth)
    if objects and isinstance(raw, Record):
        return raw
    if objects and isinstance(raw, Mapping):
        return _record(raw, depth)
    if isinstance(raw, (list, tuple)) and kind is not Record:  # named tuples and the like
        return canonical(tuple(raw), depth=depth, objects=objects)
    if isinstance(raw, (set, frozenset)):
        members = canonical(tuple(raw), depth=depth)
        assert isinstance(members, tuple)
        return tuple(sorted(members, key=sort_key))
    if isinstance(raw, int):
        return int(raw)
    if isinstance(raw, str):
        return str.__str__(raw)  # an enum's text, not its name
    if raw is None:
        raise InputError("null is not a label; use a number, a string, true/false or a list of them")
    what = "an object" if kind is Record else f"a {kind.__name__}"
    raise InputError(f"{what} is not a label; use a number, a string, true/false or a list of them")


def _record(raw: Mapping[Any, Any], depth: int) -> Record:
    if depth >= MAX_DEPTH:
        raise InputError(f"nested deeper than {MAX_DEPTH} lists")
    if odd := [name for name in raw if not isinstance(name, str)]:
        raise InputError(f"the names of an object are strings, not {odd[0]!r}")
    return Record({str(name): canonical(value, depth=depth + 1, objects=True) for name, value in raw.items()})


def has_objects(value: Value) -> bool:
    """Whether it is an object, or holds one.

    >>> has_objects(Record({"at": 3})), has_objects((1, Record({}))), has_objects((1, 2))
    (True, True, False)
    """
    return isinstance(value, tuple) and (isinstance(value, Record) or any([has_objects(item) for item in value]))


def key_of(value: On) -> Hashable:
    """A hashable key that is equal exactly for equal JSON values.

    >>> key_of(True) == key_of(1), key_of((1, 2)) == key_of((1.0, 2))
    (False, True)
    """
    if isinstance(value, bool):
        return (_Flag, value)
    if isinstance(value, tuple):
        if type(value) is Record:
            return (Record, *[(name, key_of(part)) for name, part in value.items()])
        return value if _KEYS.issuperset(map(type, value)) else tuple([key_of(item) for item in value])
    return value


def sort_key(value: On) -> tuple[Any, ...]:
    """Orders any mixture of values: booleans, numbers, strings, lists.

    >>> sorted([(2, 1), "b", 3, True, (1, 5)], key=sort_key)
    [True, 3, 'b', (1, 5), (2, 1)]
    """
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, (int, float)):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    parts: Iterable[Any] = value  # of a guard its literals, of these what they say
    return (3, [sort_key(item) for item in parts])


def jsonable(value: On) -> Any:
    """The value with tuples turned back into lists, ready for :mod:`json`.

    >>> jsonable((1, (2, "x")))
    [1, [2, 'x']]
    """
    if isinstance(value, Record):
        return {name: jsonable(part) for name, part in value.items()}
    return [jsonable(item) for item in value] if isinstance(value, tuple) else value


def show(value: On) -> str:
    """The value as people write it.

    >>> show((1, 1)), show("door"), show(True)
    ('(1, 1)', 'door', 'true')
    """
    if isinstance(value, Record):
        return "{" + ", ".join(f"{name}: {show(part)}" for name, part in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(show(item) for item in value) + ")"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Interner:
    """Gives equal values equal small integers, in order of first appearance.

    >>> table = Interner()
    >>> table.ids([[0, 1], [0, 1.0], True, 1]), table.values
    ([0, 0, 1, 2], [(0, 1), True, 1])
    """

    def __init__(self, values: Iterable[Value] = (), *, objects: bool = False) -> None:
        self.objects = objects  # whether values may be objects, as observations may
        self.values: list[Value] = []
        self._ids: dict[Hashable, int] = {}
        for value in values:
            self.id(value)

    def __len__(self) -> int:
        return len(self.values)

    def id(self, raw: Any) -> int:
        """The number of one value."""
        value = canonical(raw, objects=self.objects)
        key = key_of(value)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self.values)
            self.values.append(value)
        return found

    def find(self, value: On) -> int | None:
        """The number of a canonical value, or None if it was never seen."""
        return self._ids.get(key_of(value))

    def ids(self, raws: Sequence[Any]) -> list[int]:
        """The numbers of many values; integers, strings and lists of integers, the common cases, take a short cut."""
        out: list[int] = []
        known = self._ids
        for raw in raws:
            kind = type(raw)
            if kind is int or kind is str:  # their own keys
                found = known.get(raw)
                if found is not None:
                    out.append(found)
                    continue
            elif (kind is list or kind is tuple) and all([type(item) is int for item in raw]):
                found = known.get(tuple(raw))
                if found is not None:
                    out.append(found)
                    continue
            out.append(self.id(raw))
        return out
