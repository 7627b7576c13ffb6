"""Machines with guards: what they must be, their files, and that δ, words and labels work on them."""

from __future__ import annotations

import copy
import json
import math
import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from guarded_machines import BOXES, COFFEE, OFFICE_WALKS, box, here, random_machine

from markovize import Emission, Feature, Guard, InputError, Literal, MachineError, RewardMachine, Trigger, describe
from markovize.episodes.labelling.guards import FeatureLabelling, ValuationLabelling
from markovize.io.machines.json import machine_text
from markovize.machine.machine import sorted_triggers
from markovize.machine.matching import match
from markovize.machine.summary import arrows


def test_the_contract() -> None:
    data = BOXES.to_json()
    fields = ["format", "version", "trigger_on", "reward_on", "features", "states", "initial", "triggers"]
    assert list(data) == [*fields, "reward_guards", "rewards"]
    assert (data["version"], data["trigger_on"], data["reward_on"]) == (2, "guards", "guards")
    assert data["features"] == [{"name": "x", "kind": "numeric"}, {"name": "y", "kind": "numeric"}]
    assert COFFEE.to_json()["triggers"] == [{"from": 0, "when": [{"feature": "here", "is": "coffee"}], "to": 1}]
    first = data["reward_guards"][0][0]
    assert first == {"feature": "x", "at_least": 7.0, "gap": [6.98, 7.03]}
    assert data["rewards"][-1] == {"from": 1, "on": [True], "to": 1, "reward": 1.0, "terminal": True}


def test_the_example_of_the_contract_is_read() -> None:
    data = {
        "format": "markovize.reward-machine",
        "version": 2,
        "trigger_on": "guards",
        "reward_on": "guards",
        "features": [{"name": "x", "kind": "numeric"}, {"name": "here", "kind": "categorical"}],
        "states": 2,
        "initial": 0,
        "triggers": [{"from": 0, "when": [{"feature": "here", "is": "coffee"}], "to": 1}],
        "reward_guards": [
            [
                {"feature": "x", "at_least": 7.0, "gap": [6.98, 7.03]},
                {"feature": "x", "below": 9.0, "gap": [8.97, 9.01]},
            ]
        ],
        "rewards": [{"from": 1, "on": [True], "to": 1, "reward": 1.0, "terminal": True}],
    }
    machine = RewardMachine.from_json(data)
    assert machine.to_json() == data
    assert machine.step(0, (3, "coffee")) == 1
    assert describe(machine) == ["in state 0, here = coffee → state 1"]


def test_files_hold_machines_as_they_are() -> None:
    rng = random.Random(1)
    for machine in (COFFEE, BOXES, *(random_machine(rng) for _ in range(50))):
        text = machine_text(machine)
        again = RewardMachine.from_json(json.loads(text))
        assert again == machine
        assert machine_text(again) == text


def test_machines_without_guards_are_of_version_1() -> None:
    data = RewardMachine("state", "state", 2, (Trigger(0, 3, 1),)).to_json()
    assert data["version"] == 1
    assert not {"features", "reward_guards"} & set(data)


def test_rewards_may_have_labels() -> None:
    machine = RewardMachine(
        "guards",
        "state",
        2,
        (Trigger(0, box((0, 1), (0, 1)), 1),),
        (Emission(0, (1, 2), 1, 0.5),),
        features=BOXES.features,
    )
    again = RewardMachine.from_json(machine.to_json())
    assert again == machine
    assert again.reward(0, (1, 2), 1) == 0.5
    assert again.to_json()["reward_guards"] == []


Change = Callable[[dict[str, Any]], None]


def put(*way: Any, value: Any) -> Change:
    def change(data: dict[str, Any]) -> None:
        for part in way[:-1]:
            data = data[part]
        data[way[-1]] = value

    return change


def drop(*way: Any) -> Change:
    def change(data: dict[str, Any]) -> None:
        for part in way[:-1]:
            data = data[part]
        del data[way[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (drop("features"), 'field "features" is missing'),
        (put("features", value={}), '"features" must be a list'),
        (drop("features", 1), '"triggers"[0]: there is no feature y; the features are x'),
        (put("features", 1, "name", value="x"), '"features": there are two features called x'),
        (put("features", 1, "name", value=""), '"features"[1]: a feature\'s name is a text'),
        (put("features", 1, "name", value=7), '"features"[1]: "name" must be a string'),
        (
            put("features", 1, "kind", value="wide"),
            '"features"[1]: the kind of the feature y is numeric or categorical',
        ),
        (put("features", 1, "kind", value="categorical"), '"triggers"[0]: "at_least" is for numeric features'),
        (drop("triggers", 0, "when"), '"triggers"[0]: field "when" is missing'),
        (put("triggers", 0, "when", value="x"), '"triggers"[0]: "when" must be a list'),
        (put("triggers", 0, "when", value=[3]), '"triggers"[0]: field "when": a literal is a JSON object'),
        (put("triggers", 0, "when", 0, "feature", value="z"), '"triggers"[0]: there is no feature z'),
        (put("triggers", 0, "when", 0, "below", value=3), '"triggers"[0]: field "when": a literal has one of'),
        (put("triggers", 0, "when", 0, "at_least", value=math.nan), "nan is not a finite number"),
        (put("triggers", 0, "when", 0, "gap", value=[3, 4]), "is not around its threshold"),
        (put("triggers", 0, "when", 0, value={"feature": "x", "is": 3}), '"is" on x needs no other literal'),
        (put("triggers", 0, "when", value=[{"feature": "x", "is": 3}]), '"is" is for categorical features, and x is'),
        (put("triggers", 0, "to", value=0), '"triggers"[0] is a self-loop'),
        (put("triggers", 0, "to", value=9), '"triggers"[0]: state 9 is not one of'),
        (put("reward_guards", value=3), '"reward_guards" must be a list'),
        (put("reward_guards", 0, value={}), '"reward_guards"[0]: a guard is a list of literals'),
        (put("reward_guards", 0, 0, "feature", value="z"), '"reward_guards"[0]: there is no feature z'),
        (drop("reward_guards"), '"rewards"[0]: field "on": must be a list of 0 booleans'),
        (put("rewards", 0, "on", value=[True, True]), '"rewards"[0]: field "on": must be a list of 1 booleans'),
        (put("rewards", 0, "on", value=[1]), '"rewards"[0]: field "on": must be a list of 1 booleans'),
        (put("rewards", 0, "on", value=True), '"rewards"[0]: field "on": must be a list of 1 booleans'),
        (put("rewards", 1, "on", value=[False]), '"rewards"[1]: (0, (false), 0) appears twice'),
        (put("trigger_on", value="state"), '"trigger_on" must be "guards" in version 2'),
        (put("reward_on", value="state"), '"reward_guards" must be empty where "reward_on" is "state"'),
        (put("reward_on", value="colour"), '"reward_on" must be one of'),
        (put("version", value=1), '"triggers"[0]: field "on" is missing'),
    ],
)
def test_malformed_files_are_refused(change: Change, reason: str) -> None:
    data = copy.deepcopy(BOXES.to_json())
    change(data)
    with pytest.raises(MachineError) as error:
        RewardMachine.from_json(data)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"triggers": (Trigger(0, "coffee", 1),)}, '"triggers"[0] must be a guard, not coffee'),
        ({"triggers": (Trigger(0, here("a"), 1), Trigger(0, here("a"), 1))}, "has two triggers on here = a"),
        ({"trigger_on": "state"}, '"reward_on" is "guards" only where "trigger_on" is'),
        ({"trigger_on": "state", "reward_on": "state"}, '"features" and "reward_guards" are for'),
        (
            {"trigger_on": "state", "reward_on": "state", "features": (), "reward_guards": (), "rewards": ()},
            '"triggers"[0]: a guard needs "trigger_on": "guards"',
        ),
        ({"rewards": (Emission(0, (True,), 0, 1.0),)}, '"rewards"[0]: "on" must be 2 booleans'),
        ({"features": ("here",)}, "\"features\"[0] must be a feature, not 'here'"),
    ],
)
def test_machines_that_make_no_sense_are_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(MachineError) as error:
        replace(COFFEE, **change)
    assert reason in str(error.value)


def test_the_first_trigger_that_holds_fires() -> None:
    wide, narrow = Guard([Literal("x", "below", 5)]), Guard([Literal("x", "below", 3)])
    machine = RewardMachine(
        "guards",
        "guards",
        4,
        (Trigger(0, wide, 3), Trigger(0, narrow, 1), Trigger(0, Guard(), 2)),
        features=(Feature("x", "numeric"),),
    )
    assert [machine.step(0, (x,)) for x in (2, 4, 9)] == [3, 3, 2]
    assert [machine.delta.fired(0, (x,)) for x in (2, 4, 9)] == [0, 0, 2]
    assert [trigger["to"] for trigger in machine.to_json()["triggers"]] == [3, 1, 2]
    assert sorted_triggers(machine.triggers) == machine.triggers
    assert machine.delta.table([(2,), (9,)]).tolist()[0] == [3, 2]
    assert describe(machine)[2] == "in state 0, always → state 2"


def test_words() -> None:
    assert describe(COFFEE, rewards=True) == [
        "in state 0, here = coffee → state 1",
        "in state 0, here = plant pays -1 and ends the episode",
        "in state 1, here = plant pays -1 and ends the episode",
        "in state 1, here = office pays 1 and ends the episode",
    ]
    assert describe(BOXES)[0] == "in state 0, 1 ≤ x < 3 and 7 ≤ y < 9 → state 1"
    assert [arrow.lines for arrow in arrows(COFFEE)] == [
        ("here = plant: reward -1, end",),
        ("here = coffee",),
        ("here = office: reward 1, end", "here = plant: reward -1, end"),
    ]


def test_guards_that_would_serve_as_well() -> None:
    machine = replace(COFFEE, triggers=(Trigger(0, here("coffee"), 1, (here("mug"), box_of_x())),))
    again = RewardMachine.from_json(machine.to_json())
    assert again == machine
    assert again.triggers[0].alternatives == (here("mug"), box_of_x())
    assert describe(again)[0].endswith("(2 other guards fit as well: here = mug, 1 ≤ x < 2)")
    with pytest.raises(MachineError, match=r'"triggers".0.: there is no feature y'):
        replace(COFFEE, triggers=(Trigger(0, here("coffee"), 1, (Guard([Literal("y", "below", 3)]),)),))


def box_of_x() -> Guard:
    return Guard([Literal("x", "at_least", 1), Literal("x", "below", 2)])


def test_machines_are_compared_by_their_guards() -> None:
    same = match(COFFEE, RewardMachine.from_json(COFFEE.to_json()), [[("coffee", 0.5), ("office", 0.5)]])
    assert same.equal
    other = replace(COFFEE, triggers=(Trigger(0, here("mug"), 1),))
    assert (match(other, COFFEE).extra, match(other, COFFEE).missing) == ((0,), (0,))
    fewer = replace(COFFEE, features=COFFEE.features[:1])
    assert match(fewer, COFFEE, [[("coffee", 0.5)]]).same == ((0, 0),)
    assert pickle.loads(pickle.dumps(COFFEE)) == COFFEE


def test_long_guards_take_a_line_for_each_clause() -> None:
    guard = Guard([Literal(f"feature number {n}", "at_least", n) for n in range(9)])
    features = tuple(Feature(f"feature number {n}", "numeric") for n in range(9))
    machine = RewardMachine("guards", "guards", 2, (Trigger(0, guard, 1),), features=features)
    (arrow,) = arrows(machine)
    assert arrow.lines[:2] == ("feature number 0 ≥ 0", "and feature number 1 ≥ 1")
    assert arrow.lines[-1] == "and … +4"
    assert len(arrow.lines) == 6


def test_what_labels_steps() -> None:
    triggers, rewards = COFFEE.trigger_labelling(), COFFEE.reward_labelling()
    assert isinstance(triggers, FeatureLabelling)
    assert isinstance(rewards, ValuationLabelling)
    labels, valuations = triggers.label_steps(OFFICE_WALKS), rewards.label_steps(OFFICE_WALKS)
    named = [labels.values[label] for label in labels.ids]
    assert named[:3] == [("coffee", 0.5), ("hall", 0.7), ("office", 0.5)]
    assert [valuations.values[label] for label in valuations.ids] == [
        (False, False),
        (False, False),
        (True, False),
        (False, False),
        (True, False),
        (False, True),
    ]
    episode = OFFICE_WALKS.episode(0)
    step = episode.observations[0], episode.actions[0], episode.observations[1]
    assert (triggers.label(step), rewards.label(step)) == (("coffee", 0.5), (False, False))
    assert triggers.describe(("coffee", 0.5)) == "here = coffee, x = 0.5"
    assert COFFEE.trigger_labelling(triggers) is triggers


def test_features_of_a_function_must_be_given_again() -> None:
    step = 0, "go", 3
    machine = replace(COFFEE, features=(Feature("here", "categorical"),))
    with pytest.raises(InputError, match=r"here is not among those of the step: state; if .* give features="):
        machine.trigger_labelling().label(step)

    def places(*step: Any) -> dict[str, str]:
        return {"here": "coffee" if step[2] == 3 else "hall"}

    assert machine.trigger_labelling(features=places).label(step) == ("coffee",)
    assert machine.reward_labelling(features=places).label(step) == (False, False)
    with pytest.raises(InputError, match="features= does not return it"):
        machine.trigger_labelling(features=lambda *_: {}).label(step)
    with pytest.raises(InputError, match="it cannot be run with 'state'"):
        machine.trigger_labelling("state")
    with pytest.raises(InputError, match="features= is for machines with guards"):
        RewardMachine("state", "state", 1).trigger_labelling(features=places)
    with pytest.raises(InputError, match="the feature x is not numeric: wide is no number"):
        BOXES.trigger_labelling(features=lambda *_: {"x": "wide", "y": 2}).label(step)


def test_no_features_at_all() -> None:
    machine = RewardMachine("guards", "guards", 2, (Trigger(0, Guard(), 1),), (Emission(0, (), 1, 2.0),))
    assert RewardMachine.from_json(machine.to_json()) == machine
    assert (machine.step(0, ()), machine.step(1, ()), machine.reward(0, (), 1)) == (1, 1, 2.0)
    assert machine.trigger_labelling().label_steps(OFFICE_WALKS).values == [()]


def test_words_name_a_guard_that_must_not_hold() -> None:
    """Only where it matters: with it, something else is paid."""
    x, y = (Feature(name, "numeric") for name in "xy")
    near, high = Guard([Literal("x", "below", 5)]), Guard([Literal("y", "at_least", 7)])
    pays = [Emission(0, (False, True), 0, 1.0), Emission(0, (True, True), 0, 0.0), Emission(0, (False, False), 0, 0.0)]
    machine = RewardMachine("guards", "guards", 1, (), tuple(pays), features=(x, y), reward_guards=(near, high))
    assert describe(machine, rewards=True)[1:] == ["in state 0, y ≥ 7 unless x < 5 pays 1"]
    alike = replace(machine, rewards=(pays[0], replace(pays[1], reward=1.0), pays[2]))
    assert "unless" not in " ".join(describe(alike, rewards=True))
