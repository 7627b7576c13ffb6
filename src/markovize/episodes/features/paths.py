"""What the scalars within a value are called, and how to find one by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any, Final, TypeVar

from markovize.episodes.record import Record
from markovize.episodes.values import Value, show
from markovize.errors import InputError, one_line

T = TypeVar("T")
STATE: Final = "state"
"""The name of an observation that is a scalar itself."""
ACTION: Final = "action"
BEFORE: Final = "before."
"""What the names of features of s begin with."""
MOST_FEATURES: Final = 1_000  # of an observation; images are more
_SCALARS: Final = frozenset({int, float, str, bool})
_SHOWN: Final = 60


def columns_of(values: Sequence[Any], what: str, name: str = "") -> Iterator[tuple[str, Sequence[Value]]]:
    """The scalars of many values of one shape, column by column, with their names; ``what`` they are is for errors.

    Only loops of the interpreter's own are used: there may be millions of values.

    >>> dict(columns_of([(1, (2, "a")), (3, (4, "b"))], "observations"))
    {'0': [1, 3], '1.0': [2, 4], '1.1': ['a', 'b']}
    >>> list(columns_of([1, (1, 2)], "observations"))
    Traceback (most recent call last):
    markovize.errors.InputError: the observations are not alike: some are scalars, such as 1, and others lists, such \
as (1, 2); features need the same parts in all of them
    """
    types = set(map(type, values))
    if types <= _SCALARS:
        yield name or STATE, values
    elif types == {Record}:
        if len(set(map(len, values))) != 1:
            raise _unlike(values, what, name, "keys")
        for place in range(len(values[0])):
            pairs = list(map(tuple.__getitem__, values, repeat(place)))
            keys = set(map(itemgetter(0), pairs))
            if len(keys) != 1:
                raise _unlike(values, what, name, "keys")
            if not (key := keys.pop()):
                raise InputError(f"a part of the {what} has no name{_where(name)}; features need names")
            yield from columns_of(list(map(itemgetter(1), pairs)), what, join_names(name, key))
    elif types == {tuple}:
        if len(set(map(len, values))) != 1:
            raise _unlike(values, what, name, "lengths")
        for place in range(len(values[0])):
            yield from columns_of(list(map(itemgetter(place), values)), what, join_names(name, str(place)))
    else:
        raise _mixed(values, what, name)


def rename_parts(columns: Sequence[tuple[str, T]], names: Sequence[str]) -> list[tuple[str, T]]:
    """Columns of lists, by the names of the lists' entries in place of their numbers; nothing changes without names.

    >>> rename_parts([("0", [1]), ("1.0", [2]), ("1.1", [3])], ["x", "speed"])
    [('x', [1]), ('speed.0', [2]), ('speed.1', [3])]
    """
    if not names:
        return list(columns)
    parts = [(*name.partition("."), values) for name, values in columns]
    return [(names[int(head)] + dot + rest, values) for head, dot, rest, values in parts]


def count_scalars(value: Value) -> int:
    """How many scalars a value consists of.

    >>> count_scalars((1, (2, 3))), count_scalars("door")
    (3, 1)
    """
    if isinstance(value, Record):
        return sum([count_scalars(part) for _, part in value.items()])
    return sum([count_scalars(part) for part in value]) if isinstance(value, tuple) else 1


def scalar_at(value: Value, name: str) -> Value | None:
    """The scalar that has this name within a value; None if none has.

    >>> scalar_at(Record({"at": (3, 4)}), "at.1"), scalar_at(7, "state"), scalar_at((1, 2), "2")
    (4, 7, None)
    """
    if not isinstance(value, tuple):
        return value if name == STATE else None
    return _within(value, name)


def _within(value: Value, path: str) -> Value | None:
    if not path:
        return None if isinstance(value, tuple) else value
    if isinstance(value, Record):
        for key, part in value.items():  # a key may have dots of its own
            if path == key or path.startswith(key + "."):
                found = _within(part, path[len(key) + 1 :])
                if found is not None:
                    return found
        return None
    head, _, rest = path.partition(".")
    if not isinstance(value, tuple) or not head.isdecimal() or str(int(head)) != head or int(head) >= len(value):
        return None
    return _within(value[int(head)], rest)


def join_names(name: str, part: str) -> str:
    """The name of a part of what has a name, or none.

    >>> join_names("at", "0"), join_names("", "x")
    ('at.0', 'x')
    """
    return f"{name}.{part}" if name else part


def _unlike(values: Sequence[tuple[Value, ...]], what: str, name: str, differ: str) -> InputError:
    first = values[0]
    other = next(value for value in values if _shape(value) != _shape(first))
    return InputError(
        f"the {what} have different {differ}{_where(name)}: {_brief(first)} and {_brief(other)}; "
        "features need the same parts in all of them"
    )


def _shape(value: tuple[Value, ...]) -> object:
    return tuple(value.keys()) if isinstance(value, Record) else len(value)


def _mixed(values: Sequence[Value], what: str, name: str) -> InputError:
    examples: dict[str, Value] = {}
    for value in values:
        kind = "objects" if isinstance(value, Record) else "lists" if isinstance(value, tuple) else "scalars"
        examples.setdefault(kind, value)
    (one, first), (other, second) = list(examples.items())[:2]
    return InputError(
        f"the {what} are not alike{_where(name)}: some are {one}, such as {_brief(first)}, and others {other}, such as "
        f"{_brief(second)}; features need the same parts in all of them"
    )


def _where(name: str) -> str:
    return f" at {one_line(name, _SHOWN)}" if name else ""


def _brief(value: Value) -> str:
    return one_line(show(value), _SHOWN)
