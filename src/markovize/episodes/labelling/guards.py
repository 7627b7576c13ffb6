"""``guards``: a step is called by its features, and a trigger fires where its guard holds.

The kind alone cannot label steps: a machine says which features there are, so these labellings come from
:meth:`markovize.RewardMachine.trigger_labelling` and are not in the registry.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from markovize.episodes.features.extract import tabulate_features
from markovize.episodes.features.feature import Feature
from markovize.episodes.features.function import FeatureFunction
from markovize.episodes.features.guard import Guard
from markovize.episodes.features.step import step_values
from markovize.episodes.features.table import FeatureTable
from markovize.episodes.labelling.base import SPELLED_LENGTH, TEXT_LENGTH, Labelling, Labels, Step
from markovize.episodes.traces import Traces
from markovize.episodes.values import On, Value, jsonable, show
from markovize.errors import InputError, one_line

GUARDS: Final = "guards"
OTHERWISE: Final = "otherwise"  # where none of the reward guards holds
ANY_STEP: Final = "any step"  # where there are none
MOST_CLAUSES: Final = 6  # of a guard on an arrow


class GuardLabelling(Labelling):
    """What the labels of triggers and of rewards have in common: their words."""

    kind = GUARDS

    def describe(self, label: On) -> str:
        return one_line(self._words(label), SPELLED_LENGTH)

    def text(self, label: On, length: int = TEXT_LENGTH) -> str:
        return one_line(self._words(label), length)

    @abstractmethod
    def _words(self, label: On) -> str:
        """All that a label or a guard says."""


@dataclass(frozen=True)
class FeatureLabelling(GuardLabelling):
    """The label of a step is the tuple of its features' values; a trigger stands on a guard.

    >>> from markovize.episodes.features import Literal
    >>> from markovize.episodes.values import canonical
    >>> labelling = FeatureLabelling((Feature("here", "categorical"), Feature("x", "numeric")))
    >>> label = labelling.label(("hall", "go", canonical({"x": 7.5, "here": "dock"}, objects=True)))
    >>> label, labelling.matches(Guard([Literal("x", "below", 9)]), label)
    (('dock', 7.5), True)
    """

    noun = "guard"
    exact = False

    features: tuple[Feature, ...] = ()
    function: FeatureFunction | None = field(default=None, repr=False)

    def label(self, step: Step) -> Value:
        return step_values(self.features, step, self.function)

    def table(self, traces: Traces) -> FeatureTable:
        """The features of all steps, in columns."""
        return tabulate_features(traces, self.features, self.function)

    def label_steps(self, traces: Traces) -> Labels:
        table = self.table(traces)
        if not self.features:
            return Labels(self.kind, np.zeros(traces.steps, np.int32), [()] if traces.steps else [])
        ids, first = table.distinct()
        return Labels(self.kind, ids, [table.row(step) for step in first.tolist()])

    def matches(self, on: On, label: Value) -> bool:
        if not isinstance(on, Guard):
            return super().matches(on, label)
        assert isinstance(label, tuple)
        return on.holds_at(label, self._places)

    def lines(self, on: On, length: int = TEXT_LENGTH) -> list[str]:
        """For drawings: on one line where that is short, else a clause a line."""
        return guard_lines([on.clauses()] if isinstance(on, Guard) else [[self._words(on)]], length)

    def to_json(self, label: On) -> Any:
        return label.to_json() if isinstance(label, Guard) else jsonable(label)

    def _words(self, label: On) -> str:
        if isinstance(label, tuple) and len(label) == len(self.features):
            pairs = zip(self.features, label, strict=True)
            return ", ".join(f"{feature.name} = {show(value)}" for feature, value in pairs)
        return show(label)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {feature.name: place for place, feature in enumerate(self.features)}


@dataclass(frozen=True)
class ValuationLabelling(GuardLabelling):
    """The label of a step says which of a machine's reward guards hold, a boolean for each.

    >>> from markovize.episodes.features import Literal
    >>> from markovize.episodes.values import canonical
    >>> office, plant = (Guard([Literal("here", "is", name)]) for name in ("office", "plant"))
    >>> labelling = ValuationLabelling((Feature("here", "categorical"),), (office, plant))
    >>> labelling.label(("hall", "go", canonical({"here": "plant"}, objects=True)))
    (False, True)
    >>> labelling.describe((True, False)), labelling.describe((False, False))
    ('here = office', 'otherwise')
    """

    noun = "valuation"

    features: tuple[Feature, ...] = ()
    guards: tuple[Guard, ...] = ()
    function: FeatureFunction | None = field(default=None, repr=False)

    def label(self, step: Step) -> Value:
        return self.valuation(step_values(self.features, step, self.function))

    def valuation(self, values: Sequence[Value]) -> tuple[bool, ...]:
        """Which guards hold where the features have these values."""
        return tuple([guard.holds_at(values, self._places) for guard in self.guards])

    def label_steps(self, traces: Traces) -> Labels:
        return self.label_table(tabulate_features(traces, self.features, self.function), traces.steps)

    def label_table(self, table: FeatureTable, steps: int) -> Labels:
        """The labels of steps whose features are known already."""
        ids, values = np.zeros(steps, np.int64), list[tuple[bool, ...]]([()])
        for guard in self.guards:
            held = table.holds(guard) if table.columns else np.ones(steps, np.bool_)
            present, ids = np.unique(ids * 2 + held, return_inverse=True)
            values = [(*values[number // 2], bool(number % 2)) for number in present.tolist()]
        return Labels(self.kind, ids.astype(np.int32), [*values])

    def lines(self, on: On, length: int = TEXT_LENGTH) -> list[str]:
        """For drawings: on one line where that is short, else a clause a line."""
        held = self._held(on)
        return [self.text(on, length)] if held is None else guard_lines([g.clauses() for g in held], length)

    def from_json(self, raw: object) -> Value:
        if not isinstance(raw, list) or any(type(held) is not bool for held in raw) or len(raw) != len(self.guards):
            shown, many = one_line(repr(raw), 40), len(self.guards)
            raise InputError(f"must be a list of {many} booleans, one for each reward guard, not {shown}")
        return tuple(raw)

    def _words(self, label: On) -> str:
        held = self._held(label)
        if held is None:
            return show(label)
        return " and ".join(guard.text() for guard in held) or (OTHERWISE if self.guards else ANY_STEP)

    def _held(self, label: On) -> list[Guard] | None:
        if not isinstance(label, tuple) or len(label) != len(self.guards):
            return None
        return [guard for guard, held in zip(self.guards, label, strict=True) if held is True]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {feature.name: place for place, feature in enumerate(self.features)}


def guard_lines(guards: list[list[str]], length: int) -> list[str]:
    """Clauses that all hold: on one line if they fit, else one a line.

    >>> guard_lines([["here = door", "x < 3"]], 40), guard_lines([["here = door", "x < 3"]], 12)
    (['here = door and x < 3'], ['here = door', 'and x < 3'])
    """
    clauses = [clause for guard in guards for clause in guard or ["always"]] or [OTHERWISE]
    whole = " and ".join(clauses)
    if len(whole) <= length:
        return [whole]
    if len(clauses) > MOST_CLAUSES:
        clauses = [*clauses[: MOST_CLAUSES - 1], f"… +{len(clauses) - MOST_CLAUSES + 1}"]
    return [one_line(clause if number == 0 else f"and {clause}", 2 * length) for number, clause in enumerate(clauses)]
