"""What every labelling must satisfy, over all that are registered, and a toy one that takes one class and one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import random_steps

import markovize
from markovize.episodes.labelling import Labelling, Step, kind_names, labelling_named, labelling_of, register, registry
from markovize.episodes.traces import Traces
from markovize.episodes.values import Interner, On, Value, key_of
from markovize.learning.learner import LearnOptions
from markovize.machine.machine import Emission, RewardMachine, Trigger

scalars = st.integers(0, 3) | st.booleans() | st.sampled_from(["hall", "a/b", "", "long " * 40, "two\nlines", 0.5])
values = scalars | st.tuples(scalars, scalars)
walks = st.lists(
    st.integers(0, 6).flatmap(
        lambda n: st.tuples(
            st.lists(values, min_size=n + 1, max_size=n + 1),
            st.lists(scalars, min_size=n, max_size=n),
            st.just([0.0] * n),
        )
    ),
    min_size=1,
    max_size=4,
)


@dataclass(frozen=True)
class Warmth(Labelling):
    """A toy: a step is called by how much warmer it got. A trigger fires at its own difference and at any above it."""

    kind = "warmth"
    noun = "difference"
    exact = False

    def label(self, step: Step) -> Value:
        before, _, after = (len(str(part)) for part in step)
        return after - before

    def matches(self, on: On, label: Value) -> bool:
        return float(str(label)) >= float(str(on))


@pytest.fixture(autouse=True, scope="module")
def toy() -> Iterator[None]:
    register(Warmth())
    yield
    del registry._LABELLINGS["warmth"]


def labellings() -> list[Labelling]:
    """Those that are registered; where a function is needed, with one."""
    kinds = [labelling_named(kind) for kind in kind_names()] + [Warmth()]
    functions = [labelling_of(lambda s, a, t: [s == t, a]), labelling_of(lambda _s, _a, t: t)]
    return [labelling for labelling in kinds if not labelling.needs_function] + functions


every = pytest.mark.parametrize("labelling", labellings(), ids=lambda labelling: labelling.kind)


def steps_of(traces: Traces) -> list[Step]:
    return [(e.observations[n], e.actions[n], e.observations[n + 1]) for e in traces for n in range(e.steps)]


@every
@settings(deadline=None)
@given(walks)
def test_the_labels_of_all_steps_are_the_labels_of_each(labelling: Labelling, episodes: list[Any]) -> None:
    traces = Traces.of(episodes)
    labels = labelling.label_steps(traces)
    assert labels.kind == labelling.kind
    assert labels.ids.dtype == np.int32
    assert len(labels.ids) == traces.steps
    expected = [key_of(labelling.label(step)) for step in steps_of(traces)]
    assert [key_of(labels.values[i]) for i in labels.ids] == expected
    assert len({key_of(value) for value in labels.values}) == len(labels.values), "one number for each label"


@every
@settings(deadline=None)
@given(walks)
def test_labels_met_one_by_one_are_the_same(labelling: Labelling, episodes: list[Any]) -> None:
    traces = Traces.of(episodes)
    table = labelling.interner(Interner(traces.observation_values))
    met = [table.id(labelling.label(step)) for step in steps_of(traces)]
    labels = labelling.label_steps(traces)
    assert [key_of(table.values[n]) for n in met] == [key_of(labels.values[n]) for n in labels.ids]
    if labelling.are_observations:
        assert met == labels.ids.tolist()


@every
@settings(deadline=None)
@given(walks)
def test_labels_go_through_json(labelling: Labelling, episodes: list[Any]) -> None:
    for step in steps_of(Traces.of(episodes)):
        label = labelling.label(step)
        back = labelling.from_json(json.loads(json.dumps(labelling.to_json(label))))
        assert key_of(back) == key_of(label)


@every
@settings(deadline=None)
@given(walks)
def test_labels_are_said_on_one_line(labelling: Labelling, episodes: list[Any]) -> None:
    for step in steps_of(Traces.of(episodes)):
        label = labelling.label(step)
        for text in (labelling.describe(label), labelling.text(label), labelling.text(label, 20)):
            assert "\n" not in text
            assert text.isprintable()
        assert len(labelling.text(label, 20)) <= 40


@every
@settings(deadline=None)
@given(walks)
def test_parts_put_together_are_the_label(labelling: Labelling, episodes: list[Any]) -> None:
    for step in steps_of(Traces.of(episodes)):
        parts = labelling.split(labelling.label(step))
        assert parts is not None
        assert tuple(parts) == labelling.parts
        whole = dict(zip(("state", "action", "next_state"), step, strict=True))
        assert {part: key_of(value) for part, value in parts.items()} == {
            part: key_of(whole[part]) for part in labelling.parts
        }


@every
@settings(deadline=None)
@given(walks, walks)
def test_a_finer_labelling_determines_the_coarser(labelling: Labelling, one: list[Any], other: list[Any]) -> None:
    steps = steps_of(Traces.of([*one, *other]))
    for coarser in labellings():
        if labelling.refines(coarser):
            found = {key_of(labelling.label(step)): key_of(coarser.label(step)) for step in steps}
            assert all(found[key_of(labelling.label(step))] == key_of(coarser.label(step)) for step in steps)


@every
@settings(deadline=None)
@given(walks, st.data())
def test_matching_agrees_with_the_table_of_delta(labelling: Labelling, episodes: list[Any], data: Any) -> None:
    """The trigger that fires is the first of its state that matches; the table and single steps say the same."""
    traces = Traces.of(episodes)
    labels = labelling.label_steps(traces)
    if not labels.values:
        return
    ons = data.draw(st.lists(st.sampled_from(labels.values), max_size=4, unique_by=key_of))
    places = [(data.draw(st.sampled_from([(0, 1), (0, 2), (1, 2), (2, 0)])), on) for on in ons]
    machine = RewardMachine(labelling.kind, labelling.kind, 3, tuple(Trigger(u, on, v) for (u, v), on in places))
    table = machine.delta.table(labels.values)
    assert table.shape == (3, len(labels.values))
    for u in range(3):
        for number, label in enumerate(labels.values):
            matching = [t for t in machine.triggers if t.source == u and labelling.matches(t.on, label)]
            target = matching[0].target if matching else u
            assert table[u, number] == machine.step(u, label) == target
            fired = machine.delta.fired(u, label)
            assert fired is None if not matching else machine.triggers[fired or 0] is matching[0]


@pytest.mark.parametrize("labelling", [one for one in labellings() if one.exact], ids=lambda one: one.kind)
@pytest.mark.parametrize("seed", range(3))
def test_machines_are_learned_replayed_written_and_described(labelling: Labelling, seed: int, tmp_path: Any) -> None:
    traces = random_steps(np.random.default_rng(seed), labels=3, episodes=3, length=5)
    result = markovize.learn(traces, trigger_on=labelling, reward_on=labelling)
    if result.machine is None:
        assert result.contradiction is not None
        return
    machine, given = result.machine, labelling if labelling.needs_function else None
    assert (machine.trigger_on, machine.reward_on) == (labelling.kind, labelling.kind)
    markovize.write_machine(tmp_path / "m.json", machine)
    assert markovize.read_machine(tmp_path / "m.json") == machine
    report = markovize.replay(machine, traces, trigger_on=given, reward_on=given)
    assert (report.unseen, report.mismatches) == (0, 0)
    assert markovize.check(traces, machine, trigger_on=given, reward_on=given).markov
    assert all("\n" not in line for line in markovize.describe(machine, rewards=True))


def test_a_toy_kind_runs_everywhere(tmp_path: Any) -> None:
    """One class and one line: machines on it are read, replayed, described and drawn."""
    machine = RewardMachine("warmth", "state", 2, (Trigger(0, 2, 1),), (Emission(1, "boiling", 1, 1.0),))
    markovize.write_machine(tmp_path / "m.json", machine)
    assert markovize.read_machine(tmp_path / "m.json") == machine
    assert machine.step(0, 5) == 1, "more than the trigger's own"
    assert machine.step(0, 1) == 0
    traces = Traces.of([(["ice", "boiling", "boiling"], ["heat", "wait"], [0, 1]), (["hot", "cold"], ["wait"], [0])])
    assert markovize.replay(machine, traces).mismatches == 0
    assert markovize.check(traces, machine).markov
    assert markovize.describe(machine) == ["in state 0, seeing 2 → state 1"]
    markovize.draw(tmp_path / "m.svg", machine)
    assert markovize.Product.of(traces, machine).reward(("boiling", 1), "wait", ("boiling", 1)) == 1.0


@pytest.mark.parametrize("options", [{"trigger_on": "warmth"}, {"reward_on": "warmth"}, {"trigger_on": Warmth()}])
def test_machines_are_not_learned_with_labels_that_match_others(options: LearnOptions) -> None:
    """The search compares labels as they are: what it calls optimal might not even explain the episodes."""
    with pytest.raises(markovize.InputError, match="no machine can be learned with 'warmth' labels: they match others"):
        markovize.learn([(["a", "bbb", "c"], [0, 0], [0, 1]), (["a", "bb", "c"], [0, 0], [0, 0])], **options)
