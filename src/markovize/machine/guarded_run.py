"""Runs a machine with guards over the features of all steps: guards become arrays, and a compiled loop reads them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from markovize.episodes.features.guard import Guard
from markovize.episodes.features.literal import Literal
from markovize.episodes.features.table import FeatureTable
from markovize.episodes.traces import Floats, Ints, Longs
from markovize.machine.guard_kernels import CompiledGuards, guarded_states
from markovize.machine.parts import Trigger

if TYPE_CHECKING:
    from markovize.machine.machine import RewardMachine


class GuardedRun(NamedTuple):
    """For every step the state before and after it, and the number of the trigger that fired, or -1."""

    before: Ints
    after: Ints
    fired: Ints


def run_guards(machine: RewardMachine, offsets: Longs, table: FeatureTable, starts: Ints | None = None) -> GuardedRun:
    """A machine's way through episodes whose features are known; ``starts``: after which step an episode goes on.

    >>> from markovize.episodes.features import Feature, extract_features
    >>> from markovize.episodes.traces import Traces
    >>> from markovize.machine.machine import RewardMachine, Trigger
    >>> traces = Traces.of([([0.5, 3.5, 1.5], ["go", "go"], [0, 1])])
    >>> machine = RewardMachine("guards", "guards", 2, (Trigger(0, Guard([Literal("state", "at_least", 3)]), 1),),
    ...     features=(Feature("state", "numeric"),))
    >>> run_guards(machine, traces.offsets, extract_features(traces)).after.tolist()
    [1, 1]
    """
    numbers, codes, columns = _matrices(machine.triggers, table, int(offsets[-1]))
    guards = compile_guards(machine.triggers, machine.states, table, columns)
    return GuardedRun(*guarded_states(offsets, numbers, codes, guards, machine.initial, starts))


def compile_guards(
    triggers: Sequence[Trigger], states: int, table: FeatureTable, columns: dict[str, int]
) -> CompiledGuards:
    """The guards of these triggers as arrays; ``columns`` says where each feature is, as the loop counts them."""
    order = sorted(range(len(triggers)), key=lambda number: triggers[number].source)  # stable: the listed order stays
    literals = [_merged(_guard(triggers[number])) for number in order]
    flat = [literal for group in literals for literal in group]
    sources = [triggers[number].source for number in order]
    return CompiledGuards(
        np.searchsorted(sources, np.arange(states + 1)).astype(np.int32),
        np.array([triggers[number].target for number in order], np.int32),
        np.array(order, np.int32),
        np.cumsum([0, *map(len, literals)]).astype(np.int32),
        np.array([columns[bounds[0].feature] for bounds in flat], np.int32),
        np.array([_bound(bounds, "at_least", -np.inf) for bounds in flat], np.float64),
        np.array([_bound(bounds, "below", np.inf) for bounds in flat], np.float64),
        np.array([_code(bounds[0], table) for bounds in flat], np.int32),
    )


def _guard(trigger: Trigger) -> Guard:
    assert isinstance(trigger.on, Guard)
    return trigger.on


def _merged(guard: Guard) -> list[list[Literal]]:
    """The literals of each feature together: both bounds of one are one test."""
    return [list(same) for _, same in groupby(guard.literals, key=lambda literal: literal.feature)]


def _bound(literals: Sequence[Literal], relation: str, default: float) -> float:
    return next((literal.threshold for literal in literals if literal.relation == relation), default)


def _code(literal: Literal, table: FeatureTable) -> int:
    """What is compared; a value that no step has gets a code that no step has."""
    return table.code(table.place(literal.feature), literal.value) if literal.relation == "is" else -1


def _matrices(triggers: Sequence[Trigger], table: FeatureTable, steps: int) -> tuple[Floats, Ints, dict[str, int]]:
    """The columns that guards ask for: numbers, codes, and where each feature is among them."""
    used = {literal.feature: None for trigger in triggers for literal in _guard(trigger)}
    numeric = [name for name in used if table.features[table.place(name)].numeric]
    others = [name for name in used if name not in numeric]
    columns = {name: place for place, name in enumerate(numeric)}
    columns |= {name: -1 - place for place, name in enumerate(others)}
    numbers, codes = np.zeros((len(numeric), steps)), np.zeros((len(others), steps), np.int32)
    for place, name in enumerate(numeric):
        numbers[place] = table.column(name)
    for place, name in enumerate(others):
        codes[place] = table.column(name)
    return numbers, codes, columns
