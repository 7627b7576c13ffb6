"""How the code blocks of a page are tested, by what they are:

- ``python``: runs; after ``>>>`` the output shown must be the output;
- ``console``: every line after ``$`` runs, and the output shown must be the output. ``…`` stands for anything, also for
  any number of lines, and a number of seconds for any other. A command fails, unless ``$ echo $?`` says so;
- ``shell``: what takes too long or needs another machine. It does not run, but its options, files, extras and make
  targets must exist;
- with ``:caption: NAME``: a file of that name, for the blocks that follow;
- ``json``: is JSON. ``text`` and the like are for readers.

All blocks of a page share their names and a folder, in the order of the page.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from doctest import ELLIPSIS
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer
import typer.main
from sybil import Document, Example, Region
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract import DocTestStringParser
from sybil.parsers.abstract.lexers import LexerCollection
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.parsers.myst import SkipParser
from sybil.parsers.myst.lexers import DirectiveLexer
from sybil.typing import Evaluator

from markovize.cli import app as cli

ROOT = Path(__file__).parents[2]
FOR_READERS = {"text", "csv", "diff", "toml", "jsonl", "bibtex", "markdown"}
OTHER_PROGRAMS = {"cd", "git", "ray", "tensorboard", "python", "pip", "make", "markovize"}
# typer brings a copy of click of its own, as its version has it
UsageError: Any = typer.BadParameter.__mro__[1]
SHELL = re.compile(r"[|<>&;$*]")


def parse(page: Path) -> Document:
    """The blocks of a page, ready to be evaluated."""
    return Document.parse(str(page), BlockParser(), SkipParser())


class BlockParser:
    """Finds all code blocks, and what to do with each."""

    def __init__(self) -> None:
        self._blocks = LexerCollection(
            [
                FencedCodeBlockLexer(language=r"[^{\n]+", mapping={"language": "arguments", "source": "source"}),
                DirectiveLexer(directive="code-block", arguments=".+"),
            ]
        )
        self._prompts = DocTestStringParser(DocTestEvaluator(ELLIPSIS))
        self._evaluators: dict[str, Evaluator] = {
            "python": PythonEvaluator(),
            "console": run_console,
            "shell": check_shell,
            "json": check_json,
        }

    def __call__(self, document: Document) -> Iterable[Region]:
        for region in self._blocks(document):
            language, source = region.lexemes["arguments"], region.lexemes["source"]
            name = region.lexemes.get("options", {}).get("caption")
            region.parsed = source
            if name is not None:
                region.parsed, region.evaluator = (name, source), write_file
            elif language == "python" and source.lstrip().startswith(">>>"):
                for prompt in self._prompts(source, document.path):
                    prompt.adjust(region, source)
                    yield prompt
                continue
            elif language not in FOR_READERS:
                region.evaluator = self._evaluators[language]
            if region.evaluator is not None:
                yield region


def write_file(example: Example) -> None:
    """A file, as the page shows it."""
    name, text = example.parsed
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def check_json(example: Example) -> None:
    json.loads(example.parsed)


# --- console ---


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
    """What a command prints, and its exit code; markovize runs in this process, which saves loading it."""
    if not line.startswith("markovize ") or SHELL.search(line):
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False
        )
        return done.stdout + done.stderr, done.returncode
    out, code = io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), patch("sys.argv", shlex.split(line)):
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    return out.getvalue(), code


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


# --- shell ---


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
