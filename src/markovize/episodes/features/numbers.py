"""Thresholds in words: no more digits than the data pin down."""

from __future__ import annotations

from typing import Final

MOST_DIGITS: Final = 6


def number_in_gap(value: float, gap: tuple[float, float] | None) -> str:
    """The number with as few digits as keep it within the gap, at most six.

    >>> number_in_gap(7.00412, (6.98, 7.03)), number_in_gap(7.00412, None), number_in_gap(1234567.0, None)
    ('7', '7.00412', '1.23457e+06')
    """
    if gap is not None:
        for digits in range(1, MOST_DIGITS):
            text = f"{value:.{digits}g}"
            if gap[0] < float(text) < gap[1]:
                return plain(text)
    return plain(f"{value:.{MOST_DIGITS}g}")


def plain(text: str) -> str:
    """Without an exponent where that is short, and without the sign of a zero.

    >>> plain("1e+02"), plain("-0"), plain("2.5e-07")
    ('100', '0', '2.5e-07')
    """
    number = float(text)
    if number.is_integer() and abs(number) < 10**MOST_DIGITS:
        return str(int(number))
    return text
