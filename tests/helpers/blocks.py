"""How the code blocks of a page are tested, by what they are:

- ``python``: runs; after ``>>>`` the output shown must be the output;
- ``console``: every line after ``$`` runs, and the output shown must be the output. ``…`` stands for anything, also for
  any number of lines, and a number of seconds for any other. A command fails, unless ``$ echo $?`` says so;
- ``shell``: what takes too long or needs another machine. It does not run, but its options, files, extras and make
  targets must exist;
- with ``:caption: NAME``: a file of that name, for the blocks that follow; a ``diff`` changes that file;
- ``json``: is JSON. ``text`` and the like are for readers.

All blocks of a page share their names and a folder, in the order of the page. Where a page writes into ``src``, the
folder holds a copy of the package, and everything runs with that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from doctest import ELLIPSIS
from pathlib import Path

from block_changes import change_file, run_in_copy
from block_commands import check_shell, run_console
from sybil import Document, Example, Region
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract import DocTestStringParser
from sybil.parsers.abstract.lexers import LexerCollection
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.parsers.myst import SkipParser
from sybil.parsers.myst.lexers import DirectiveLexer
from sybil.typing import Evaluator

FOR_READERS = {"text", "csv", "diff", "toml", "jsonl", "bibtex", "markdown"}


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
                region.parsed, region.evaluator = (name, source), change_file if language == "diff" else write_file
            elif language == "python" and changes_package(document.text):
                region.evaluator = run_in_copy
            elif language == "python" and source.lstrip().startswith(">>>"):
                for prompt in self._prompts(source, document.path):
                    prompt.adjust(region, source)
                    yield prompt
                continue
            elif language not in FOR_READERS:
                region.evaluator = self._evaluators[language]
            if region.evaluator is not None:
                yield region


def changes_package(text: str) -> bool:
    """Whether a page shows a change to markovize itself."""
    return ":caption: src/" in text


def write_file(example: Example) -> None:
    """A file, as the page shows it."""
    name, text = example.parsed
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def check_json(example: Example) -> None:
    json.loads(example.parsed)
