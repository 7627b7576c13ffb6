"""JSON and nothing but JSON."""

from __future__ import annotations

import pytest

from markovize.episodes.strict_json import strict_json
from markovize.errors import InputError


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON: .* \\(column 2\\)"),
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ('{"a": {"b": 1, "b": 2}}', 'field "b" appears twice'),
        (b"\x80abc", "not UTF-8 text \\(byte 0\\)"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "not usable: a number of thousands of digits"),
    ],
)
def test_what_is_no_json_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(InputError, match=f"^log.jsonl:7: .*{reason}"):
        strict_json(text, where="log.jsonl:7")


def test_the_rest_is_read() -> None:
    assert strict_json('{"a": [1, 2.5, "x", true, null]}') == {"a": [1, 2.5, "x", True, None]}
