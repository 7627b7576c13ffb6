"""The features of all steps in columns: what engines search in, and what machines with guards are run on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from markovize.episodes.brief import BriefRepr
from markovize.episodes.columns import Bools, Floats, Ints, Longs
from markovize.episodes.features.feature import Feature
from markovize.episodes.features.guard import Guard
from markovize.episodes.features.literal import Literal
from markovize.episodes.values import Value, canonical, key_of
from markovize.errors import InputError, one_line

Column: TypeAlias = Floats | Ints


@dataclass(frozen=True, eq=False)
class FeatureTable(BriefRepr):
    """A column for each feature, with an entry for each step: numbers, or the codes of a categorical feature's values.

    ``values[f][code]`` is what a code of the categorical feature ``f`` stands for, in ascending order; a numeric
    feature has no codes, and its entry is empty. ``constant`` names the features that were left out because they have
    the same value at every step, ``mixed`` those with numbers and other values, and an example of either.

    >>> table = FeatureTable((Feature("here", "categorical"),), (np.array([1, 0], np.int32),), (("door", "key"),))
    >>> table.steps, table.row(0), table.holds(Guard([Literal("here", "is", "key")])).tolist()
    (2, ('key',), [True, False])
    """

    features: tuple[Feature, ...]
    columns: tuple[Column, ...] = field(repr=False)
    values: tuple[tuple[Value, ...], ...] = field(repr=False)
    constant: tuple[str, ...] = ()
    mixed: tuple[tuple[str, Value, Value], ...] = ()

    @property
    def steps(self) -> int:
        """How many steps there are; 0 if there are no features."""
        return len(self.columns[0]) if self.columns else 0

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each feature stands, by its name."""
        return {feature.name: place for place, feature in enumerate(self.features)}

    def place(self, name: str) -> int:
        """Where a feature stands."""
        if name not in self.places:
            raise unknown_feature(name, self.places)
        return self.places[name]

    def column(self, name: str) -> Column:
        """The column of a feature."""
        return self.columns[self.place(name)]

    def code(self, place: int, value: Value) -> int:
        """The code of a categorical feature's value; -1 if no step has it."""
        return self._codes[place].get(key_of(canonical(value)), -1)

    def row(self, step: int) -> tuple[Value, ...]:
        """The values of all features at one step."""
        return tuple(
            canonical(float(column[step])) if feature.numeric else values[int(column[step])]
            for feature, column, values in zip(self.features, self.columns, self.values, strict=True)
        )

    def select(self, names: Iterable[str]) -> FeatureTable:
        """Only these features, in this order."""
        names = tuple(names)
        places = [self.place(name) for name in names]
        return FeatureTable(
            tuple(self.features[place] for place in places),
            tuple(self.columns[place] for place in places),
            tuple(self.values[place] for place in places),
            self.constant,
            tuple(found for found in self.mixed if found[0] in names),
        )

    def holds(self, guard: Guard) -> Bools:
        """For each step, whether the guard holds."""
        out = np.ones(self.steps, np.bool_)
        for literal in guard.literals:
            out &= self.holds_literal(literal)
        return out

    def holds_literal(self, literal: Literal) -> Bools:
        """For each step, whether the literal holds."""
        place = self.place(literal.feature)
        column: Column = self.columns[place]
        if literal.relation == "is":
            return np.equal(column, self.code(place, literal.value))
        if literal.relation == "at_least":
            return np.greater_equal(column, literal.threshold)
        return np.less(column, literal.threshold)

    def distinct(self) -> tuple[Ints, Longs]:
        """A number for each step, equal for equal rows and by first appearance; and for each number its first step.

        >>> table = FeatureTable((Feature("x", "numeric"),), (np.array([2.0, 1.0, 2.0]),), ((),))
        >>> [part.tolist() for part in table.distinct()]
        [[0, 1, 0], [0, 1]]
        """
        ids: Longs = np.zeros(self.steps, np.int64)
        for column in self.columns:
            codes = np.unique(column, return_inverse=True)[1]
            width = int(codes.max(initial=0)) + 1
            ids = np.unique(ids * width + codes, return_inverse=True)[1]
        _, first, codes = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return rank[codes], first[order]

    @cached_property
    def _codes(self) -> list[dict[object, int]]:
        return [{key_of(value): code for code, value in enumerate(values)} for values in self.values]


def unknown_feature(name: str, known: Iterable[str]) -> InputError:
    """What to say where a name is no feature's."""
    names: Sequence[str] = sorted(known)
    listed = one_line(", ".join(names) or "none", 200)
    return InputError(f"there is no feature {one_line(name, 60)}; the features are {listed}")
