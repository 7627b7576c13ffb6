"""A machine with guards as SMT-LIB definitions, so that solvers can reason about it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from markovize.episodes.features.guard import Guard
from markovize.episodes.features.literal import Literal
from markovize.episodes.values import Value, key_of, show, sort_key
from markovize.errors import one_line
from markovize.io.files import atomic_write
from markovize.io.machines.python_code import check_plain_guards
from markovize.io.registry import AnyPath
from markovize.machine.machine import RewardMachine
from markovize.machine.parts import Emission

RESERVED: Final = frozenset(
    (
        *("u", "next-state", "reward", "known", "terminal"),
        *("true", "false", "and", "or", "not", "xor", "ite", "distinct", "=>", "let", "forall", "exists", "match"),
        *("par", "Int", "Real", "Bool", "div", "mod", "abs", "to_real", "to_int", "is_int", "as", "!", "_"),
        *("=", "<", ">", "<=", ">=", "+", "-", "*", "/"),
    )
)


def write_smt_lib(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the definitions."""
    atomic_write(path, smt_lib(machine))


def smt_lib(machine: RewardMachine) -> str:
    """The definitions: a function for each guard, ``next-state``, ``reward``, ``known`` and ``terminal``.

    A numeric feature is a Real. A categorical one has a sort of its own: the values that guards ask for, and one for
    all others. ``reward`` is 0 where the episodes showed none; ``known`` says where they did.

    >>> from markovize.episodes.features import Feature
    >>> from markovize.machine.machine import Trigger
    >>> machine = RewardMachine("guards", "guards", 2, (Trigger(0, Guard([Literal("x", "below", 3)]), 1),),
    ...     features=(Feature("x", "numeric"),))
    >>> print(smt_lib(machine).splitlines()[4])
    (define-fun trigger-0 ((|x| Real)) Bool (< |x| 3.0))
    """
    check_plain_guards(machine, "SMT-LIB")
    names = _Names(machine)
    lines = ["; a reward machine with guards over features, written by markovize", "(set-logic ALL)"]
    lines += [f"; the machine starts in state {machine.initial} of 0 to {machine.states - 1}"]
    lines += [names.sort_of_values(feature) for feature in names.sorts]
    for kind, guards in (("trigger", names.triggers), ("pays", machine.reward_guards)):
        for number, guard in enumerate(guards):
            lines.append(f"; {one_line(guard.text(), 100)}")
            lines.append(f"(define-fun {kind}-{number} ({names.parameters}) Bool {names.conjunction(guard)})")
    state = f"((u Int){' ' if names.parameters else ''}{names.parameters})"
    lines.append(f"(define-fun next-state {state} Int {_nested(_moves(machine, names), 'u')})")
    cells = [(_cell(machine, names, emission), emission) for emission in machine.rewards]
    paid = [(cell, _real(emission.reward)) for cell, emission in cells if emission.reward]
    lines.append(f"(define-fun reward {state} Real {_nested(paid, '0.0')})")
    lines.append(f"(define-fun known {state} Bool {_any_of([cell for cell, _ in cells])})")
    ends = [cell for cell, emission in cells if emission.terminal]
    lines.append(f"(define-fun terminal {state} Bool {_any_of(ends)})")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Names:
    """What the machine's features and their values are called."""

    machine: RewardMachine

    @cached_property
    def triggers(self) -> list[Guard]:
        return [trigger.on for trigger in self.machine.triggers if isinstance(trigger.on, Guard)]

    @cached_property
    def features(self) -> dict[str, str]:
        return {feature.name: self._symbols["feature", feature.name] for feature in self.machine.features}

    @cached_property
    def sorts(self) -> dict[str, str]:
        """What the values of each categorical feature are called together."""
        return {name: self._symbols["sort", name] for name in self._asked}

    @cached_property
    def _asked(self) -> dict[str, dict[Hashable, Value]]:
        """For each categorical feature, the values that guards ask for."""
        asked: dict[str, dict[Hashable, Value]] = {f.name: {} for f in self.machine.features if not f.numeric}
        for guard in (*self.triggers, *self.machine.reward_guards):
            for literal in guard:
                if literal.relation == "is":
                    asked[literal.feature][key_of(literal.value)] = literal.value
        return asked

    @cached_property
    def _symbols(self) -> dict[Hashable, str]:
        """All symbols are chosen together, so that no two are the same."""
        wanted: list[tuple[Hashable, str]] = [(("feature", f.name), f.name) for f in self.machine.features]
        for name, values in self._asked.items():
            ordered = sorted(values.items(), key=lambda item: sort_key(item[1]))
            wanted += [(("sort", name), f"values of {name}"), (("other", name), f"other {name}")]
            wanted += [(("value", name, key), f"{name} = {show(value)}") for key, value in ordered]
        functions = [f"trigger-{number}" for number in range(len(self.triggers))]
        functions += [f"pays-{number}" for number in range(len(self.machine.reward_guards))]
        return _symbols(wanted, {*RESERVED, *functions})

    @property
    def parameters(self) -> str:
        sorts = {feature.name: self.sorts.get(feature.name, "Real") for feature in self.machine.features}
        return " ".join(f"({self.features[name]} {sort})" for name, sort in sorts.items())

    @property
    def arguments(self) -> str:
        return "".join(f" {symbol}" for symbol in self.features.values())

    def call(self, function: str) -> str:
        """A guard's value, for the features at hand."""
        return f"({function}{self.arguments})" if self.features else function

    def sort_of_values(self, feature: str) -> str:
        """The sort of a categorical feature: what guards ask for, and all else."""
        keys = sorted(self._asked[feature], key=lambda key: sort_key(self._asked[feature][key]))
        symbols = [*(self._symbols["value", feature, key] for key in keys), self._symbols["other", feature]]
        constructors = " ".join(f"({symbol})" for symbol in symbols)
        return f"(declare-datatypes (({self.sorts[feature]} 0)) (({constructors})))"

    def conjunction(self, guard: Guard) -> str:
        tests = [self._test(literal) for literal in guard]
        return "true" if not tests else tests[0] if len(tests) == 1 else f"(and {' '.join(tests)})"

    def _test(self, literal: Literal) -> str:
        symbol = self.features[literal.feature]
        if literal.relation == "is":
            return f"(= {symbol} {self._symbols['value', literal.feature, key_of(literal.value)]})"
        return f"({'>=' if literal.relation == 'at_least' else '<'} {symbol} {_real(literal.threshold)})"


def _moves(machine: RewardMachine, names: _Names) -> Iterator[tuple[str, str]]:
    for number, trigger in enumerate(machine.triggers):
        yield f"(and (= u {trigger.source}) {names.call(f'trigger-{number}')})", str(trigger.target)


def _cell(machine: RewardMachine, names: _Names, emission: Emission) -> str:
    """That a step is one of those that an emission is about."""
    assert isinstance(emission.on, tuple)
    held = [names.call(f"pays-{number}") for number in range(len(machine.reward_guards))]
    tests = [f"(= u {emission.source})", f"(= (next-state u{names.arguments}) {emission.target})"]
    tests += [call if true else f"(not {call})" for call, true in zip(held, emission.on, strict=True)]
    return f"(and {' '.join(tests)})"


def _any_of(tests: Sequence[str]) -> str:
    return "(or" + "".join(f"\n  {test}" for test in tests) + ")" if len(tests) > 1 else "".join(tests) or "false"


def _nested(cases: Iterable[tuple[str, str]], default: str) -> str:
    """The first case that is true."""
    chosen = list(cases)
    return "".join(f"\n  (ite {test} {value} " for test, value in chosen) + default + ")" * len(chosen)


def _real(value: float) -> str:
    text = format(Decimal(repr(abs(value))), "f")
    text = text if "." in text else f"{text}.0"
    return f"(- {text})" if value < 0 else text


def _symbols(names: Iterable[tuple[Hashable, str]], taken: set[str]) -> dict[Hashable, str]:
    """A quoted symbol for each text, different for different keys."""
    out: dict[Hashable, str] = {}
    for key, text in names:
        plain = "".join("_" if sign in "|\\" else sign for sign in one_line(text, 120))
        symbol, number = plain, 1
        while symbol in taken:
            number += 1
            symbol = f"{plain} #{number}"
        taken.add(symbol)
        out[key] = f"|{symbol}|"
    return out
