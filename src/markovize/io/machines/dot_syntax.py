"""A small parser of the DOT language: nodes, edges and attributes of a digraph, with the line of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from markovize.errors import InputError, one_line
from markovize.io.machines.dot_tokens import MARKS, Token, tokens_of

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


def parse_dot(text: str, name: str = "") -> DotGraph:
    """Reads a digraph.

    >>> graph = parse_dot('digraph g { a -> b [label="x/1"]; }')
    >>> list(graph.nodes), graph.edges[0].attributes
    (['a', 'b'], {'label': 'x/1'})
    """
    return _Parser(list(tokens_of(text, name)), name).graph()


class _Parser:
    """Recursive descent over the grammar of DOT, without HTML strings and without edges between subgraphs."""

    def __init__(self, tokens: list[Token], name: str) -> None:
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
        if not token.quoted and (token.text in ("->", "--") or token.text in MARKS):
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
