"""Errors are one line of bounded length, whatever they are made of, and survive the way from a worker process."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markovize.cli.exits import fail
from markovize.errors import LONGEST_LINE, LONGEST_MESSAGE, EngineError, InputError, MachineError, MarkovizeError

text = st.text(max_size=50) | st.sampled_from(["x" * 9000, "a\nb" * 500, "\x1b[31m", "\u2028" * 400])


@given(text, text, st.sampled_from([MarkovizeError, InputError, MachineError, EngineError]))
def test_every_message_is_one_short_line(where: str, message: str, kind: type[MarkovizeError]) -> None:
    error = kind(message, where=where) if issubclass(kind, InputError) else kind(message)
    assert len(str(error)) <= LONGEST_MESSAGE
    assert str(error).isprintable()


def test_a_long_message_keeps_its_place_and_its_remedy() -> None:
    error = InputError("y" * 9000 + "; use JSONL", where="log.jsonl:7")
    assert str(error).startswith("log.jsonl:7: yyy")
    assert str(error).endswith("yyy; use JSONL")


def test_errors_survive_pickle() -> None:
    error = pickle.loads(pickle.dumps(InputError("no such file", where="log.jsonl")))
    assert str(error) == "log.jsonl: no such file"


def test_the_command_line_prints_one_short_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        fail("a\n\n  b " * 1000, 2)
    out = capsys.readouterr().err
    assert caught.value.code == 2
    assert out.startswith("markovize: a b a b")
    assert len(out.rstrip("\n")) <= LONGEST_LINE
    assert out.count("\n") == 1
