"""JSON values as labels: what counts as the same label, and what is refused."""

from __future__ import annotations

import json
import math
from collections import namedtuple
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.values import MAX_DEPTH, Interner, canonical, jsonable, key_of, show, sort_key
from markovize.errors import InputError

Point = namedtuple("Point", "x y")


class Colour(str, Enum):  # noqa: UP042 - its str() is not its text
    red = "r"


class Count(IntEnum):
    one = 1


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


SCALARS = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


def same_json(a: Any, b: Any) -> bool:
    """The rule of the design, spelled out: numbers by value, true and false only equal to themselves."""
    if isinstance(a, list) or isinstance(b, list):
        return (
            isinstance(a, list)
            and isinstance(b, list)
            and len(a) == len(b)
            and all(same_json(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    return bool(a == b)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (1.0, 1),
        (-0.0, 0),
        (0.5, 0.5),
        (True, True),
        ("1", "1"),
        ([1.0, [2, "a"]], (1, (2, "a"))),
        ((), ()),
        (2.0**53, 2**53),
        (1e300, 1e300),
        (10**400, 10**400),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.float64(2.0), 2),
        (np.longdouble(2.0), 2),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array(7), 7),
        (np.array([[1, 2], [3, 4]]), ((1, 2), (3, 4))),
        (np.array([1.0, 0.5], np.longdouble), (1, 0.5)),
        (np.array([True, False]), (True, False)),
        (Point(1, [2]), (1, (2,))),
        (Colour.red, "r"),
        (Count.one, 1),
        ({"b", "a"}, ("a", "b")),
        (frozenset({3, True, "x"}), (True, 3, "x")),
    ],
)
def test_canonical_form(raw: Any, expected: Any) -> None:
    value = canonical(raw)
    assert key_of(value) == key_of(expected)
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, "null is not a label"),
        ([1, None], "null is not a label"),
        (math.nan, "nan is not a finite number"),
        (-math.inf, "-inf is not a finite number"),
        (np.float32("inf"), "inf is not a finite number"),
        (np.array([1.0, math.nan]), "nan is not a finite number"),
        ({"x": 1}, "a dict is not a label"),
        (b"raw", "a bytes is not a label"),
        (1j, "a complex is not a label"),
        (np.clongdouble(1), "a clongdouble is not a label"),
        (np.array([1j]), "a complex is not a label"),
        (object(), "a object is not a label"),
        (nested(MAX_DEPTH + 1), "nested deeper than 32 lists"),
        (np.array([None]), "null is not a label"),
    ],
)
def test_what_is_no_label(raw: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        canonical(raw)


def test_depth_limit_counts_every_kind_of_container() -> None:
    assert jsonable(canonical(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    deep: frozenset[Any] = frozenset()
    for _ in range(5_000):
        deep = frozenset([deep])
    with pytest.raises(InputError, match="nested deeper"):
        canonical(deep)


@settings(deadline=None)
@given(VALUES, VALUES)
def test_keys_are_equal_exactly_for_equal_json(a: Any, b: Any) -> None:
    assert (key_of(canonical(a)) == key_of(canonical(b))) == same_json(a, b)


@settings(deadline=None)
@given(VALUES)
def test_canonical_survives_json(raw: Any) -> None:
    value = canonical(raw)
    assert canonical(value) == value
    assert key_of(canonical(json.loads(json.dumps(jsonable(value))))) == key_of(value)


@settings(deadline=None)
@given(st.lists(VALUES, max_size=6))
def test_any_mixture_sorts_the_same_way_in_any_order(raws: list[Any]) -> None:
    values = [canonical(raw) for raw in raws]
    once, again = (sorted(v, key=sort_key) for v in (values, values[::-1]))
    assert [key_of(v) for v in once] == [key_of(v) for v in again]


@settings(deadline=None)
@given(st.lists(VALUES, max_size=12))
def test_interner_numbers_by_first_appearance(raws: list[Any]) -> None:
    seen: list[Any] = []
    expected = []
    for raw in raws:
        at = next((n for n, other in enumerate(seen) if same_json(raw, other)), None)
        if at is None:
            at = len(seen)
            seen.append(raw)
        expected.append(at)
    table = Interner()
    assert table.ids(raws) == expected
    assert table.ids(raws) == expected  # the short cuts agree with the long way
    assert [table.id(raw) for raw in raws] == expected
    assert len(table) == len(seen)
    assert [table.find(value) for value in table.values] == list(range(len(seen)))


def test_interner_does_not_know_what_it_never_saw() -> None:
    table = Interner([1, (1, 2)])
    assert table.find(True) is None
    assert table.find((True, 2)) is None
    assert table.find((1.0, 2)) == 1


@pytest.mark.parametrize(
    ("value", "text"), [((1, ("a", True)), "(1, (a, true))"), (False, "false"), (0.5, "0.5"), ((), "()")]
)
def test_show(value: Any, text: str) -> None:
    assert show(value) == text
