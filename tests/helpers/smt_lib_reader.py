"""As much of SMT-LIB as exported machines need: a reader, and an evaluator of the functions that are defined."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

TOKENS: Final = re.compile(r"\|[^|\\]*\||[()]|;[^\n]*|[^\s()|;]+")
Term = Any  # a token, or a list of terms


def read_smt_lib(text: str) -> list[Term]:
    """The commands of a script; unbalanced ones, and all that is left over between tokens, are errors."""
    assert not TOKENS.sub("", text).strip(), "something is no token"
    stack: list[list[Term]] = [[]]
    for token in TOKENS.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif not token.startswith(";"):
            stack[-1].append(token)
    assert len(stack) == 1, "parentheses do not match"
    for command in stack[0]:
        assert command[0] in ("set-logic", "declare-datatypes", "define-fun"), command[0]
    return stack[0]


class Definitions:
    """The functions of a script; every symbol must be defined before it is used, and no two are the same."""

    def __init__(self, text: str) -> None:
        self.functions: dict[str, tuple[list[str], Term]] = {}
        self.constants: set[str] = set()
        for command in read_smt_lib(text):
            if command[0] == "declare-datatypes":
                for (constructor,) in command[2][0]:
                    assert constructor not in self.constants
                    self.constants.add(constructor)
            elif command[0] == "define-fun":
                _, name, parameters, _, body = command
                assert name not in self.functions
                assert len({one for one, _ in parameters}) == len(parameters)
                assert not {one for one, _ in parameters} & self.constants
                self.functions[name] = [one for one, _ in parameters], body

    def call(self, name: str, *arguments: Any) -> Any:
        parameters, body = self.functions[name]
        return self._value(body, dict(zip(parameters, arguments, strict=True)))

    def _value(self, term: Term, known: Mapping[str, Any]) -> Any:
        if isinstance(term, str):
            return known[term] if term in known else self._constant(term)
        head, *rest = term
        if head == "ite":
            return self._value(rest[1] if self._value(rest[0], known) else rest[2], known)
        values = [self._value(part, known) for part in rest]
        match head:
            case "and":
                return all(values)
            case "or":
                return any(values)
            case "not":
                return not values[0]
            case "=":
                return values[0] == values[1]
            case "<":
                return values[0] < values[1]
            case ">=":
                return values[0] >= values[1]
            case "-":
                return -values[0]
        return self.call(head, *values)

    def _constant(self, token: str) -> Any:
        if token in ("true", "false"):
            return token == "true"
        if token in self.constants:
            return token
        if token in self.functions:
            return self.call(token)
        return Fraction(token)
