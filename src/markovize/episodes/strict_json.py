"""Reads JSON and nothing but JSON; what is wrong is named with its field."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from markovize.episodes.values import MAX_DEPTH
from markovize.errors import InputError


def strict_json(text: str | bytes, *, where: str = "") -> Any:
    """Parses JSON and nothing but JSON: no NaN, no duplicate keys, no absurd numbers or nesting.

    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    markovize.errors.InputError: field "a" appears twice
    """
    try:
        if isinstance(text, bytes):  # as json itself does
            text = text.decode(json.detect_encoding(text), "surrogatepass")
        return json.loads(text.rstrip(), object_pairs_hook=_unique_pairs, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start}); is this a binary file?", where=where) from None
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} (column {error.colno})"
        raise InputError(_field_before(error.doc, error.pos) + problem, where=where) from None
    except RecursionError:
        raise InputError(_field_before(str(text), _DEEP) + "not usable: nested too deeply", where=where) from None
    except InputError as error:
        raise InputError(str(error), where=where) from None
    except ValueError:
        long = re.search(r"\d{4301}", str(text))  # what Python refuses to turn into an integer
        field = _field_before(str(text), long.start() if long else 0)
        raise InputError(f"{field}not usable: a number of thousands of digits", where=where) from None


_DEEP: Final = -1


def _field_before(text: str, position: int) -> str:
    """``field "name": `` for the field of the outermost object that a place is in (``_DEEP``: the deepest nesting)."""
    field, depth, last = "", 0, ""
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}:]', text):
        if position != _DEEP and token.start() >= position:
            break
        sign = token[0]
        if sign in "[{":
            depth += 1
            if position == _DEEP and depth > MAX_DEPTH:
                break
        elif sign in "]}":
            depth -= 1
        elif sign == ":" and depth == 1:
            field = f"field {last[:42]}: "
        elif sign != ":":
            last = sign
    return field


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise InputError(f"field {json.dumps(name[:40])} appears twice")
            seen.add(name)
    return out


def _no_constant(name: str) -> Any:
    raise InputError(f"{name} is not JSON; rewards and labels must be finite numbers")
