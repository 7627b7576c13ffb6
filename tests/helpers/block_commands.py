"""The commands of a page: those that run, after ``$``, and those that are only looked up."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer
import typer.main
from progress_lines import without_progress
from sybil import Example

from markovize.cli import app as cli

ROOT = Path(__file__).parents[2]
OTHER_PROGRAMS = {"cd", "git", "ray", "tensorboard", "python", "pip", "make", "markovize"}
SHELL = re.compile(r"[|<>&;$*]")
# typer brings a copy of click of its own, as its version has it
UsageError: Any = typer.BadParameter.__mro__[1]


@dataclass(frozen=True)
class Command:
    """A line after ``$``, and what the page says it prints."""

    line: str
    shown: list[str]


def run_console(example: Example) -> str | None:
    """Runs the commands one after the other."""
    commands, code = list(_commands(example.parsed)), 0
    for number, command in enumerate(commands):
        said, code = (f"{code}\n", 0) if command.line == "echo $?" else _run(command.line)
        if command.shown and not matches(command.shown, said.splitlines()):
            return f"$ {command.line}\nis said to print\n" + "\n".join(command.shown) + f"\nbut prints\n{said}"
        failure_shown = number + 1 < len(commands) and commands[number + 1].line == "echo $?"
        if code and not failure_shown:
            return f"$ {command.line}\nfails with {code}:\n{said}"
    return None


def _commands(text: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        line, *shown = part.rstrip("\n").split("\n")
        yield Command(line.split("  #")[0].strip(), shown)


def _run(line: str) -> tuple[str, int]:
    """What a command prints, and its exit code; markovize runs in this process, which saves loading it.

    Not so in a page that changes markovize: there, the changed copy has to be loaded.
    """
    if not line.startswith("markovize ") or SHELL.search(line) or Path("src").exists():
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False
        )
        return without_progress(done.stdout + done.stderr), done.returncode
    out, code = io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), patch("sys.argv", shlex.split(line)):
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    return without_progress(out.getvalue()), code


def matches(shown: list[str], said: list[str]) -> bool:
    """Whether a page may show this output.

    >>> matches(["optimal (0.2 s)", "…", "  done …"], ["optimal (7.1 s)", "one", "two", "  done in all"])
    True
    >>> matches(["optimal: 4 states"], ["optimal: 5 states"])
    False
    """
    while shown and not shown[-1].strip():
        shown = shown[:-1]
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "…" else _pattern(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in said)) is not None


def _pattern(line: str) -> str:
    exact = re.escape(line.rstrip()).replace("…", ".*")
    return re.sub(r"[\d,]+(?:\\\.\d+)?(?=\\ s\b)", r"[\\d,.]+", exact)


def check_shell(example: Example) -> str | None:
    """Looks up what the commands name."""
    for line in example.parsed.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and (complaint := _complaint(words)):
            return f"{line}\n{complaint}"
    return None


def _complaint(words: list[str]) -> str | None:
    program, *rest = words
    if program not in OTHER_PROGRAMS:
        return f"{program} is not a program that a reader of this page has"
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return None if set(rest) <= set(targets) else f"the Makefile has {targets}"
    if program == "pip":
        known = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
        asked = {extra for word in rest for extra in "".join(re.findall(r"\[(.*)\]", word)).split(",") if extra}
        return None if asked <= known else f"the extras are {sorted(known)}"
    if program == "python" and rest[0] == "-m":
        return None if find_spec(rest[1]) else f"there is no module {rest[1]}"
    if program == "python":
        return None if Path(rest[0]).exists() or (ROOT / rest[0]).exists() else f"there is no {rest[0]}"
    return _complaint_of_typer(rest) if program == "markovize" else None


def _complaint_of_typer(rest: list[str]) -> str | None:
    group = typer.main.get_command(cli.app)
    with group.make_context("markovize", list(rest), resilient_parsing=True) as context:
        command = group.get_command(context, rest[0])  # type: ignore[attr-defined]
        if command is None:
            return f"there is no command {rest[0]}"
        try:
            command.make_context(rest[0], rest[1:])
        except UsageError as error:
            return str(error.format_message())
    return None
