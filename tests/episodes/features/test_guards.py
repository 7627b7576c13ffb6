"""Literals and guards as values: what holds, what is equal, what is said, what files hold."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markovize import Feature, Guard, InputError, Literal, MachineError
from markovize.episodes.values import key_of, show, sort_key

COFFEE = Literal("here", "is", "coffee")
LOW, HIGH = Literal("x", "at_least", 7, (6.98, 7.03)), Literal("x", "below", 9, (8.97, 9.01))


def test_what_holds() -> None:
    assert [LOW.holds(value) for value in (6.999, 7, 7.5)] == [False, True, True]
    assert [HIGH.holds(value) for value in (8.999, 9, 9.5)] == [True, False, False]
    assert [Literal("lit", "is", True).holds(value) for value in (True, 1, "true")] == [True, False, False]
    assert [Literal("n", "is", 1.0).holds(value) for value in (1, 1.0, True)] == [True, True, False]
    guard = Guard([LOW, HIGH, COFFEE])
    assert guard.holds({"x": 8, "here": "coffee", "y": 0})
    assert not guard.holds({"x": 8, "here": "mail"})
    assert Guard().holds({})
    with pytest.raises(InputError, match="needs the feature here"):
        guard.holds({"x": 8})
    with pytest.raises(InputError, match="x is numeric, and wide is no number"):
        LOW.holds("wide")


def test_the_gap_does_not_count() -> None:
    bare = Literal("x", "at_least", 7)
    assert bare == LOW
    assert hash(bare) == hash(LOW)
    assert Guard([HIGH, bare]) == Guard([LOW, HIGH])
    assert len({Guard([HIGH, bare]), Guard([LOW, HIGH])}) == 1
    assert bare != HIGH
    assert bare != "x ≥ 7"
    assert Literal("a", "is", True) != Literal("a", "is", 1)
    assert Literal("a", "is", 1.0) == Literal("a", "is", 1)


def test_guards_are_values_like_labels() -> None:
    guards = [Guard([COFFEE]), Guard(), Guard([LOW, HIGH]), Guard([LOW])]
    assert sorted(guards) == sorted(guards, key=sort_key) == [Guard(), guards[0], guards[3], guards[2]]
    assert [key_of(guard) for guard in guards] == guards
    assert show(guards[2]) == str(guards[2]) == "7 ≤ x < 9"
    assert repr(guards[0]) == "Guard(here = coffee)"
    assert Guard(), "an empty guard is a guard"
    assert [len(guard) for guard in guards] == [1, 0, 2, 1]


@pytest.mark.parametrize(
    ("guard", "text"),
    [
        (Guard(), "always"),
        (Guard([COFFEE]), "here = coffee"),
        (Guard([Literal("y", "below", 3), LOW, HIGH]), "7 ≤ x < 9 and y < 3"),
        (Guard([Literal("lit", "is", False)]), "lit = false"),
        (Guard([Literal("x", "at_least", 7.0123, (7.01, 7.02))]), "x ≥ 7.012"),
        (Guard([Literal("x", "at_least", 0.123456789)]), "x ≥ 0.123457"),
        (Guard([Literal("x", "below", -0.0)]), "x < 0"),
        (Guard([Literal("x", "below", 1234.5, (1000, 2000))]), "x < 1200"),
        (Guard([Literal("two\nlines", "is", "a\tb")]), "two lines = a b"),
    ],
)
def test_words(guard: Guard, text: str) -> None:
    assert guard.text() == text


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"is": 3}, 'needs the field "feature"'),
        ({"feature": "x"}, "this on x has none"),
        ({"feature": "x", "at_least": 1, "below": 2}, "this on x has at_least, below"),
        ({"feature": 3, "is": 3}, "names its feature by a text, not 3"),
        ({"feature": "", "is": 3}, "names its feature by a text"),
        ({"feature": "x", "is": [1]}, "features are numbers, texts, true or false, not (1)"),
        ({"feature": "x", "is": None}, "null is not a label"),
        ({"feature": "x", "is": 3, "gap": [1, 4]}, '"is" has no gap'),
        ({"feature": "x", "below": "3"}, '"below" needs a finite number, not 3'),
        ({"feature": "x", "below": True}, '"below" needs a finite number, not true'),
        ({"feature": "x", "at_least": math.nan}, "nan is not a finite number"),
        ({"feature": "x", "at_least": 10**400}, '"at_least" needs a finite number'),
        ({"feature": "x", "at_least": 3, "gap": [4, 5]}, "its gap, 4 to 5, is not around its threshold 3"),
        ({"feature": "x", "at_least": 3, "gap": [2]}, "a gap is a list of two finite numbers"),
        ({"feature": "x", "at_least": 3, "gap": [2, math.inf]}, "a gap is a list of two finite numbers"),
        ({"feature": "x", "at_least": 3, "gap": "ab"}, "a gap is a list of two finite numbers"),
        (["x"], "a literal is a JSON object"),
    ],
)
def test_malformed_literals_are_refused(raw: Any, reason: str) -> None:
    with pytest.raises(MachineError) as error:
        Guard.from_json([raw])
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("literals", "reason"),
    [
        ([LOW, Literal("x", "at_least", 8)], 'at most one "at_least" on x'),
        ([COFFEE, Literal("here", "is", "mail")], 'at most one "is" on here'),
        ([COFFEE, Literal("here", "below", 3)], '"is" on here needs no other literal'),
        ([LOW, Literal("x", "below", 7)], "no value of x is at least 7 and below 7"),
        (["x"], "consists of literals, not of 'x'"),
    ],
)
def test_guards_that_make_no_sense_are_refused(literals: Any, reason: str) -> None:
    with pytest.raises(MachineError) as error:
        Guard(literals)
    assert reason in str(error.value)
    with pytest.raises(MachineError, match="a list of literals"):
        Guard.from_json({"feature": "x"})


def test_features_must_be_there_and_of_the_kind() -> None:
    features = [Feature("x", "numeric"), Feature("here", "categorical")]
    Guard([LOW, COFFEE]).check_features(features)
    with pytest.raises(MachineError, match="there is no feature y; the features are x, here"):
        Guard([Literal("y", "below", 3)]).check_features(features)
    with pytest.raises(MachineError, match='"at_least" is for numeric features, and here is categorical'):
        Guard([Literal("here", "at_least", 3)]).check_features(features)


SCALARS = st.one_of(
    st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=3)
)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), SCALARS), max_size=3, unique_by=lambda pair: pair[0]), st.floats(-9, 9)
)
def test_files_hold_guards_as_they_are(pairs: list[tuple[str, Any]], bound: float) -> None:
    literals = [Literal(name, "is", value) for name, value in pairs]
    guard = Guard([*literals, Literal("x", "below", bound, (bound - 1, bound + 0.5))])
    again = Guard.from_json(guard.to_json())
    assert again == guard
    assert again.to_json() == guard.to_json()
    assert again.literals[-1].gap == guard.literals[-1].gap
    assert all(guard.holds(dict(pairs) | {"x": x}) == (x < bound) for x in (bound, bound - 0.5, bound + 1))
