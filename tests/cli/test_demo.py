"""What a newcomer sees first."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from markovize.cli import demo


def test_the_demo_tells_the_whole_story(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo.main(tmp_path / "out")
    said = capsys.readouterr().out
    for words in (
        "Is the reward Markov? No",
        "pays 0 or 1: episode",
        "in state 0, entering (1, 1) → state 1",
        "Why minimal:",
        "0 mismatches",
        "for others to check: verified,",
        "Without a log",
        "greedy return 1 of 1",
        "depend on? not Markov: the reward depends on what happened before in the episode",
        "Without labels",
        "in state 0, x < 3 and y ≥ 7 → state 1",
        "optimal: 2 guards, 4 literals",
        "optimal with a tolerance of 0.09997 and 5 outliers",
        "5 of the 5 wrong rewards are found, 0 others are blamed",
    ):
        assert words in said
    assert json.loads((tmp_path / "out" / "machine.json").read_text())["states"] == 4
    plane = json.loads((tmp_path / "out" / "plane.json").read_text())
    assert [literal["feature"] for literal in plane["triggers"][0]["when"]] == ["x", "y"]
    for picture in ("machine.png", "product.png", "plane.png", "front.png"):
        assert (tmp_path / "out" / picture).read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "out" / "machine.svg").read_text()
    assert json.loads((tmp_path / "out" / "run" / "result.json").read_text())["greedy_return"] == 1.0
    demo.main(tmp_path / "out")  # again, over what is there
    assert "for others to check: verified," in capsys.readouterr().out


def test_python_dash_m_is_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["markovize", "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("markovize", run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("markovize ")
