"""Shell completion: what bash, zsh and fish are told after Tab, by the very command that they call."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

MAIN = "import sys; sys.argv = ['markovize']; from markovize.cli import main; main()"


def complete(shell: str, *words: str) -> str:
    """What the shell prints for the last of the words, which is being typed."""
    typed = " ".join(("markovize", *words))
    asked = {
        "bash": {"COMP_WORDS": typed, "COMP_CWORD": str(len(words))},
        "zsh": {"_TYPER_COMPLETE_ARGS": typed},
        "fish": {"_TYPER_COMPLETE_ARGS": typed, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }
    env = {**os.environ, "_MARKOVIZE_COMPLETE": f"complete_{shell}", **asked[shell]}
    ran = subprocess.run([sys.executable, "-c", MAIN], env=env, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    return ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_engines_in_every_shell(shell: str) -> None:
    offered = complete(shell, "learn", "--engine", "e")
    assert "exhaustive" in offered
    assert "sat" not in offered


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("le",), ["learn"]),
        (("learn", "--trigger-on", "s"), ["state", "source"]),
        (("convert", "--from", "js"), ["json", "jsonl"]),
        (("run", "markovize/Off"), ["markovize/OfficeWorld-v0"]),
        (("run", "--mode", "p"), ["paper"]),
        (("no-such-command", "x"), []),
    ],
)
def test_what_is_offered(words: tuple[str, ...], offered: list[str]) -> None:
    assert complete("bash", *words).split() == offered


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_would_be_installed(shell: str) -> None:
    env = {**os.environ, "_MARKOVIZE_COMPLETE": f"source_{shell}"}
    ran = subprocess.run([sys.executable, "-c", MAIN], env=env, capture_output=True, text=True, check=False)
    assert "_MARKOVIZE_COMPLETE" in ran.stdout
