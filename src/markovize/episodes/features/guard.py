"""A guard: literals that must all hold, a box in the space of the features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import total_ordering
from itertools import pairwise
from typing import Any, Final

from markovize.episodes.brief import WHOLE
from markovize.episodes.features.feature import Feature
from markovize.episodes.features.literal import KIND_OF, Literal
from markovize.episodes.values import Value
from markovize.errors import InputError, MachineError, one_line

ALWAYS: Final = "always"


@total_ordering
@dataclass(frozen=True)
class Guard:
    """Holds where all its literals do; without any it always holds. Their order does not matter.

    >>> guard = Guard([Literal("y", "below", 3), Literal("x", "at_least", 7), Literal("x", "below", 9)])
    >>> guard.text()
    '7 ≤ x < 9 and y < 3'
    >>> guard.holds({"x": 8, "y": 2.5}), guard.holds({"x": 9, "y": 2.5}), Guard().text()
    (True, False, 'always')
    """

    literals: tuple[Literal, ...] = ()

    def __init__(self, literals: Iterable[Literal] = ()) -> None:
        found = tuple(literals)
        if odd := [literal for literal in found if not isinstance(literal, Literal)]:
            raise MachineError(f"a guard consists of literals, not of {one_line(repr(odd[0]), 40)}")
        object.__setattr__(self, "literals", tuple(sorted(found)))
        for one, other in pairwise(self.literals):
            if one.feature == other.feature:
                _check_pair(one, other)

    # --- what it says --------------------------------------------------------------------------------------------

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether it is true of a step with these values of the features."""
        for literal in self.literals:
            if literal.feature not in values:
                raise InputError(f"the guard needs the feature {one_line(literal.feature, 40)}, which has no value")
            if not literal.holds(values[literal.feature]):
                return False
        return True

    def holds_at(self, values: Sequence[Value], places: Mapping[str, int]) -> bool:
        """The same for values in a row, where the features have these places.

        >>> Guard([Literal("x", "below", 3)]).holds_at((5, 2), {"y": 0, "x": 1})
        True
        """
        return all([literal.holds(values[places[literal.feature]]) for literal in self.literals])

    def text(self) -> str:
        """For people, on one line."""
        return " and ".join(self.clauses()) or ALWAYS

    def clauses(self) -> list[str]:
        """What it says of each feature, for people: both bounds of one feature are one clause.

        >>> Guard([Literal("x", "below", 9), Literal("x", "at_least", 7), Literal("here", "is", "door")]).clauses()
        ['here = door', '7 ≤ x < 9']
        """
        bounds: dict[str, list[Literal]] = {}
        for literal in self.literals:
            bounds.setdefault(literal.feature, []).append(literal)
        return [_clause(literals) for literals in bounds.values()]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Guard({one_line(self.text(), WHOLE)})"

    # --- as a value ----------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Literal]:
        return iter(self.literals)

    def __len__(self) -> int:
        return len(self.literals)

    def __bool__(self) -> bool:
        """A guard is something, also where it has no literals."""
        return True

    def __hash__(self) -> int:
        return hash(self.literals)

    def __lt__(self, other: Guard) -> bool:
        return self.literals < other.literals

    # --- features and files --------------------------------------------------------------------------------------

    def check_features(self, features: Iterable[Feature]) -> None:
        """Raises unless it speaks of these features, and as their kinds allow.

        >>> Guard([Literal("x", "is", 3)]).check_features([Feature("x", "numeric")])
        Traceback (most recent call last):
        markovize.errors.MachineError: "is" is for categorical features, and x is numeric
        """
        kinds = {feature.name: feature.kind for feature in features}
        for literal in self.literals:
            name = one_line(literal.feature, 40)
            if literal.feature not in kinds:
                known = one_line(", ".join(kinds) or "none", 120)
                raise MachineError(f"there is no feature {name}; the features are {known}")
            needed = KIND_OF[literal.relation]
            if kinds[literal.feature] != needed:
                kind = kinds[literal.feature]
                raise MachineError(f'"{literal.relation}" is for {needed} features, and {name} is {kind}')

    def to_json(self) -> list[dict[str, Any]]:
        """As machine files hold it: a list of literals."""
        return [literal.to_json() for literal in self.literals]

    @classmethod
    def from_json(cls, raw: object) -> Guard:
        """Reads what :meth:`to_json` wrote.

        >>> Guard.from_json([{"feature": "here", "is": "coffee"}]).text()
        'here = coffee'
        """
        if not isinstance(raw, list):
            raise MachineError(f"a guard is a list of literals, not {one_line(repr(raw), 40)}")
        return cls([Literal.from_json(literal) for literal in raw])


def _check_pair(one: Literal, other: Literal) -> None:
    """Two literals on one feature: only a lower and an upper bound make sense together."""
    name = one_line(one.feature, 40)
    if one.relation == other.relation:
        raise MachineError(f'a guard has at most one "{one.relation}" on {name}')
    if "is" in (one.relation, other.relation):
        raise MachineError(f'a guard with "is" on {name} needs no other literal on it')
    if one.threshold >= other.threshold:
        raise MachineError(f"no value of {name} is at least {one.threshold:g} and below {other.threshold:g}")


def _clause(literals: Sequence[Literal]) -> str:
    if len(literals) == 1:
        return literals[0].text()
    low, high = literals  # at_least stands before below
    return f"{low.value_text()} ≤ {one_line(low.feature, 40)} < {high.value_text()}"
