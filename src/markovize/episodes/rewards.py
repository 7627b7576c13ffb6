"""Rewards as environments pay them."""

from __future__ import annotations

from math import isfinite
from typing import Any

from markovize.errors import InputError, one_line


def reward_number(reward: Any, step: int) -> float:
    """What an environment paid, as a number.

    >>> reward_number(1, 0)
    1.0
    >>> reward_number([1.0], 3)
    Traceback (most recent call last):
    markovize.errors.InputError: the environment paid [1.0] in step 3 of an episode; rewards are numbers
    """
    try:
        paid = float(reward)
    except (TypeError, ValueError):
        shown = one_line(repr(reward), 60)
        raise InputError(f"the environment paid {shown} in step {step} of an episode; rewards are numbers") from None
    if not isfinite(paid):
        raise InputError(f"the environment paid {paid} in step {step} of an episode; rewards must be finite")
    return paid
