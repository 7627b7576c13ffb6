"""What a step is called: by the state it enters, by the whole transition, or by a user's function.

A step has two labels, chosen independently: the *trigger label* moves the machine, the *reward label* selects the
reward. ``state`` is s', ``transition`` is (s, a, s'); a function of ``(state, action, next_state)`` brings a user's own
propositions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from markovize.episodes.traces import Ints, Longs, Traces
from markovize.episodes.values import Interner, Value
from markovize.errors import InputError

LabelFunction: TypeAlias = Callable[[Any, Any, Any], Any]
LabelKind: TypeAlias = Literal["state", "transition", "function"]
LabelOn: TypeAlias = Literal["state", "transition"] | LabelFunction
Explain: TypeAlias = Literal["reward", "reward+termination"]

BuiltIn: TypeAlias = Literal["state", "transition"]
AUTO_ORDER: Final[tuple[tuple[BuiltIn, BuiltIn], ...]] = (
    ("state", "state"),
    ("state", "transition"),
    ("transition", "transition"),
)


@dataclass(frozen=True)
class Labels:
    """One label for each step: small integers, and what they mean."""

    kind: LabelKind
    ids: Ints = field(repr=False)
    values: list[Value] = field(repr=False)


def kind_of(on: LabelOn) -> LabelKind:
    """``state``, ``transition`` or ``function``.

    >>> kind_of("state"), kind_of(lambda s, a, t: t > 3)
    ('state', 'function')
    """
    if callable(on):
        return "function"
    if on not in ("state", "transition"):
        raise InputError(f"labels are 'state', 'transition' or a function of (state, action, next_state), not {on!r}")
    return on


def labels_for(kind: LabelKind, given: LabelOn | None, name: str) -> LabelOn:
    """What to label steps with, for a machine of this kind: a user's own labels need the user's function.

    >>> labels_for("function", None, "trigger_on")
    Traceback (most recent call last):
    markovize.errors.InputError: the machine's labels come from a user's function; pass it as trigger_on=
    """
    if given is not None and kind_of(given) != kind:
        raise InputError(f"the machine's {name} is {kind!r}; it cannot be run with {kind_of(given)!r} labels")
    if kind != "function":
        return kind
    if given is None:
        raise InputError(f"the machine's labels come from a user's function; pass it as {name}=")
    return given


def label_steps(traces: Traces, on: LabelOn) -> Labels:
    """The labels of all steps.

    >>> from markovize.episodes.traces import Traces
    >>> traces = Traces.of([([0, 1, 1], ["go", "stay"], [0, 0])])
    >>> label_steps(traces, "transition").values
    [(0, 'go', 1), (1, 'stay', 1)]
    """
    kind = kind_of(on)
    after = traces.states_after()
    if kind == "state":
        return Labels(kind, after, traces.observation_values)
    before, actions = traces.states_before(), traces.actions
    n, m = max(1, len(traces.observation_values)), max(1, len(traces.action_values))
    pairs: Longs = before.astype(np.int64) * m + actions
    if n * m * n >= 2**63:  # millions of values that never repeat
        pairs = np.unique(pairs, return_inverse=True)[1]
    _, first, codes = np.unique(pairs * n + after, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    ids: Ints = rank[codes]
    s, a = traces.observation_values, traces.action_values
    triples: list[tuple[Value, Value, Value]] = [
        (s[before[step]], a[actions[step]], s[after[step]]) for step in first[order]
    ]
    if not callable(on):
        return Labels(kind, ids, list(triples))
    table = Interner()
    own = np.array([table.id(_called(on, triple)) for triple in triples], np.int32)
    return Labels(kind, own[ids] if len(own) else ids, table.values)


def label_of(on: LabelOn, state: Value, action: Value, next_state: Value) -> Any:
    """The label of a single step.

    >>> label_of("transition", 0, "go", 1)
    (0, 'go', 1)
    """
    if callable(on):
        return _called(on, (state, action, next_state))
    return next_state if kind_of(on) == "state" else (state, action, next_state)


def _called(function: LabelFunction, triple: tuple[Value, Value, Value]) -> Any:
    value = function(*triple)
    if value is None:
        raise InputError(f"the label function returned None for the step {triple}; return a value for every step")
    return value


@dataclass(frozen=True)
class LabelledSteps:
    """Episodes as the engines see them: for each step a trigger label, a reward label and an outcome.

    An *outcome* is what must be explained: the reward, or the pair (reward, terminal).
    """

    offsets: Longs
    triggers: Labels
    rewards: Labels
    outcomes: Ints
    outcome_values: list[tuple[float, bool | None]]


def labelled(traces: Traces, trigger_on: LabelOn, reward_on: LabelOn, explain: Explain = "reward") -> LabelledSteps:
    """Labels every step of the traces.

    >>> from markovize.episodes.traces import Traces
    >>> labelled(Traces.of([([0, 1], ["go"], [2.5])]), "state", "state").outcome_values
    [(2.5, None)]
    """
    if explain not in ("reward", "reward+termination"):
        raise InputError(f"explain is 'reward' or 'reward+termination', not {explain!r}")
    values, first, ids = np.unique(traces.rewards, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # numbered by first appearance: more episodes renumber nothing
    values, codes = values[order], np.argsort(order).astype(np.int32)[ids]
    outcomes: list[tuple[float, bool | None]] = [(float(v), None) for v in values]
    if explain == "reward+termination":
        codes = codes * 2 + traces.ends()
        outcomes = [(float(v), end) for v in values for end in (False, True)]
    trigger_labels = label_steps(traces, trigger_on)
    reward_labels = trigger_labels if reward_on == trigger_on else label_steps(traces, reward_on)
    return LabelledSteps(traces.offsets, trigger_labels, reward_labels, codes.astype(np.int32), outcomes)
