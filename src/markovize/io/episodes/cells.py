"""The cells of a table: what a piece of text means, and whether a value can be written as one."""

from __future__ import annotations

import math
import re
from typing import Final

from markovize.episodes.values import Scalar, Value, canonical, show
from markovize.errors import InputError, UnsupportedError, one_line

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_BOOLEANS: Final = {"true": True, "false": False}
_NOT_FINITE: Final = {"nan", "inf", "infinity"}


def parse_cell(text: str) -> Scalar:
    """A number if it looks like one, true or false, otherwise the text.

    >>> parse_cell("12"), parse_cell("0.5"), parse_cell("TRUE"), parse_cell("door")
    (12, 0.5, True, 'door')
    """
    text = text.strip()
    if not text:
        raise InputError("the cell is empty")
    if _NUMBER.fullmatch(text):
        if len(text) > 1000:
            raise InputError(f"a number of {len(text)} characters is not usable")
        if _INTEGER.fullmatch(text):
            return int(text)
        value = float(text)
        if not math.isfinite(value):
            raise InputError(f"{one_line(text, 40)} is too large for a number")
        scalar = canonical(value)
        assert not isinstance(scalar, tuple)
        return scalar
    lower = text.lower()
    if lower.lstrip("+-") in _NOT_FINITE:
        raise InputError(f"{text} is not a finite number")
    return _BOOLEANS.get(lower, text)


def parse_reward(text: str) -> float:
    """A finite number.

    >>> parse_reward("-1e-3")
    -0.001
    """
    value = parse_cell(text)
    if isinstance(value, (bool, str)):
        raise InputError(f'"{one_line(value, 40)}" is not a number')
    try:
        return float(value)
    except OverflowError:
        raise InputError("the reward is too large for a number") from None


def parse_flag(text: str) -> bool:
    """true/false or 1/0.

    >>> parse_flag("1"), parse_flag("False")
    (True, False)
    """
    lower = text.strip().lower()
    if lower in ("true", "1", "1.0"):
        return True
    if lower in ("false", "0", "0.0"):
        return False
    raise InputError(f'"{one_line(text, 40)}" is not true/false or 1/0')


def cell_of(value: Value) -> str:
    """The text of a scalar, if reading it gives the same value again.

    >>> cell_of(0.5), cell_of(False)
    ('0.5', 'false')
    >>> cell_of("12")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: the string "12" would be read back as something else; use JSONL
    """
    if isinstance(value, tuple):
        raise UnsupportedError(
            f"{one_line(show(value), 40)} is a list within a list; a table has no cell for it; use JSONL"
        )
    text = repr(value) if isinstance(value, float) else show(value)
    if isinstance(value, str):
        try:
            again: Scalar | None = parse_cell(text)
        except InputError:
            again = None
        if again != value or not text.isprintable():
            raise UnsupportedError(
                f'the string "{one_line(value, 40)}" would be read back as something else; use JSONL'
            )
    return text
