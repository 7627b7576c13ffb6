"""The values of one feature: of which kind they are, and as numbers or codes, each worked out once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from markovize.episodes.columns import Floats, Ints
from markovize.episodes.features.feature import Kind
from markovize.episodes.values import Value, key_of, sort_key
from markovize.errors import InputError, one_line

_NUMBERS: Final = frozenset({int, float})
_OWN_KEYS: Final = (frozenset({int}), frozenset({str}), frozenset({int, float}))  # equal exactly where the values are


@dataclass(frozen=True, eq=False)
class Scalars:
    """A feature's value for each of some distinct things.

    >>> door = Scalars(["key", "door", "key"])
    >>> door.types, door.codes[0].tolist(), door.codes[1]
    ({<class 'str'>}, [1, 0, 1], ('door', 'key'))
    """

    values: Sequence[Value]

    @cached_property
    def types(self) -> set[type]:
        """Of its values."""
        return set(map(type, self.values))

    @property
    def mixed(self) -> tuple[Value, Value] | None:
        """A number and another value, where both are among its values."""
        if not (self.types & _NUMBERS and self.types - _NUMBERS):
            return None
        number, other = (
            next(value for value in self.values if (type(value) in _NUMBERS) == wanted) for wanted in (True, False)
        )
        return number, other

    def numbers(self, name: str) -> Floats:
        """The values as numbers; the name is for errors."""
        if odd := self.types - _NUMBERS:
            example = one_line(repr(next(value for value in self.values if type(value) in odd)), 40)
            raise InputError(f"the feature {one_line(name, 60)} is not numeric: {example} is no number")
        try:
            return self._numbers
        except OverflowError:
            raise InputError(f"the feature {one_line(name, 60)} has numbers that are too large") from None

    @cached_property
    def _numbers(self) -> Floats:
        return np.array(self.values, np.float64)

    @cached_property
    def codes(self) -> tuple[Ints, tuple[Value, ...]]:
        """A code for each value, and what the codes stand for, in ascending order."""
        keys = self.values if self.types in _OWN_KEYS else [key_of(value) for value in self.values]
        distinct = dict(zip(reversed(keys), reversed(self.values), strict=True))
        order = sorted(distinct, key=lambda key: sort_key(distinct[key]))
        codes = {key: code for code, key in enumerate(order)}
        return np.array([codes[key] for key in keys], np.int32), tuple(distinct[key] for key in order)


def kind_of(types: Collection[type]) -> Kind:
    """What a feature with values of these types is.

    >>> kind_of({int, float}), kind_of({int}), kind_of({str, float})
    ('numeric', 'categorical', 'categorical')
    """
    return "numeric" if float in types and _NUMBERS.issuperset(types) else "categorical"
