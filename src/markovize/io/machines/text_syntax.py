"""The grammar of reward-machine text files: initial state, terminal states, one edge a line. Nothing is evaluated.

By hand: the files are Python expressions that other programs pass to ``eval``. A parser of Python would take more than
the format has, and a parser generator would be a dependency for one regular expression.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from markovize.errors import MachineError, UnsupportedError, one_line
from markovize.io.machines.propositions import BLANKS, Formula, FormulaError, parse_formula

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)
        |(?P<text>'[^'\\]*'|"[^"\\]*")|(?P<mark>[()\[\],])|(?P<comment>\#.*)?$)""",
    re.ASCII | re.VERBOSE,
)
REWARD: Final = "ConstantRewardFunction"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")  # splitlines would also split at control characters


@dataclass(frozen=True)
class Edge:
    """From one state to another where the formula holds."""

    source: int
    target: int
    formula: Formula
    reward: float
    line: int


@dataclass(frozen=True)
class Document:
    """What a file says, before it is given a meaning."""

    name: str
    initial: int
    terminal: frozenset[int]
    edges: tuple[Edge, ...]
    comment: str  # of the first line, where the legend is

    @cached_property
    def leaving(self) -> dict[int, list[Edge]]:
        """The edges of each state that has some."""
        out: dict[int, list[Edge]] = {}
        for edge in self.edges:
            out.setdefault(edge.source, []).append(edge)
        return out

    def edge(self, state: int, true: frozenset[str]) -> Edge | None:
        """The edge to follow where these propositions are true; two that disagree are refused."""
        found: Edge | None = None
        for edge in self.leaving.get(state, ()):
            if not edge.formula.holds(true):
                continue
            if found is not None and (found.target, found.reward) != (edge.target, edge.reward):
                shown = one_line("{" + ", ".join(sorted(true)) + "}", 60)
                both = f"for {shown} this edge and the one in line {found.line} both hold"
                raise MachineError(f"state {state} is not deterministic: {both}", where=f"{self.name}:{edge.line}:1")
            found = found or edge
        return found


def parse_document(text: str, name: str) -> Document:
    """Reads a whole file; errors name file:line:column.

    >>> parse_document("0\\n[1]\\n(0,1,'a',ConstantRewardFunction(1))", "t.txt").edges[0].reward
    1.0
    """
    lines = [line for number, raw in enumerate(_LINE_END.split(text), 1) if (line := _Line(raw, number, name)).tokens]
    if len(lines) < 2:
        raise MachineError(
            "needs a first line with the initial state and a second with the terminal states", where=name
        )
    initial = lines[0].whole()
    lines[0].end()
    terminal: list[int] = []
    lines[1].expect("[")
    while not lines[1].took("]"):
        if terminal:
            lines[1].expect(",")
        terminal.append(lines[1].whole())
    lines[1].end()
    edges = tuple(_edge(line) for line in lines[2:])
    return Document(name, initial, frozenset(terminal), edges, lines[0].comment)


def _edge(line: _Line) -> Edge:
    line.expect("(")
    source = line.whole()
    line.expect(",")
    target = line.whole()
    line.expect(",")
    formula = line.formula()
    line.expect(",")
    function = line.take("name", "a reward function")
    if function != REWARD:
        raise UnsupportedError(
            f"{line.where()}: reward function {one_line(function, 40)} is not supported, only {REWARD}"
        )
    line.expect("(")
    reward = line.number()
    line.expect(")")
    line.expect(")")
    line.end()
    return Edge(source, target, formula, reward, line.number_in_file)


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


class _Line:
    """The tokens of one line and how far they were read."""

    def __init__(self, raw: str, number: int, name: str) -> None:
        self.number_in_file, self._name = number, name
        self.tokens: list[_Token] = []
        self.comment = ""
        self._next = 0
        place = 0
        while True:
            match = _TOKEN.match(raw, place)
            if match is None:
                column = len(raw) - len(raw[place:].lstrip(BLANKS))
                raise MachineError(f"{raw[column]!r} does not belong here", where=f"{name}:{number}:{column + 1}")
            kind = match.lastgroup
            if kind is None or kind == "comment":
                self.comment = (match["comment"] or "").removeprefix("#").strip()
                self._end = match.start("comment") if kind else len(raw)
                return
            self.tokens.append(_Token(kind, match[kind], match.start(kind)))
            place = match.end()

    def where(self, column: int | None = None) -> str:
        """file:line:column of the token read last, or of a column."""
        if column is None:
            column = self.tokens[self._next - 1].column
        return f"{self._name}:{self.number_in_file}:{column + 1}"

    def take(self, kind: str, meaning: str) -> str:
        if self._next >= len(self.tokens):
            raise MachineError(f"{meaning} is missing at the end of the line", where=self.where(self._end))
        token = self.tokens[self._next]
        if token.kind != kind:
            raise MachineError(f"expected {meaning}, not {one_line(token.text, 40)}", where=self.where(token.column))
        self._next += 1
        return token.text

    def expect(self, mark: str) -> None:
        text = self.take("mark", f'"{mark}"')
        if text != mark:
            raise MachineError(f'expected "{mark}", not "{text}"', where=self.where())

    def took(self, mark: str) -> bool:
        """Takes the mark if it is next."""
        found = self._next < len(self.tokens) and self.tokens[self._next].text == mark
        self._next += found
        return found

    def whole(self) -> int:
        text = self.take("number", "the number of a state")
        if not re.fullmatch(r"[+-]?\d{1,9}", text):
            raise MachineError(f"{one_line(text, 40)} is not the number of a state", where=self.where())
        return int(text)

    def number(self) -> float:
        value = float(self.take("number", "a reward"))
        if not math.isfinite(value):
            raise MachineError("the reward must be finite", where=self.where())
        return value

    def formula(self) -> Formula:
        text = self.take("text", "a formula in quotes")
        column = self.tokens[self._next - 1].column
        try:
            return parse_formula(text[1:-1])
        except FormulaError as error:
            raise MachineError(str(error), where=self.where(column + 1 + error.column)) from None

    def end(self) -> None:
        if self._next < len(self.tokens):
            token = self.tokens[self._next]
            raise MachineError(f"{one_line(token.text, 40)} is one too many", where=self.where(token.column))
