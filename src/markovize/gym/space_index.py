"""Numbers for the elements of a finite space, as tables and one-hot features need them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from gymnasium import spaces

from markovize.episodes.spaces import AnySpace, dtype_of, is_integer, ranges_of, value_of
from markovize.episodes.values import show
from markovize.errors import InputError, UnsupportedError
from markovize.gym.aliases import Observation

MOST_VALUES: Final = 2**63 - 1
MOST_ACTIONS: Final = 10_000


class SpaceIndex:
    """Numbers for the elements of a finite space: 0…size-1, the last coordinate fastest.

    >>> index = SpaceIndex(spaces.MultiDiscrete([3, 4]))
    >>> index.size, index.number([2, 1]), index.element(9)
    (12, 9, array([2, 1]))
    """

    def __init__(self, space: AnySpace) -> None:
        ranges = _all_ranges(space)
        if ranges is None or math.fsum(math.log2(count) for _, count in ranges) >= 63:
            raise UnsupportedError(f"{space} has too many elements to number them")
        self.space = space
        self.size = math.prod(count for _, count in ranges)
        self._ranges = ranges

    def number(self, element: object) -> int:
        """The number of an element."""
        number = 0
        for x, (low, count) in zip(_coordinates(self.space, element), self._ranges, strict=True):
            if not 0 <= x - low < count:
                raise InputError(f"{show(value_of(element))} is not an element of {self.space}")
            number = number * count + int(x) - low
        return number

    def element(self, number: int) -> Observation:
        """The element with this number, as the space's own ``sample`` would give it."""
        if not 0 <= number < self.size:
            raise InputError(f"{number} is not the number of an element of {self.space}, which has {self.size}")
        digits = []
        for low, count in reversed(self._ranges):
            number, digit = divmod(number, count)
            digits.append(low + digit)
        return _assemble(self.space, reversed(digits))


def all_elements(space: AnySpace, most: int = MOST_ACTIONS) -> list[Observation]:
    """Every element of a small space, by number.

    >>> all_elements(spaces.Discrete(3, start=1)), [x.tolist() for x in all_elements(spaces.MultiDiscrete([1, 2]))]
    ([1, 2, 3], [[0, 0], [0, 1]])
    """
    index = SpaceIndex(space)
    if index.size > most:
        raise UnsupportedError(f"{space} has {index.size:,} elements; at most {most:,} can be tried one by one")
    elements = [index.element(number) for number in range(index.size)]
    return [int(element) for element in elements] if isinstance(space, spaces.Discrete) else elements


def _all_ranges(space: AnySpace) -> list[tuple[int, int]] | None:
    if isinstance(space, spaces.Tuple):
        parts = [_all_ranges(part) for part in space.spaces]
        return None if None in parts else [pair for part in parts if part is not None for pair in part]
    return ranges_of(space) if is_integer(space) else None


def _coordinates(space: AnySpace, element: object) -> Sequence[int]:
    if isinstance(space, spaces.Discrete):
        if isinstance(element, (int, np.integer)):
            return (int(element),)
    elif isinstance(space, spaces.Tuple):
        if isinstance(element, (tuple, list)) and len(element) == len(space.spaces):
            return [x for part, item in zip(space.spaces, element, strict=True) for x in _coordinates(part, item)]
    else:
        array = np.asarray(element)
        if array.shape == space.shape and array.dtype.kind in "iub":
            return list(array.ravel().tolist())
    raise InputError(f"{show(value_of(element))} is not an element of {space}")


def _assemble(space: AnySpace, digits: Iterator[int]) -> Observation:
    if isinstance(space, spaces.Tuple):
        return tuple(_assemble(part, digits) for part in space.spaces)
    if isinstance(space, spaces.Discrete):
        return dtype_of(space).type(next(digits))
    shape = space.shape or ()
    return np.array([next(digits) for _ in range(math.prod(shape))], space.dtype).reshape(shape)
