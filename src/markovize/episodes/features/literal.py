"""A literal, the smallest thing a guard says: that a feature has a value, or is on one side of a threshold."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, total_ordering
from typing import Any, Final, TypeAlias
from typing import Literal as OneOf

from markovize.episodes.brief import BriefRepr
from markovize.episodes.features.feature import Kind
from markovize.episodes.features.numbers import number_in_gap
from markovize.episodes.values import Value, canonical, jsonable, key_of, show, sort_key
from markovize.errors import InputError, MachineError, one_line

Relation: TypeAlias = OneOf["is", "at_least", "below"]
RELATIONS: Final[tuple[Relation, ...]] = ("is", "at_least", "below")
KIND_OF: Final[Mapping[str, Kind]] = {"is": "categorical", "at_least": "numeric", "below": "numeric"}
_SHOWN: Final = 40  # characters of a name or a value


@total_ordering
@dataclass(frozen=True, eq=False)
class Literal(BriefRepr):
    """``feature`` = value, ≥ value or < value. A threshold's ``gap`` is where it could lie as well, for all one knows.

    Two literals are equal if they hold at the same steps: the gap does not count.

    >>> Literal("here", "is", "coffee").text(), Literal("x", "at_least", 7.004, (6.9, 7.1)).text()
    ('here = coffee', 'x ≥ 7')
    >>> Literal("x", "below", 9).holds(8.5), Literal("lit", "is", True).holds(1)
    (True, False)
    """

    feature: str
    relation: Relation
    value: Value
    gap: tuple[float, float] | None = field(default=None)

    def __post_init__(self) -> None:
        if not isinstance(self.feature, str) or not self.feature:
            raise MachineError(f"a literal names its feature by a text, not {one_line(repr(self.feature), _SHOWN)}")
        if self.relation not in RELATIONS:
            known = ", ".join(RELATIONS)
            raise self._refused(f"its relation is one of {known}, not {one_line(repr(self.relation), _SHOWN)}")
        object.__setattr__(self, "value", self._scalar(self.value))
        if self.relation == "is":
            if self.gap is not None:
                raise self._refused('"is" has no gap')
            return
        threshold = number_of(self.value)
        if threshold is None:
            shown = one_line(show(self.value), _SHOWN)
            raise self._refused(f'"{self.relation}" needs a finite number, not {shown}')
        object.__setattr__(self, "value", threshold)
        if self.gap is not None:
            object.__setattr__(self, "gap", self._checked_gap(self.gap, threshold))

    # --- what it says --------------------------------------------------------------------------------------------

    def holds(self, value: Value) -> bool:
        """Whether it is true of this value of its feature."""
        if self.relation == "is":
            return key_of(value) == self._value_key
        number, threshold = number_of(value), self.threshold
        if number is None:
            shown = one_line(show(value), _SHOWN)
            raise InputError(f"the feature {one_line(self.feature, _SHOWN)} is numeric, and {shown} is no number")
        return number >= threshold if self.relation == "at_least" else number < threshold

    @property
    def threshold(self) -> float:
        """The number that a numeric literal compares with."""
        assert isinstance(self.value, float)
        return self.value

    def text(self) -> str:
        """For people; a threshold with as few digits as its gap allows."""
        sign = {"is": "=", "at_least": "≥", "below": "<"}[self.relation]
        return f"{one_line(self.feature, _SHOWN)} {sign} {self.value_text()}"

    def value_text(self) -> str:
        """Its value or threshold, for people."""
        if self.relation == "is":
            return one_line(show(self.value), _SHOWN)
        return number_in_gap(self.threshold, self.gap)

    def __str__(self) -> str:
        return self.text()

    # --- equality and order: the gap is what the data leave open, not what the literal says -----------------------

    @cached_property
    def _value_key(self) -> Hashable:
        return key_of(self.value)

    def __iter__(self) -> Iterator[Value]:
        """What values are sorted by."""
        return iter((self.feature, self.relation, self.value))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        mine, others = (self.feature, self.relation), (other.feature, other.relation)
        return mine == others and self._value_key == other._value_key

    def __hash__(self) -> int:
        return hash((self.feature, self.relation, self._value_key))

    def __lt__(self, other: Literal) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[Any, ...]:
        return self.feature, RELATIONS.index(self.relation), sort_key(self.value)

    # --- files ---------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """As machine files hold it.

        >>> Literal("x", "at_least", 7, (6.98, 7.03)).to_json()
        {'feature': 'x', 'at_least': 7.0, 'gap': [6.98, 7.03]}
        """
        out = {"feature": self.feature, self.relation: jsonable(self.value)}
        return out if self.gap is None else out | {"gap": list(self.gap)}

    @classmethod
    def from_json(cls, raw: object) -> Literal:
        """Reads what :meth:`to_json` wrote.

        >>> Literal.from_json({"feature": "x", "below": 3, "at_least": 1})
        Traceback (most recent call last):
        markovize.errors.MachineError: a literal has one of is, at_least, below; this on x has at_least, below
        """
        if not isinstance(raw, dict):
            raise MachineError(f"a literal is a JSON object, not {one_line(repr(raw), _SHOWN)}")
        if "feature" not in raw:
            raise MachineError('a literal needs the field "feature"')
        given: list[Relation] = [relation for relation in RELATIONS if relation in raw]
        if len(given) != 1:
            name, has = one_line(raw["feature"], _SHOWN), ", ".join(given) or "none"
            raise MachineError(f"a literal has one of {', '.join(RELATIONS)}; this on {name} has {has}")
        return cls(raw["feature"], given[0], raw[given[0]], raw.get("gap"))

    # --- checks --------------------------------------------------------------------------------------------------

    def _scalar(self, raw: object) -> Value:
        try:
            value = canonical(raw)
        except InputError as error:
            raise self._refused(str(error)) from None
        if isinstance(value, tuple):
            raise self._refused(f"features are numbers, texts, true or false, not {one_line(show(value), _SHOWN)}")
        return value

    def _checked_gap(self, raw: object, threshold: float) -> tuple[float, float]:
        ends = [number_of(end) for end in raw] if isinstance(raw, (list, tuple)) and len(raw) == 2 else []
        if len(ends) != 2 or ends[0] is None or ends[1] is None:
            raise self._refused(f"a gap is a list of two finite numbers, not {one_line(repr(raw), _SHOWN)}")
        if not ends[0] <= threshold <= ends[1]:
            raise self._refused(f"its gap, {ends[0]:g} to {ends[1]:g}, is not around its threshold {threshold:g}")
        return ends[0], ends[1]

    def _refused(self, why: str) -> MachineError:
        return MachineError(f"the literal on {one_line(self.feature, _SHOWN)}: {why}")


def number_of(value: object) -> float | None:
    """A finite number as a float, None for everything else; true is no number.

    >>> number_of(3), number_of(True), number_of("3"), number_of(float("nan"))
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
