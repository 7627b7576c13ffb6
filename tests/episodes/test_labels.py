"""What a step is called, and what must be explained about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from instances import KINDS, random_steps

from markovize.episodes.labels import Labels, kind_of, label_of, label_steps, labelled
from markovize.episodes.traces import Traces
from markovize.episodes.values import canonical, key_of
from markovize.errors import InputError


def spelled_out(traces: Traces, labels: Labels) -> list[Any]:
    assert len(labels.ids) == traces.steps
    return [key_of(labels.values[i]) for i in labels.ids]


def triples(traces: Traces) -> list[tuple[Any, Any, Any]]:
    return [(e.observations[n], e.actions[n], e.observations[n + 1]) for e in traces for n in range(e.steps)]


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_all_steps_are_the_labels_of_each(seed: int) -> None:
    traces = random_steps(np.random.default_rng(seed), labels=4, episodes=6, length=8)
    steps = triples(traces)
    assert spelled_out(traces, label_steps(traces, "state")) == [key_of(t) for _, _, t in steps]
    assert spelled_out(traces, label_steps(traces, "transition")) == [key_of(step) for step in steps]
    own = lambda s, a, t: [s == t, a]  # noqa: E731
    assert spelled_out(traces, label_steps(traces, own)) == [key_of(canonical(own(*step))) for step in steps]
    for on in ("state", "transition", own):
        assert spelled_out(traces, label_steps(traces, on)) == [
            key_of(canonical(label_of(on, *step))) for step in steps
        ]


def test_transitions_are_numbered_by_first_appearance() -> None:
    traces = Traces.of([([2, 1, 2, 1], ["b", "a", "b"], [0, 0, 0])])
    labels = label_steps(traces, "transition")
    assert labels.ids.tolist() == [0, 1, 0]
    assert labels.values == [(2, "b", 1), (1, "a", 2)]


def test_true_and_one_are_two_labels() -> None:
    traces = Traces.of([([0, 1, True, 1.0], [1, True, 1], [0, 0, 0])])
    assert len(set(label_steps(traces, "state").ids.tolist())) == 2
    assert label_steps(traces, "transition").ids.tolist() == [0, 1, 2]
    assert label_steps(traces, lambda _s, _a, t: t).ids.tolist() == [0, 1, 0]


def test_millions_of_values_do_not_collide() -> None:
    """Packed into 64 bits as (s * m + a) * n + s', these two steps would be one number."""
    many = range(2**22)
    observations = np.array([0, 7, 2**20, 7], np.int32)
    actions = np.array([5, 0, 5], np.int32)
    flags = np.zeros(1, np.bool_)
    traces = Traces(many, many, observations, actions, np.zeros(3), np.array([0, 3]), flags, flags)  # type: ignore[arg-type]
    assert label_steps(traces, "transition").values == [(0, 5, 7), (7, 0, 2**20), (2**20, 5, 7)]


@pytest.mark.parametrize("on", ["state", "transition", lambda *_: 1])
def test_no_steps_no_labels(on: Any) -> None:
    assert label_steps(Traces.of([([0], [], [])]), on).ids.tolist() == []


@pytest.mark.parametrize("on", ["auto", "function", 3, None])
def test_unknown_kinds_are_refused(on: Any) -> None:
    with pytest.raises(InputError, match="labels are 'state', 'transition' or a function"):
        kind_of(on)


def test_a_function_must_name_every_step() -> None:
    traces = Traces.of([([0, 1], ["a"], [0])])
    with pytest.raises(InputError, match=r"returned None for the step \(0, 'a', 1\)"):
        label_steps(traces, lambda *_: None)
    with pytest.raises(InputError, match="nan is not a finite number"):
        label_steps(traces, lambda *_: float("nan"))


@pytest.mark.parametrize("kinds", KINDS)
def test_outcomes_are_rewards(kinds: tuple[Any, Any]) -> None:
    traces = random_steps(np.random.default_rng(3), kinds=kinds)
    steps = labelled(traces, *kinds)
    assert [steps.outcome_values[o] for o in steps.outcomes] == [(r, None) for r in traces.rewards]
    assert (steps.triggers.kind, steps.rewards.kind) == kinds


def test_outcomes_are_rewards_and_ends() -> None:
    traces = Traces.of([([0, 1, 1], [0, 0], [5, 5], True), ([0, 1], [0], [5], False), ([0, 1], [0], [-1], True)])
    steps = labelled(traces, "state", "transition", "reward+termination")
    assert [steps.outcome_values[o] for o in steps.outcomes] == [(5, False), (5, True), (5, False), (-1, True)]


def test_minus_zero_is_zero() -> None:
    steps = labelled(Traces.of([([0, 1, 1], [0, 0], [0.0, -0.0])]), "state", "state")
    assert len(set(steps.outcomes.tolist())) == 1


def test_unknown_things_to_explain_are_refused() -> None:
    with pytest.raises(InputError, match=r"explain is 'reward' or 'reward\+termination', not 'all'"):
        labelled(Traces.of([]), "state", "state", "all")  # type: ignore[arg-type]
