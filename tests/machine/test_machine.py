"""The reward machine: immutable, checked when made, the same after a trip through JSON."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.labelling import kind_names
from markovize.episodes.values import Value
from markovize.errors import MachineError
from markovize.machine.graph import topological_order
from markovize.machine.machine import (
    Emission,
    RewardMachine,
    Trigger,
    sorted_emissions,
    sorted_triggers,
)

COFFEE = RewardMachine(
    "state",
    "transition",
    3,
    (Trigger(0, (1, 1), 1, ((1, 2), "door")), Trigger(1, True, 2), Trigger(0, 0.5, 2)),
    (Emission(1, (1, 0, True), 2, 1.5, True), Emission(0, (0, "up", 1), 0, -0.0)),
)


def test_steps_and_rewards() -> None:
    assert [COFFEE.step(0, x) for x in ((1, 1), (1.0, 1), (1, 2), 0.5)] == [1, 1, 0, 2]
    assert [COFFEE.step(1, x) for x in (True, 1, (1, 1))] == [2, 1, 1]
    assert COFFEE.reward(1, (1, 0, True), 2) == 1.5
    assert COFFEE.reward(1, (1, 0, 1), 2) is None
    assert COFFEE.reward(1, (1, 0, True), 1) is None
    assert COFFEE.terminal(1, (1, 0, True), 2)
    assert not COFFEE.terminal(0, (0, "up", 1), 0)
    assert not COFFEE.terminal(0, "never seen", 0)


def test_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        COFFEE.states = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        COFFEE.triggers[0].on = 3  # type: ignore[misc]


def _raw(value: Any) -> Value:
    """A label as a user may give it, before a machine has made it a value."""
    return cast(Value, value)


def test_lists_and_arrays_are_labels_too() -> None:
    array, one_list, two_list = _raw(np.array([1, 1])), _raw([1.0]), _raw([2, 2.0])
    machine = RewardMachine("state", "state", 2, (Trigger(0, array, 1, (two_list,)),), (Emission(0, one_list, 1, 1.0),))
    assert machine.step(0, (1, 1)) == 1
    assert machine.triggers[0].alternatives == ((2, 2),)
    assert machine.reward(0, (1,), 1) == 1.0


@pytest.mark.parametrize("label", [None, math.nan, {"a": 1}])
def test_no_label_no_machine(label: Any) -> None:
    for make in (lambda: Trigger(0, label, 1), lambda: Emission(0, label, 0, 1.0), lambda: Trigger(0, 1, 1, (label,))):
        with pytest.raises(MachineError, match="is not a"):
            make()


@pytest.mark.parametrize(
    ("edges", "acyclic"),
    [([], True), ([(0, 1), (1, 2), (0, 2)], True), ([(0, 1), (1, 0)], False), ([(1, 2), (2, 1)], False)],
)
def test_acyclic(edges: list[tuple[int, int]], acyclic: bool) -> None:
    triggers = tuple(Trigger(u, f"{u}{v}", v) for u, v in edges)
    assert RewardMachine("state", "state", 3, triggers).acyclic is acyclic


# --- JSON ---------------------------------------------------------------------------------------------------------


def through_json(machine: RewardMachine) -> RewardMachine:
    return RewardMachine.from_json(json.loads(json.dumps(machine.to_json())))


LABELS = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2).map(tuple),
    max_leaves=4,
)


@st.composite
def machines(draw: st.DrawFn) -> RewardMachine:
    states = draw(st.integers(1, 4))
    state = st.integers(0, states - 1)
    kind = st.sampled_from(("state", "transition", "function"))
    triggers = [
        Trigger(u, ("t", n), v, tuple(draw(st.lists(LABELS, max_size=2))))
        for n, (u, v) in enumerate(draw(st.lists(st.tuples(state, state), max_size=4)))
        if u != v
    ]
    emissions = [
        Emission(draw(state), (n, draw(LABELS)), draw(state), reward, draw(st.booleans()))
        for n, reward in enumerate(draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4)))
    ]
    return RewardMachine(draw(kind), draw(kind), states, tuple(triggers), tuple(emissions), draw(state))


@settings(deadline=None)
@given(machines())
def test_round_trip(machine: RewardMachine) -> None:
    again = through_json(machine)
    assert repr(again) == repr(machine)
    assert repr(again.rewards) == repr(machine.rewards)


def test_true_stays_apart_from_one_after_the_round_trip() -> None:
    machine = RewardMachine("state", "state", 3, (Trigger(0, 1, 1), Trigger(0, True, 2), Trigger(0, (1, True), 1)))
    for known in (machine, through_json(machine)):
        assert [known.step(0, x) for x in (1, 1.0, True, False, (1, True), (1, 1))] == [1, 1, 2, 0, 1, 0]


def test_json_keys_are_the_contract() -> None:
    data = COFFEE.to_json()
    assert list(data) == ["format", "version", "trigger_on", "reward_on", "states", "initial", "triggers", "rewards"]
    assert data["triggers"][0] == {"from": 0, "on": [1, 1], "to": 1, "alternatives": [[1, 2], "door"]}
    assert data["rewards"][0] == {"from": 1, "on": [1, 0, True], "to": 2, "reward": 1.5, "terminal": True}
    assert (data["format"], data["version"]) == ("markovize.reward-machine", 1)


def test_what_may_be_left_out() -> None:
    data = COFFEE.to_json()
    del data["initial"], data["triggers"][1]["alternatives"], data["rewards"][1]["terminal"]
    data["comment"] = "ignored"
    assert RewardMachine.from_json(data) == COFFEE


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        for name in path[:-1]:
            data = data[name]
        data[path[-1]] = value

    return change


def drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        for name in path[:-1]:
            data = data[name]
        del data[path[-1]]

    return change


NO_NUMBERS: tuple[object, ...] = (True, "1", [])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (drop("format"), '"format" must be "markovize.reward-machine", not None'),
        (put("format", value=1), '"format" must be'),
        (drop("version"), '"version" must be 1 or 2, not None'),
        (put("version", value=2), '"trigger_on" must be "guards" in version 2, not '),
        (put("version", value=3), '"version" must be 1 or 2, not 3'),
        (put("version", value=True), '"version" must be 1 or 2, not True'),
        *((drop(n), f'field "{n}" is missing') for n in ("trigger_on", "reward_on", "states", "triggers", "rewards")),
        (
            put("trigger_on", value="colour"),
            f"\"trigger_on\" must be one of {', '.join(kind_names())}, guards, not 'colour'",
        ),
        (put("trigger_on", value=["state"]), '"trigger_on" must be one of'),
        (put("reward_on", value=None), '"reward_on" must be one of'),
        *((put("states", value=v), '"states" must be a whole number') for v in (0, -1, 2.5, "3", True, None, [3])),
        *((put("initial", value=v), f'"initial": state {v} is not one of 0…2') for v in (3, -1)),
        *((put("initial", value=v), '"initial" must be a whole number, not ') for v in (True, None, "0", 0.0)),
        (put("triggers", value={}), '"triggers" must be a list'),
        (put("rewards", value=None), '"rewards" must be a list'),
        (put("triggers", 1, value=[]), '"triggers"[1] must be an object'),
        (put("rewards", 0, value=3), '"rewards"[0] must be an object'),
        *(
            (drop(part, 1, n), f'"{part}"[1]: field "{n}" is missing')
            for part in ("triggers", "rewards")
            for n in ("from", "on", "to")
        ),
        *(
            (put(part, 1, n, value=7), f'"{part}"[1]: state 7 is not one of 0…2')
            for part in ("triggers", "rewards")
            for n in ("from", "to")
        ),
        (put("triggers", 0, "to", value=0), '"triggers"[0] is a self-loop'),
        (put("triggers", 2, "on", value=[1.0, 1]), '"triggers"[2]: state 0 has two triggers on (1, 1)'),
        (put("triggers", 0, "on", value=None), '"triggers"[0]: field "on": null is not a label'),
        (put("rewards", 0, "on", value={"a": 1}), '"rewards"[0]: field "on": a dict is not a label'),
        (put("triggers", 0, "alternatives", value="x"), '"triggers"[0]: "alternatives" must be a list'),
        (put("triggers", 0, "alternatives", value=[None]), '"triggers"[0]: field "alternatives": null is not a label'),
        (drop("rewards", 1, "reward"), '"rewards"[1]: field "reward" is missing'),
        *((put("rewards", 1, "reward", value=v), '"rewards"[1]: "reward" must be a number') for v in NO_NUMBERS),
        (put("rewards", 1, "reward", value=10**400), '"rewards"[1]: "reward" is too large'),
        (put("rewards", 1, "reward", value=math.inf), '"rewards"[1]: the reward must be finite, not inf'),
        (put("rewards", 1, "reward", value=math.nan), '"rewards"[1]: the reward must be finite, not nan'),
        (put("rewards", 1, "terminal", value=0), '"rewards"[1]: "terminal" must be true or false, not 0'),
        (
            put("rewards", 0, value={"from": 0, "on": [0, "up", 1.0], "to": 0, "reward": 9}),
            '"rewards"[1]: (0, (0, up, 1), 0) appears twice',
        ),
    ],
)
def test_malformed_fields_are_named(change: Callable[[dict[str, Any]], None], reason: str) -> None:
    data = copy.deepcopy(COFFEE.to_json())
    change(data)
    with pytest.raises(MachineError) as error:
        RewardMachine.from_json(data)
    assert reason in str(error.value)


@pytest.mark.parametrize("data", [None, [], "machine", 1])
def test_a_machine_is_an_object(data: Any) -> None:
    with pytest.raises(MachineError, match="a machine is a JSON object, not"):
        RewardMachine.from_json(data)


# --- order --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 5), st.data())
def test_topological_order(states: int, data: st.DataObject) -> None:
    state = st.integers(0, states - 1)
    edges = data.draw(st.lists(st.tuples(state, state), max_size=6))
    rank = data.draw(st.permutations(range(states)))
    reach = {(u, v) for u, v in edges}
    for w in range(states):
        reach |= {(u, v) for u in range(states) for v in range(states) if (u, w) in reach and (w, v) in reach}
    order = topological_order(states, edges, rank)
    assert (order is None) == any((u, u) in reach for u in range(states))
    if order is not None:
        assert sorted(order) == list(range(states))
        assert all(order.index(u) < order.index(v) for u, v in edges)
        assert topological_order(states, [], rank) == sorted(range(states), key=lambda u: rank[u])


def test_files_list_things_in_one_order() -> None:
    triggers = [Trigger(1, "a", 0), Trigger(0, "b", 1), Trigger(0, 2, 1), Trigger(0, True, 1), Trigger(0, (1,), 1)]
    assert [t.on for t in sorted_triggers(triggers)] == [True, 2, "b", (1,), "a"]
    emissions = [Emission(1, 5, 0, 1.0), Emission(0, 5, 1, 1.0), Emission(0, 9, 0, 1.0), Emission(0, 3, 0, 1.0)]
    assert [(e.source, e.target, e.on) for e in sorted_emissions(emissions)] == [
        (0, 0, 3),
        (0, 0, 9),
        (0, 1, 5),
        (1, 0, 5),
    ]
