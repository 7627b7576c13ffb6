"""What must be explained about a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from instances import KINDS, random_steps

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.errors import InputError


@pytest.mark.parametrize("kinds", KINDS)
def test_outcomes_are_rewards(kinds: tuple[Any, Any]) -> None:
    traces = random_steps(np.random.default_rng(3), kinds=kinds)
    steps = label_traces(traces, *kinds)
    assert [steps.outcome_values[o] for o in steps.outcomes] == [(r, None) for r in traces.rewards]
    assert (steps.triggers.kind, steps.rewards.kind) == kinds


def test_outcomes_are_rewards_and_ends() -> None:
    traces = Traces.of([([0, 1, 1], [0, 0], [5, 5], True), ([0, 1], [0], [5], False), ([0, 1], [0], [-1], True)])
    steps = label_traces(traces, "state", "transition", "reward+termination")
    assert [steps.outcome_values[o] for o in steps.outcomes] == [(5, False), (5, True), (5, False), (-1, True)]


def test_minus_zero_is_zero() -> None:
    steps = label_traces(Traces.of([([0, 1, 1], [0, 0], [0.0, -0.0])]), "state", "state")
    assert len(set(steps.outcomes.tolist())) == 1


def test_one_labelling_labels_once() -> None:
    traces, calls = Traces.of([([0, 1, 1], ["a", "a"], [0, 1])]), []

    def own(s: Any, a: Any, t: Any) -> Any:
        calls.append((s, a, t))
        return t

    steps = label_traces(traces, own, own)
    assert steps.triggers is steps.rewards
    assert calls == [(0, "a", 1), (1, "a", 1)]


def test_unknown_things_to_explain_are_refused() -> None:
    with pytest.raises(InputError, match=r"explain is 'reward' or 'reward\+termination', not 'all'"):
        label_traces(Traces.of([]), "state", "state", "all")  # type: ignore[arg-type]
