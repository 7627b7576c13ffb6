"""A small parser of the DOT language: nodes, edges and attributes of a digraph, with the line of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from markovize.errors import InputError, one_line

_MARKS: Final = "{}[];,=:+"
_DEEPEST: Final = 50


@dataclass(frozen=True)
class DotEdge:
    """``source -> target [attributes]``."""

    source: str
    target: str
    attributes: dict[str, str]
    line: int


@dataclass
class DotGraph:
    """What a DOT file says."""

    name: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)  # in order of appearance
    edges: list[DotEdge] = field(default_factory=list)


@dataclass(frozen=True)
class _Token:
    text: str
    quoted: bool
    line: int
    column: int


def parse_dot(text: str, name: str = "") -> DotGraph:
    """Reads a digraph.

    >>> graph = parse_dot('digraph g { a -> b [label="x/1"]; }')
    >>> list(graph.nodes), graph.edges[0].attributes
    (['a', 'b'], {'label': 'x/1'})
    """
    return _Parser(list(_tokens(text, name)), name).graph()


def quoted(text: str) -> str:
    r"""The text as a DOT string.

    >>> print(quoted('say "hi"'))
    "say \"hi\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tokens(text: str, name: str) -> Iterator[_Token]:
    at, line, line_start = 0, 1, 0
    while at < len(text):
        char = text[at]
        here = (line, at - line_start + 1)
        if char == "\n":
            line, line_start = line + 1, at + 1
            at += 1
        elif char.isspace():
            at += 1
        elif text.startswith("//", at) or (char == "#" and not text[line_start:at].strip()):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise InputError("this comment never ends", where=f"{name}:{here[0]}:{here[1]}")
            line += text.count("\n", at, end)
            line_start = max(line_start, text.rfind("\n", at, end) + 1)
            at = end + 2
        elif char == '"':
            end = _closing_quote(text, at + 1)
            if end < 0:
                raise InputError("this string never ends", where=f"{name}:{here[0]}:{here[1]}")
            yield _Token(_unescaped(text[at + 1 : end]), True, *here)
            line += text.count("\n", at, end)
            line_start = max(line_start, text.rfind("\n", at, end) + 1)
            at = end + 1
        elif text.startswith("->", at) or text.startswith("--", at):
            yield _Token(text[at : at + 2], False, *here)
            at += 2
        elif char in _MARKS:
            yield _Token(char, False, *here)
            at += 1
        else:
            end = at
            while end < len(text) and (text[end].isalnum() or text[end] in "_." or (text[end] == "-" and end == at)):
                end += 1
            if end == at:
                raise InputError(f"{char!r} does not belong here", where=f"{name}:{here[0]}:{here[1]}")
            yield _Token(text[at:end], False, *here)
            at = end


def _closing_quote(text: str, at: int) -> int:
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at if at < len(text) else -1


def _unescaped(text: str) -> str:
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in ("\\", '"', "\n"):
            at += 1
            out.append("" if text[at] == "\n" else text[at])  # a line may be continued
        else:
            out.append(text[at])
        at += 1
    return "".join(out)


class _Parser:
    """Recursive descent over the grammar of DOT, without HTML strings and without edges between subgraphs."""

    def __init__(self, tokens: list[_Token], name: str) -> None:
        self._tokens, self._name, self._at = tokens, name, 0
        self._graph = DotGraph()

    def graph(self) -> DotGraph:
        self._skip("strict")
        if not self._skip("digraph"):
            raise self._error('expected "digraph"')
        if not self._peek("{"):
            self._graph.name = self._id()
        self._block(0)
        if self._at < len(self._tokens):
            raise self._error("expected the end of the file")
        return self._graph

    def _block(self, depth: int) -> None:
        if depth > _DEEPEST:
            raise self._error("subgraphs are nested too deeply")
        self._expect("{")
        while not self._skip("}"):
            if not self._skip(";"):
                self._statement(depth)

    def _statement(self, depth: int) -> None:
        if self._peek("{") or self._skip("subgraph"):
            if not self._peek("{"):
                self._id()
            self._block(depth + 1)
            return
        word, line = self._tokens[self._at] if self._at < len(self._tokens) else None, self._line()
        name = self._id()
        if self._skip("="):
            self._graph.attributes[name] = self._id()
            return
        if word is not None and not word.quoted and name.lower() in ("graph", "node", "edge"):
            attributes = self._attributes()
            if name.lower() == "graph":
                self._graph.attributes.update(attributes)
            return
        chain = [self._endpoint(name)]
        while self._skip("->"):
            chain.append(self._endpoint(self._id()))
        attributes = self._attributes()
        for node in chain:
            self._graph.nodes.setdefault(node, {})
        if len(chain) == 1:
            self._graph.nodes[chain[0]].update(attributes)
        self._graph.edges += [DotEdge(a, b, attributes, line) for a, b in pairwise(chain)]

    def _endpoint(self, name: str) -> str:
        while self._skip(":"):  # a port says where the line touches the node: no matter here
            self._id()
        return name

    def _attributes(self) -> dict[str, str]:
        out: dict[str, str] = {}
        while self._skip("["):
            while not self._skip("]"):
                name = self._id()
                out[name] = self._id() if self._skip("=") else "true"
                if not self._skip(","):
                    self._skip(";")
        return out

    def _id(self) -> str:
        if self._at >= len(self._tokens):
            raise self._error("a name is missing")
        token = self._tokens[self._at]
        if not token.quoted and (token.text in ("->", "--") or token.text in _MARKS):
            raise self._error("expected a name")
        self._at += 1
        text = token.text
        while token.quoted and self._skip("+"):
            text += self._id()
        return text

    def _expect(self, mark: str) -> None:
        if not self._skip(mark):
            raise self._error(f'expected "{mark}"')

    def _skip(self, mark: str) -> bool:
        found = self._peek(mark)
        self._at += found
        return found

    def _peek(self, mark: str) -> bool:
        if self._at >= len(self._tokens):
            return False
        token = self._tokens[self._at]
        return not token.quoted and (token.text == mark or (mark.isalpha() and token.text.lower() == mark))

    def _line(self) -> int:
        return self._tokens[self._at].line if self._at < len(self._tokens) else 0

    def _error(self, message: str) -> InputError:
        if self._at >= len(self._tokens):
            return InputError(f"{message}, but the file ends", where=self._name)
        token = self._tokens[self._at]
        return InputError(
            f"{message}, not {one_line(token.text, 40)}", where=f"{self._name}:{token.line}:{token.column}"
        )
