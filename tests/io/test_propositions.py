"""Formulas of the literature and labels made of propositions."""

from __future__ import annotations

import pytest

from markovize.errors import InputError
from markovize.io.machines.propositions import FormulaError, Propositions, parse_formula
from markovize.machine.machine import RewardMachine, Trigger


@pytest.mark.parametrize(
    ("text", "true", "expected"),
    [
        ("a", "a", True),
        ("!a", "", True),
        ("!!a", "a", True),
        ("a&!b", "ab", False),
        ("a|b&c", "a", True),
        ("(a|b)&c", "a", False),
        (" ( a | b ) & ! ( c ) ", "b", True),
        ("True", "", True),
        ("False", "abc", False),
    ],
)
def test_formulas(text: str, true: str, expected: bool) -> None:
    assert parse_formula(text).holds(set(true)) is expected


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 0, "missing at the end"),
        ("a&", 2, "missing at the end"),
        ("a & & b", 4, 'missing before "&"'),
        ("(a|b", 4, r'a "\)" is missing'),
        ("a b", 2, '"b" is one too many'),
        ("a & 7", 4, "'7' does not belong"),
        ("!" * 200 + "a", 101, "nested too deeply"),
        ("(" * 100_000, 101, "nested too deeply"),
    ],
)
def test_errors_know_their_column(text: str, column: int, message: str) -> None:
    with pytest.raises(FormulaError, match=message) as caught:
        parse_formula(text)
    assert caught.value.column == column


@pytest.mark.parametrize("said", ["ca", {"a", "c"}, ["c", "a", "z"], ("a", "c"), frozenset("ac")])
def test_any_way_to_report_propositions(said: object) -> None:
    label = Propositions(lambda *_: said, ("c", "b", "a"))
    assert label(0, "go", 1) == ("a", "c")


def test_wrong_reports_and_machines() -> None:
    with pytest.raises(InputError, match="not as int"):
        Propositions(lambda *_: 3, ("a",))(0, 0, 0)
    machine = RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1),))
    with pytest.raises(InputError, match="not sets of propositions"):
        Propositions.of(machine, lambda *_: "")
