"""The words and signs of the DOT language, with the place of each.

By hand, since the parsers of DOT that there are do not tell the lines of edges, which our errors need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from markovize.errors import InputError

MARKS: Final = "{}[];,=:+"
_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)|"(?P<string>(?:[^"\\]|\\.)*+)"|(?P<mark>->|--|[{}\[\];,=:+])|(?P<word>-?[\w.]+|-)
    |(?P<hash>\#[^\n]*)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(r'\\([\\"\n])')


class Token(NamedTuple):
    """A word, a string or a sign."""

    text: str
    quoted: bool
    line: int
    column: int


def quote(text: str) -> str:
    r"""The text as a DOT string.

    >>> print(quote('say "hi"'))
    "say \"hi\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def tokens_of(text: str, name: str) -> Iterator[Token]:
    """Reads the text from its start to its end; comments and blanks are left out."""
    at, line, line_start = 0, 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        column = at - line_start + 1
        # a line that starts with # is a comment
        if match is None or (match.lastgroup == "hash" and text[line_start:at].strip()):
            raise InputError(_problem(text, at), where=f"{name}:{line}:{column}")
        if match.lastgroup == "string":
            yield Token(_ESCAPED.sub(_unescape, match["string"]), True, line, column)
        elif match.lastgroup in ("mark", "word"):
            yield Token(match[0], False, line, column)
        newlines = text.count("\n", at, match.end())
        if newlines:
            line, line_start = line + newlines, text.rindex("\n", at, match.end()) + 1
        at = match.end()


def _unescape(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]  # a line may be continued


def _problem(text: str, at: int) -> str:
    if text.startswith("/*", at):
        return "this comment never ends"
    return "this string never ends" if text[at] == '"' else f"{text[at]!r} does not belong here"
