"""What every labelling answers: the labels of steps, when a trigger fires, and how a label is said and stored.

A new kind is a subclass in a file of its own, and its line in :mod:`markovize.episodes.labelling.registry`. It must say
its ``kind`` and the :meth:`~Labelling.label` of one step; all else has a default that is right for exact labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypedDict

import numpy as np

from markovize.episodes.distinct import Distinct, distinct_keys
from markovize.episodes.traces import Ints, Longs, Traces
from markovize.episodes.values import Interner, On, Value, canonical, jsonable, key_of, show
from markovize.errors import one_line

LabelFunction: TypeAlias = Callable[[Any, Any, Any], Any]
LabelOn: TypeAlias = "str | LabelFunction | Labelling"
"""How a user names a labelling: by its kind, by a function of (state, action, next_state) or where it is found
(``module:function``), or by itself."""


class LabelFunctions(TypedDict, total=False):
    """What a machine's own labels come from, by the names of the arguments of all that runs machines."""

    trigger_on: LabelOn | None
    reward_on: LabelOn | None


Step: TypeAlias = tuple[Value, Value, Value]
"""(s, a, s')."""

Part: TypeAlias = Literal["state", "action", "next_state"]
PARTS: Final[tuple[Part, ...]] = ("state", "action", "next_state")
TEXT_LENGTH: Final = 34  # characters of a label in a drawing
SPELLED_LENGTH: Final = 1_000  # characters of a label in a sentence


@dataclass(frozen=True)
class Labels:
    """One label for each step: small integers, and what they mean."""

    kind: str
    ids: Ints = field(repr=False)
    values: list[Value] = field(repr=False)


@dataclass(frozen=True)
class Labelling(ABC):
    """A way to call the steps (s, a, s') of episodes.

    >>> from markovize.episodes.labelling import labelling_named
    >>> entering = labelling_named("state")
    >>> entering.label(("hall", "go", "office")), entering.describe("office")
    ('office', 'entering office')
    """

    kind: ClassVar[str]
    """The name in machine files and on the command line."""
    noun: ClassVar[str] = "label"
    """What a label is, in messages."""
    parts: ClassVar[tuple[Part, ...]] = ()
    """The parts of the step that a label consists of; none if it cannot be taken apart."""
    automatic: ClassVar[bool] = False
    """Whether ``auto`` tries it."""
    compared: ClassVar[bool] = False
    """Whether ``auto`` tries it for triggers where the machines of coarser labels are large."""
    exact: ClassVar[bool] = True
    """Whether a trigger fires on its own label and on no other; else :meth:`matches` is asked."""
    needs_function: ClassVar[bool] = False
    """Whether the kind alone cannot label steps: to run a machine, the user must give the function again."""

    # --- steps ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def label(self, step: Step) -> Value:
        """The label of a single step (s, a, s')."""

    def label_steps(self, traces: Traces) -> Labels:
        """The labels of all steps, numbered by first appearance."""
        ids, steps = distinct_steps(traces)
        table = Interner()
        own = np.array([table.id(self.label(step)) for step in steps], np.int32)
        return Labels(self.kind, own[ids] if len(own) else ids, table.values)

    def interner(self, observations: Interner) -> Interner:
        """Where labels of steps that are met one by one get their numbers.

        Labels that are observations keep the observations' numbers.
        """
        return observations if self.are_observations else Interner()

    @property
    def are_observations(self) -> bool:
        """Whether every label is an observation."""
        return self.parts in (("state",), ("next_state",))

    def refines(self, other: Labelling) -> bool:
        """Whether steps of one label here have one label there, whatever the episodes."""
        if set(self.parts) == set(PARTS) or self == other:
            return True
        return bool(other.parts) and set(other.parts) <= set(self.parts)

    # --- triggers ------------------------------------------------------------------------------------------------

    def matches(self, on: On, label: Value) -> bool:
        """Whether a trigger on ``on`` fires at a step with this label."""
        return key_of(on) == key_of(label)

    def split(self, label: On) -> dict[Part, Any] | None:
        """What a label says of its step, part by part; None if it is no label of this kind."""
        if len(self.parts) < 2:
            return dict.fromkeys(self.parts, label)
        if not isinstance(label, tuple) or len(label) != len(self.parts):
            return None
        return dict(zip(self.parts, label, strict=True))

    # --- words and files -----------------------------------------------------------------------------------------

    def describe(self, label: On) -> str:
        """What happens in a step with this label, on one line."""
        return f"seeing {spell(label)}"

    def text(self, label: On, length: int = TEXT_LENGTH) -> str:
        """The label as drawings show it, at most about this long."""
        return one_line(show(label), length)

    def lines(self, on: On, length: int = TEXT_LENGTH) -> list[str]:
        """The label as drawings show it where it may take several lines."""
        return [self.text(on, length)]

    def to_json(self, label: On) -> Any:
        """The label as a machine file holds it."""
        return jsonable(label)

    def from_json(self, raw: object) -> Value:
        """The label that a machine file holds; :class:`InputError` if it is none."""
        return canonical(raw)


def spell(label: On) -> str:
    """A label, or a part of one, as sentences have it: whole unless it is very long, and on one line.

    >>> spell((1, "two\\nlines"))
    '(1, two lines)'
    """
    return one_line(show(label), SPELLED_LENGTH)


def distinct_steps(traces: Traces) -> tuple[Ints, list[Step]]:
    """A number for each step, equal for equal (s, a, s') and by first appearance; and each number's (s, a, s')."""
    _, first, codes = number_steps(traces)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    s, a = traces.observation_values, traces.action_values
    before, actions, after = traces.states_before(), traces.actions, traces.states_after()
    return rank[codes], [(s[before[step]], a[actions[step]], s[after[step]]) for step in first[order]]


def number_steps(traces: Traces) -> Distinct[Longs]:
    """The different (s, a, s') of the steps, as numbers that mean nothing but which are equal."""
    n, m = max(1, len(traces.observation_values)), max(1, len(traces.action_values))
    pairs: Longs = traces.states_before().astype(np.int64) * m + traces.actions
    if n * m * n >= 2**63:  # millions of values that never repeat
        pairs = np.unique(pairs, return_inverse=True)[1]
    return distinct_keys(pairs * n + traces.states_after())
