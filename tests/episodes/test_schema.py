"""Types of JSON fields: what does not fit is named by its place, what it must be and what it is."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from msgspec import Struct, field

from markovize.episodes.schema import fit
from markovize.errors import InputError


class Item(Struct, forbid_unknown_fields=True):
    source: int = field(name="from")
    way: tuple[int, str] = (0, "")
    level: int | None = None
    pay: float = 0.0


class Thing(Struct):
    sizes: dict[str, int] = {}
    items: list[Item] = []
    kind: Literal["x", "y"] = "x"
    flag: bool = False


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "a thing must be an object, not []"),
        (None, "a thing must be an object, not null"),
        ({"flag": 1}, '"flag" must be true or false, not 1'),
        ({"flag": None}, '"flag" must be true or false, not null'),
        ({"sizes": 3}, '"sizes" must be an object, not 3'),
        ({"sizes": {"a": "b"}}, '"sizes"[...] must be a whole number, not a string'),
        ({"items": [{"from": 1}, 7]}, '"items"[1] must be an object, not 7'),
        ({"items": [{"from": 1}, {"way": [1, "a"]}]}, '"items"[1]: field "from" is missing'),
        ({"items": [{"from": 1, "by": 2}]}, '"items"[0]: unknown field "by"'),
        ({"items": [{"from": True}]}, '"items"[0]: "from" must be a whole number, not true'),
        ({"items": [{"from": 1.0}]}, '"items"[0]: "from" must be a whole number, not 1.0'),
        ({"items": [{"from": 1, "way": [1]}]}, '"items"[0]: "way" must be a list of 2, not of 1'),
        ({"items": [{"from": 1, "way": [1, 2]}]}, '"items"[0]: "way"[1] must be a string, not 2'),
        ({"items": [{"from": 1, "level": "ü"}]}, '"items"[0]: "level" must be a whole number or null, not "ü"'),
        ({"items": [{"from": 1, "pay": 10**400}]}, '"items"[0]: "pay" is too large for a number'),
        ({"items": [{"from\ud800": 1}]}, r"a field of a thing has half a surrogate pair in its name, 'from\ud800'"),
        ({"kind": "z"}, "\"kind\": Invalid enum value 'z'"),
    ],
)
def test_what_does_not_fit_is_named(data: Any, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        fit(data, Thing, "a thing")
    assert str(caught.value).startswith(reason)


def test_what_fits() -> None:
    assert fit({"items": [{"from": 2**70, "pay": 1}], "more": None}, Thing, "a thing").items == [Item(2**70, pay=1.0)]
    assert fit({"items": [{"from": 1, "pay": np.float64(0.5)}]}, Thing, "a thing").items[0].pay == 0.5


def test_absurd_values_are_shown_shortly_or_not_at_all() -> None:
    for absurd in ("x" * 10_000, 10**5000, [[[]]] * 10_000, object()):
        with pytest.raises(InputError) as caught:
            fit({"flag": absurd}, Thing, "a thing")
        assert str(caught.value).startswith('"flag" must be true or false, not ')
        assert len(str(caught.value)) < 100
