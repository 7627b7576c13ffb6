"""Values read from JSON files of trials: what is missing, unknown or of another kind is refused, by name.

By hand: records hold machines, maps and JSON values, which have readers of their own, and every message has to say
what to do, which is to run the trial again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from markovize.errors import InputError

Record = TypeVar("Record")


def names_of(kind: type[Any]) -> list[str]:
    """The fields of a data class."""
    return [f.name for f in fields(kind)]


def check_fields(kind: type[Any], data: Any, what: str) -> dict[str, Any]:
    """The object, if it has exactly the fields of this kind."""
    if not isinstance(data, dict):
        raise InputError(f"{what} is a JSON object, not {type(data).__name__}; run the trial again")
    known = names_of(kind)
    for name in data:
        if name not in known:
            raise InputError(f'{what} has no field "{name}"; it was written by another version: run the trial again')
    for name in known:
        if name not in data and name != "extra":  # younger than the first files
            raise InputError(f'{what} lacks the field "{name}"; it was written by another version: run the trial again')
    return data


def read_numbers(value: Any) -> dict[str, float]:
    """Numbers by name."""
    if not isinstance(value, dict) or not all(type(number) in (int, float) for number in value.values()):
        raise InputError(f'field "extra" must have numbers by name, not {value!r}; run the trial again')
    return value


def read_list(value: Any, name: str) -> list[Any]:
    """A list, whatever is in it."""
    if not isinstance(value, list):
        raise InputError(f'field "{name}" must be a list, not {type(value).__name__}; run the trial again')
    return value


def read_optional(read: Callable[[Any], Record], data: Any) -> Record | None:
    """What was read, or None for null."""
    return None if data is None else read(data)
