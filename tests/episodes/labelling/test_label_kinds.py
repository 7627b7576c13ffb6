"""What each kind of label is, and how kinds are found by their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from markovize.episodes.labelling import (
    Labelling,
    auto_order,
    kind_names,
    labelling_for,
    labelling_named,
    labelling_of,
    pairs_to_compare,
    pairs_to_try,
    register,
)
from markovize.episodes.labelling.function import FunctionLabelling
from markovize.episodes.labelling.state import StateLabelling
from markovize.episodes.traces import Traces
from markovize.errors import InputError


@pytest.mark.parametrize(
    ("kind", "labels", "words"),
    [
        ("state", ["coffee", "office"], ["entering coffee", "entering office"]),
        ("source", ["hall", "coffee"], ["leaving hall", "leaving coffee"]),
        (
            "transition",
            [("hall", "go", "coffee"), ("coffee", "go", "office")],
            ["going from hall by go to coffee", "going from coffee by go to office"],
        ),
    ],
)
def test_the_labels_of_a_walk(kind: str, labels: list[Any], words: list[str]) -> None:
    traces, labelling = Traces.of([(["hall", "coffee", "office"], ["go", "go"], [0, 1])]), labelling_named(kind)
    found = labelling.label_steps(traces)
    assert [found.values[i] for i in found.ids] == labels
    assert [labelling.describe(label) for label in labels] == words


def test_transitions_are_numbered_by_first_appearance() -> None:
    traces = Traces.of([([2, 1, 2, 1], ["b", "a", "b"], [0, 0, 0])])
    labels = labelling_named("transition").label_steps(traces)
    assert labels.ids.tolist() == [0, 1, 0]
    assert labels.values == [(2, "b", 1), (1, "a", 2)]


def test_true_and_one_are_two_labels() -> None:
    traces = Traces.of([([0, 1, True, 1.0], [1, True, 1], [0, 0, 0])])
    assert len(set(labelling_named("state").label_steps(traces).ids.tolist())) == 2
    assert labelling_named("transition").label_steps(traces).ids.tolist() == [0, 1, 2]
    assert labelling_of(lambda _s, _a, t: t).label_steps(traces).ids.tolist() == [0, 1, 0]


def test_millions_of_values_do_not_collide() -> None:
    """Packed into 64 bits as (s * m + a) * n + s', these two steps would be one number."""
    many = range(2**22)
    observations = np.array([0, 7, 2**20, 7], np.int32)
    actions = np.array([5, 0, 5], np.int32)
    flags = np.zeros(1, np.bool_)
    traces = Traces(many, many, observations, actions, np.zeros(3), np.array([0, 3]), flags, flags)  # type: ignore[arg-type]
    assert labelling_named("transition").label_steps(traces).values == [(0, 5, 7), (7, 0, 2**20), (2**20, 5, 7)]


def test_a_function_must_name_every_step() -> None:
    traces = Traces.of([([0, 1], ["a"], [0])])
    with pytest.raises(InputError, match=r"returned None for the step \(0, 'a', 1\)"):
        labelling_of(lambda *_: None).label_steps(traces)
    with pytest.raises(InputError, match="nan is not a finite number"):
        labelling_of(lambda *_: float("nan")).label_steps(traces)


def test_without_its_function_a_labelling_labels_nothing() -> None:
    unbound = labelling_named("function")
    assert unbound.describe("coffee") == "seeing coffee"
    with pytest.raises(InputError, match="come from a user's function, and none was given"):
        unbound.label((0, "a", 1))


@pytest.mark.parametrize("on", ["auto", "function", "", 3, None, ["state"]])
def test_unknown_kinds_are_refused(on: Any) -> None:
    with pytest.raises(InputError, match=r"labels are 'state', .* or a function"):
        labelling_of(on)


def test_a_machines_kind_is_found_by_its_name() -> None:
    assert [labelling_named(kind).kind for kind in kind_names()] == list(kind_names())
    with pytest.raises(InputError, match=r"kinds of labels are state, .*, not 'colour'"):
        labelling_named("colour")


def test_running_a_machine_needs_labels_of_its_kind() -> None:
    own = lambda *step: step[2]  # noqa: E731
    assert labelling_for("function", own, "trigger_on") == FunctionLabelling(own)
    assert labelling_for("source", None, "trigger_on") == labelling_for("source", "source", "trigger_on")
    with pytest.raises(InputError, match="the machine's reward_on is 'state'; it cannot be run with 'function' labels"):
        labelling_for("state", own, "reward_on")
    with pytest.raises(InputError, match="the machine's reward_on is 'function'; it cannot be run with 'state' labels"):
        labelling_for("function", "state", "reward_on")
    with pytest.raises(InputError, match="come from a user's function; pass it as reward_on="):
        labelling_for("function", None, "reward_on")


def test_auto_goes_from_coarse_to_fine() -> None:
    order = [(labelling_named(t), labelling_named(r)) for t, r in auto_order()]
    for n, (trigger, reward) in enumerate(order):
        assert not any(trigger.refines(t) and reward.refines(r) for t, r in order[n + 1 :]), "finer ones come later"
    assert "source" not in {kind for pair in auto_order() for kind in pair}, "not at first"


def test_auto_compares_triggers_on_the_source_as_well() -> None:
    def kinds(trigger_on: Any, reward_on: Any) -> list[str]:
        return [f"{trigger.kind}/{reward.kind}" for trigger, reward in pairs_to_compare(trigger_on, reward_on)]

    assert kinds("auto", "state") == ["state/state", "source/state", "transition/state"]
    assert kinds("state", "auto") == ["state/state", "state/transition"]
    assert kinds(lambda *_: 1, "auto") == ["function/state", "function/transition"]
    assert kinds("state", "state") == ["state/state"], "what is asked for is done"
    for asked in ("auto", "state", "source", lambda *_: 1):
        tried, compared = pairs_to_try(asked, "auto"), pairs_to_compare(asked, "auto")
        assert [pair for pair in compared if pair in tried] == tried, "nothing is left out, and the order is the same"


def test_auto_beside_labels_on_request() -> None:
    def kinds(trigger_on: Any, reward_on: Any) -> list[tuple[str, str]]:
        return [(trigger.kind, reward.kind) for trigger, reward in pairs_to_try(trigger_on, reward_on)]

    assert kinds("auto", "source") == [("state", "source"), ("transition", "source")]
    assert kinds("source", "auto") == [("source", "state"), ("source", "transition")]
    assert kinds(lambda *_: 1, "state") == [("function", "state")]
    with pytest.raises(InputError, match=r"labels are 'state'"):
        pairs_to_try("auto", "colour")


def test_a_name_is_taken_once() -> None:
    register(StateLabelling())  # the same again changes nothing

    class Other(StateLabelling):
        pass

    with pytest.raises(InputError, match="there are labels of the kind 'state' already"):
        register(Other())

    class Auto(StateLabelling):
        kind = "auto"

    with pytest.raises(InputError, match="there are labels of the kind 'auto' already"):
        register(Auto())


@pytest.mark.parametrize(
    ("finer", "coarser"), [("transition", "state"), ("transition", "source"), ("transition", "function")]
)
def test_transitions_determine_all_other_labels(finer: str, coarser: str) -> None:
    one, other = labelling_named(finer), labelling_named(coarser)
    assert one.refines(other)
    assert not other.refines(one)


def test_neither_end_of_a_step_determines_the_other() -> None:
    entered, left = labelling_named("state"), labelling_named("source")
    assert not entered.refines(left)
    assert not left.refines(entered)
    assert not entered.refines(labelling_named("function"))


def test_labels_are_values(recwarn: pytest.WarningsRecorder) -> None:
    assert {labelling_named("state"), StateLabelling()} == {StateLabelling()}
    assert isinstance(labelling_of(print), Labelling)
    assert not recwarn
