"""Propositional formulas, as the literature writes them on edges, and labels made of propositions.

By hand: formulas are those that the files' own readers know (``&``, ``|``, ``!``), and a label is the set of true
propositions. A library for logic would be larger than these lines, and its formulas would say more than a file may.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from markovize.episodes.values import On
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine

BLANKS: Final = " \t\n\r\f\v"  # what \s of a re.ASCII pattern matches; str.strip takes control characters, too
_TOKEN: Final = re.compile(r"\s*([A-Za-z_]\w*|[!&|()]|$)", re.ASCII)
_DEEPEST: Final = 100


@dataclass(frozen=True)
class Formula:
    """A formula over propositions.

    >>> formula = parse_formula("a&!b|c")
    >>> formula.holds({"a"}), formula.holds({"a", "b"}), sorted(formula.symbols())
    (True, False, ['a', 'b', 'c'])
    """

    operator: Literal["true", "false", "symbol", "not", "and", "or"]
    parts: tuple[Formula, ...] = ()
    symbol: str = ""

    def holds(self, true: Set[str]) -> bool:
        """Whether the formula holds when exactly these propositions are true."""
        match self.operator:
            case "symbol":
                return self.symbol in true
            case "not":
                return not self.parts[0].holds(true)
            case "and":
                return all(part.holds(true) for part in self.parts)
            case "or":
                return any(part.holds(true) for part in self.parts)
            case _:
                return self.operator == "true"

    def symbols(self) -> set[str]:
        """Every proposition that the formula mentions."""
        return {self.symbol} if self.symbol else set().union(*(part.symbols() for part in self.parts))


class FormulaError(InputError):
    """A formula that cannot be read; ``column`` counts from 0 within it."""

    def __init__(self, message: str, column: int) -> None:
        self.column = column
        super().__init__(message)


@lru_cache(maxsize=4096)  # large machines have the same few formulas on most edges
def parse_formula(text: str) -> Formula:
    """Reads ``!`` (not), ``&`` (and), ``|`` (or), parentheses, ``True`` and propositions; ``|`` binds weakest.

    >>> parse_formula("a&")
    Traceback (most recent call last):
    markovize.io.machines.propositions.FormulaError: a proposition is missing at the end of the formula
    """
    parser = _Parser(text)
    formula = parser.either(0)
    if parser.token:
        raise FormulaError(f'"{parser.token}" is one too many', parser.column)
    return formula


class _Parser:
    """Recursive descent, one method for each level of binding."""

    def __init__(self, text: str) -> None:
        self._text, self._next = text, 0
        self.token, self.column = "", 0
        self._advance()

    def either(self, depth: int) -> Formula:
        return self._join("|", "or", self._both, depth)

    def _both(self, depth: int) -> Formula:
        return self._join("&", "and", self._single, depth)

    def _join(self, mark: str, operator: Literal["and", "or"], part: Callable[[int], Formula], depth: int) -> Formula:
        parts = [part(depth)]
        while self.token == mark:
            self._advance()
            parts.append(part(depth))
        return parts[0] if len(parts) == 1 else Formula(operator, tuple(parts))

    def _single(self, depth: int) -> Formula:
        token, column = self.token, self.column
        if depth > _DEEPEST:
            raise FormulaError("the formula is nested too deeply", column)
        if not token:
            raise FormulaError("a proposition is missing at the end of the formula", column)
        self._advance()
        if token == "!":
            return Formula("not", (self._single(depth + 1),))
        if token == "(":
            inside = self.either(depth + 1)
            if self.token != ")":
                raise FormulaError('a ")" is missing', self.column)
            self._advance()
            return inside
        if token in ("True", "False"):
            return Formula("true" if token == "True" else "false")
        if token in "&|)":
            raise FormulaError(f'a proposition is missing before "{token}"', column)
        return Formula("symbol", symbol=token)

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._next)
        if match is None:
            column = len(self._text) - len(self._text[self._next :].lstrip(BLANKS))
            raise FormulaError(f"{self._text[column]!r} does not belong into a formula", column)
        self.token, self.column, self._next = match[1], match.start(1), match.end()


Reports: TypeAlias = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Propositions:
    """A label function for imported machines: the sorted tuple of the symbols that a user's function reports.

    The function gets (state, action, next_state) and returns a string of letters such as "ac" (symbols are looked up
    in it as substrings, as the literature does) or a set or list of symbols.

    >>> label = Propositions(lambda s, a, t: "c" if t == (3, 6) else "", ("c", "o"))
    >>> label((3, 5), "up", (3, 6)), label((3, 6), "up", (3, 7))
    (('c',), ())
    """

    function: Reports
    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbols", tuple(sorted(set(self.symbols))))

    @classmethod
    def of(cls, machine: RewardMachine, function: Reports) -> Propositions:
        """For a machine that was read from formulas: its own symbols.

        >>> from markovize.machine.machine import RewardMachine, Trigger
        >>> machine = RewardMachine("function", "function", 2, (Trigger(0, ("a", "b"), 1),))
        >>> Propositions.of(machine, lambda s, a, t: t).symbols
        ('a', 'b')
        """
        labels: list[On] = [trigger.on for trigger in machine.triggers]
        labels += [emission.on for emission in machine.rewards]
        found: set[str] = set()
        for label in labels:
            if not isinstance(label, tuple) or not all(isinstance(symbol, str) for symbol in label):
                raise InputError("the machine's labels are not sets of propositions")
            found.update(str(symbol) for symbol in label)
        return cls(function, tuple(found))

    def __call__(self, state: Any, action: Any, next_state: Any) -> tuple[str, ...]:
        """The true propositions of a step, sorted."""
        said = self.function(state, action, next_state)
        if not isinstance(said, (str, list, tuple, Set)):
            raise InputError(f"report propositions as a string, list or set, not as {type(said).__name__}")
        return tuple([symbol for symbol in self.symbols if symbol in said])
