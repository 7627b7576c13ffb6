"""How far rewards may be from what a machine says: a tolerance, and a number of outliers. None by default."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from math import isfinite
from numbers import Integral, Real
from typing import Final

from markovize.episodes.columns import Floats
from markovize.errors import InputError


@dataclass(frozen=True)
class Allowance:
    """Each (u, reward label, u') has one level; its rewards are within the tolerance of it, but for the outliers.

    Rewards have such a level exactly where the largest and the smallest of them differ by at most twice the tolerance,
    so that is what every part of markovize compares.

    >>> Allowance(tolerance=0.5).fits(1.0, 2.0), Allowance(tolerance=0.4).fits(1.0, 2.0), Allowance().exact
    (True, False, True)
    """

    tolerance: float = 0.0
    outliers: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.tolerance, bool) or not isinstance(self.tolerance, Real):
            raise InputError(f"the tolerance is a number, not {self.tolerance!r}")
        if not isfinite(self.tolerance) or self.tolerance < 0:
            raise InputError(f"the tolerance is a number of at least 0, not {self.tolerance}")
        if isinstance(self.outliers, bool) or not isinstance(self.outliers, Integral) or self.outliers < 0:
            raise InputError(f"the number of outliers is a whole number of at least 0, not {self.outliers!r}")
        object.__setattr__(self, "tolerance", float(self.tolerance))  # NumPy's numbers become Python's
        object.__setattr__(self, "outliers", int(self.outliers))

    @property
    def exact(self) -> bool:
        """Whether nothing is allowed for."""
        return self.tolerance == 0 and self.outliers == 0

    @property
    def width(self) -> float:
        """By how much rewards of one level may differ."""
        return 2.0 * self.tolerance

    def fits(self, one: float, other: float) -> bool:
        """Whether two rewards may have the same level."""
        return abs(one - other) <= self.width


EXACT: Final = Allowance()


def show_tolerance(tolerance: float) -> str:
    """With four digits, rounded up if at all: within a little less, a machine may not explain the rewards.

    >>> show_tolerance(0.1), show_tolerance(0.10231), show_tolerance(0.5 / 3)
    ('0.1', '0.1024', '0.1667')
    """
    shown = f"{tolerance:.4g}"
    if float(shown) < tolerance:
        shown = f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(tolerance)):.4g}"
    return shown


def can_compare(rewards: Floats) -> bool:
    """Whether the difference of the largest and the smallest reward is a number."""
    return not len(rewards) or isfinite(float(rewards.max()) - float(rewards.min()))


def check_spread(rewards: Floats) -> None:
    """Raises where rewards cannot be compared but for being equal.

    >>> import numpy as np
    >>> check_spread(np.array([-1e308, 0.0, 1e308]))
    Traceback (most recent call last):
    ...
    markovize.errors.InputError: rewards from -1e+308 to 1e+308 are too far apart for noise; divide them all by 1e10
    """
    if not can_compare(rewards):
        least, most = float(rewards.min()), float(rewards.max())
        raise InputError(f"rewards from {least} to {most} are too far apart for noise; divide them all by 1e10")
