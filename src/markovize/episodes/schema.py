"""What a JSON object must hold, said as a type: msgspec checks it, and its errors get our words and the value.

>>> class Point(msgspec.Struct):
...     x: int
...     name: str = ""
>>> fit({"x": 3, "more": "is ignored"}, Point, "a point")
Point(x=3, name='')
>>> fit({"x": True}, Point, "a point")
Traceback (most recent call last):
markovize.errors.InputError: "x" must be a whole number, not true

Only the types are checked here: true is no number, 1.0 is no whole number, and null is nothing but null. The text
itself is read by :mod:`markovize.episodes.strict_json` and not by msgspec, which takes the last of two equal
keys, refuses strings with half a surrogate pair, and does not know the line of an error.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec

from markovize.errors import InputError, one_line

T = TypeVar("T")

_EXPECTED: Final = re.compile(r"Expected `([^`]+)`(?: of (?:at least )?length (\d+))?, got `?(\w+)`?")
_FIELD: Final = re.compile(r"Object (missing required|contains unknown) field `([^`]*)`")
_WORDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a string",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def fit(data: Any, kind: type[T], what: str) -> T:
    """The data as this type; an error names the field, what it must be and what it is. ``what`` names the whole."""
    try:
        return msgspec.convert(data, kind)
    except UnicodeEncodeError as error:  # msgspec looks at the names of fields as UTF-8
        raise InputError(f"a field of {what} has half a surrogate pair in its name, {error.object!a}") from None
    except msgspec.ValidationError as error:
        # a float64 of NumPy is a float to Python, but to msgspec only after a way through JSON
        with suppress(msgspec.ValidationError, TypeError, ValueError, RecursionError):
            return msgspec.convert(json.loads(json.dumps(data)), kind)
        reason, _, path = str(error).partition(" - at `$")
        raise InputError(_explain(reason, path.removesuffix("`"), data, what)) from None


def _explain(reason: str, path: str, data: Any, what: str) -> str:
    place, value = _place(path), _value(path, data)
    if found := _FIELD.match(reason):
        before = f"{place}: " if place else ""
        return before + (f'field "{found[2]}" is missing' if "missing" in found[1] else f'unknown field "{found[2]}"')
    if reason == "Number out of range":
        return f"{place or what} is too large for a number"
    if found := _EXPECTED.match(reason):
        expected = " or ".join(_WORDS.get(word, word) for word in found[1].split(" | "))
        if found[2]:
            return f"{place or what} must be {expected} of {found[2]}, not of {found[3]}"
        return f"{place or what} must be {expected}, not {value or _WORDS.get(found[3], found[3])}"
    return f"{place or what}: {one_line(reason, 80)}"  # such as a value that is none of those allowed


def _steps(path: str) -> list[str | int]:
    """``.triggers[0].from`` as its parts; ``...`` stands for a key that msgspec does not tell."""
    return [int(n) if n else name or "..." for name, n in re.findall(r"\.(\w+)|\[(?:(\d+)|\.\.\.)\]", path)]


def _place(path: str) -> str:
    """The way to a field, as messages show it: ``"triggers"[0]: "from"``."""
    out = ""
    for step in _steps(path):
        out += f"[{step}]" if isinstance(step, int) or step == "..." else f'{": " if out else ""}"{step}"'
    return out


def _value(path: str, data: Any) -> str:
    """What stands there, in JSON, if that can be found and shown."""
    try:
        for step in _steps(path):
            data = data[step]
        return one_line(json.dumps(data, ensure_ascii=False), 40)
    except (LookupError, TypeError, ValueError, RecursionError):
        return ""
