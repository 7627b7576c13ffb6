"""What supports a trigger stands beside it, in every kind of picture, and nowhere if it is not known."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from markovize import Traces, draw, learn, write_episodes, write_machine
from markovize.cli import app as cli
from markovize.io.machines.mermaid import mermaid
from markovize.machine.summary import arrows
from markovize.pictures.machine import figure_of

WALKS = [
    (["hall", ["a", "key"], "door"], [0, 0], [0, 1]),
    (["hall", "door", ["a", "key"]], [0, 0], [0, 0]),
    (["hall", "door"], [0], [0]),
]


def test_steps_and_paid_steps_stand_beside_the_label() -> None:
    result = learn(Traces.of(WALKS), trigger_on="state", reward_on="state")
    machine = result.unwrap()
    assert arrows(machine)[0].lines[0] == "(a, key)"
    shown = [arrow.lines[0] for arrow in arrows(machine, result.support)]
    assert shown[0] == "(a, key) (2 steps, 1 paid)"
    assert "(2 steps, 1 paid)" in mermaid(machine, result.support)
    texts = [text.get_text() for text in figure_of(machine, result.support).axes[0].texts]
    assert "(a, key) (2 steps, 1 paid)" in texts


def test_long_labels_have_their_figures_on_a_line_of_their_own() -> None:
    long = "a key of a very long name, indeed"
    walks = [(["hall", long, "door"], [0, 0], [0, 1]), (["hall", "door"], [0], [0]), (["hall", "door"], [0], [0])]
    result = learn(Traces.of(walks), trigger_on="state", reward_on="state")
    texts = [text.get_text() for text in figure_of(result.unwrap(), result.support).axes[0].texts]
    assert {long, "(1 step, 1 paid)"} <= set(texts)


def test_the_command_counts_in_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = learn(Traces.of(WALKS))
    write_machine("m.json", result.unwrap())
    write_episodes("walks.jsonl", Traces.of(WALKS))
    draw("expected.svg", result.unwrap(), support=result.support)

    def run(*args: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["markovize", "draw", "m.json", *args])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(end.value.code or 0), capsys.readouterr().err

    assert run("-o", "m.svg", "--episodes", "walks.jsonl")[0] == 0
    assert Path("m.svg").read_bytes() == Path("expected.svg").read_bytes()
    assert run("-o", "plain.svg")[0] == 0
    assert Path("plain.svg").read_bytes() != Path("m.svg").read_bytes()
    code, err = run("-o", "m.svg", "--trigger-on", "state")
    assert code == 2 and "--episodes" in err
    monkeypatch.setattr("markovize.machine.support.MOST_WORK", 1)
    code, err = run("-o", "m.svg", "--episodes", "walks.jsonl")
    assert code == 2 and "give fewer episodes" in err
