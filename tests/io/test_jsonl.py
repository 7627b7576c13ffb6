"""JSONL: streamed in, atomic out, and every kind of rubbish named in one short line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markovize.episodes.traces import Episode, Traces, TracesBuilder
from markovize.errors import InputError
from markovize.io.episodes.jsonl import _add, read_jsonl, write_jsonl
from markovize.io.registry import ReadOptions

GOOD = '{"observations": [0, 1], "actions": ["go"], "rewards": [1], "terminated": true}'


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "log.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_reads_episodes_and_skips_blank_lines(tmp_path: Path) -> None:
    traces = read_jsonl(written(tmp_path, f"\n{GOOD}\r\n   \n{GOOD}"))
    assert len(traces) == 2
    assert traces.episode(1) == Episode([0, 1], ["go"], [1.0], True)


def test_rounds_rewards_and_reports_progress(tmp_path: Path) -> None:
    line = GOOD.replace("[1]", "[0.123]")
    seen: list[tuple[int, int]] = []
    path = written(tmp_path, (line + " " * 1_100_000 + "\n") * 2)
    traces = read_jsonl(path, ReadOptions(None, 1, lambda done, total: seen.append((done, total))))
    assert traces.rewards.tolist() == [0.1, 0.1]
    size = path.stat().st_size
    assert seen == [(size // 2, size), (size, size), (size, size)]


HUGE = "9" * 1_000_000
RUBBISH = {
    "": "no episodes in this file",
    "\n \n": "no episodes in this file",
    "[1, 2]": ":1: an episode is a JSON object, not a list",
    "null": ":1: an episode is a JSON object, not null",
    "7": "not a number",
    '"x"': "not a string",
    "true": "not true or false",
    GOOD + "\n" + GOOD[:-9]: ':2: field "rewards": not JSON',
    "{": ":1: not JSON",
    '{"actions": []}': ':1: field "observations" is missing',
    '{"a": 1, "a": 2}': 'field "a" appears twice',
    '{"' + "k" * 999 + '": 1, "' + "k" * 999 + '": 2}': "appears twice",
    GOOD.replace("[1]", "[NaN]"): 'field "rewards"[0] is nan',
    GOOD.replace("[0, 1]", "[0, Infinity]"): 'field "observations"[1]: inf is not a finite number',
    GOOD.replace("true", 'true, "note": NaN'): "NaN is not JSON",
    '[{"a": NaN}, {"observations"': "NaN is not JSON",
    GOOD.replace("[1]", "[1e999]"): 'field "rewards"[0] is inf',
    GOOD.replace("[1]", "[1, 2]"): 'field "rewards" has 2 entries for 1 actions',
    GOOD.replace("[0, 1]", "[0, 1, 2]"): 'field "observations" has 3 entries',
    GOOD.replace("[0, 1]", "[0, null]"): 'field "observations"[1]: null is not a label',
    GOOD.replace("[0, 1]", '[0, {"x": 1}]'): 'field "observations"[1]: a dict is not a label',
    GOOD.replace("true", '"' + "y" * 5000 + '"'): 'field "terminated" must be true or false',
    GOOD.replace("true", "[" * 500 + "]" * 500): 'field "terminated" must be true or false',
    GOOD.replace("[1]", f"[{HUGE}]"): ':1: field "rewards": not usable: a number of thousands of digits',
    GOOD.replace("[1]", f"[{'9' * 400}]"): 'field "rewards"[0] is too large',
    "[" * 100_000: ":1: not usable: nested too deeply",
    GOOD.replace("[0, 1]", "[" * 50_000 + "]" * 50_000): ':1: field "observations": not usable: nested too deeply',
    GOOD.replace("[0, 1]", "[0, " + "[" * 40 + "]" * 40 + "]"): "nested deeper than 32 lists",
}


@pytest.mark.parametrize("text", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_is_named_shortly(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_jsonl(path)
    message = str(caught.value)
    assert message.startswith(f"{path}")
    assert RUBBISH[text] in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 160


@given(st.binary(min_size=1, max_size=200))
def test_no_bytes_make_it_fall_over(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = written(tmp_path_factory.getbasetemp(), b"\x80" + data)
    with pytest.raises(InputError) as caught:
        read_jsonl(path)
    assert "\n" not in str(caught.value)


labels = st.recursive(
    st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@st.composite
def episodes(draw: st.DrawFn) -> dict[str, object]:
    steps = draw(st.integers(0, 4))
    return {
        "observations": draw(st.lists(labels, min_size=steps + 1, max_size=steps + 1)),
        "actions": draw(st.lists(labels, min_size=steps, max_size=steps)),
        "rewards": draw(st.lists(st.floats(-1e9, 1e9), min_size=steps, max_size=steps)),
        "terminated": draw(st.booleans()),
        "truncated": draw(st.booleans()),
    }


@given(st.lists(episodes(), min_size=1, max_size=4))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, many: list[dict[str, object]]) -> None:
    path = tmp_path_factory.getbasetemp() / "again.jsonl"
    traces = Traces.of(many)
    write_jsonl(path, traces)
    again = read_jsonl(path)
    assert list(again) == list(traces)
    lines = path.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [episode.to_json() for episode in traces]


numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.from_regex(
    r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True
)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), st.sampled_from(["", " "]), st.booleans())
def test_the_short_way_gives_what_the_long_way_gives(many: list[tuple[str, str]], blank: str, end: bool) -> None:
    """msgspec reads ordinary lines; a field that is not ours sends the same episode the long way."""
    labels, rewards = ([pair[n] for pair in many] for n in (0, 1))
    line = (
        f'{{"observations":{blank}[{", ".join([*labels, "[true]"])}], "actions": [{", ".join(labels)}],{blank}'
        f'"rewards": [{", ".join(rewards)}], "terminated": {json.dumps(end)}'
    )
    short, long = TracesBuilder(), TracesBuilder()
    _add(short, f"{line}}}".encode(), "short")
    _add(long, f'{line}, "note": 1}}'.encode(), "long")
    assert repr(short.build().episode(0)) == repr(long.build().episode(0))


@pytest.mark.parametrize("twice", ["observations", "actions", "rewards", "terminated", "note"])
def test_fields_that_appear_twice_are_refused(tmp_path: Path, twice: str) -> None:
    line = GOOD[:-1] + f', "{twice}": 1' + (', "note": 2}' if twice == "note" else "}")
    for text in (line, line.replace(f', "{twice}"', f', "\\u00{ord(twice[0]):x}{twice[1:]}"')):  # also if escaped
        with pytest.raises(InputError, match=f'field "{twice}" appears twice'):
            read_jsonl(written(tmp_path, text))


def test_a_colon_in_a_label_is_no_field(tmp_path: Path) -> None:
    assert read_jsonl(written(tmp_path, GOOD.replace('"go"', '"go: on"'))).action_values == ["go: on"]
