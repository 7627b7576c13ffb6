"""Checks that the settings of all agents share: numbers may come from a file or a command line."""

from __future__ import annotations

from typing import Any

from markovize.errors import InputError


def is_number(value: Any) -> bool:
    """Whether it is a number; true and false are none.

    >>> is_number(0.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number.

    >>> is_whole(3), is_whole(3.0)
    (True, False)
    """
    return isinstance(value, int) and not isinstance(value, bool)


def check_share(name: str, value: float | None) -> None:
    """A probability, or a part of something; None where nothing was asked for.

    >>> check_share("epsilon", 1.5)
    Traceback (most recent call last):
    markovize.errors.InputError: epsilon must be between 0 and 1, not 1.5
    """
    if value is not None and not 0 <= value <= 1:  # NaN is not, either
        raise InputError(f"{name} must be between 0 and 1, not {value}")


def check_discount(gamma: float) -> None:
    """With 1, what leads to a reward would be as good now as later, and values need not be finite.

    >>> check_discount(1)
    Traceback (most recent call last):
    markovize.errors.InputError: gamma must be at least 0 and below 1, not 1
    """
    if not 0 <= gamma < 1:
        raise InputError(f"gamma must be at least 0 and below 1, not {gamma}")
