"""The prefix tree, and whether any machine can explain the episodes: the definition itself is the oracle."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import KINDS, Kinds, coffee, random_steps, walk

import markovize
from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Episode, Traces
from markovize.errors import UnrealisableError
from markovize.learning.engines.exemplar_tree import ExemplarTree
from markovize.learning.prefix_tree import build_tree, find_contradiction


@st.composite
def tiny_traces(draw: st.DrawFn) -> Traces:
    """Few values and short episodes, so that histories repeat and contradict each other."""
    out = []
    for _ in range(draw(st.integers(0, 4))):
        steps = draw(st.integers(0, 3))
        bits = st.lists(st.integers(0, 1), min_size=steps, max_size=steps)
        out.append(Episode([0, *draw(bits)], draw(bits), draw(bits), draw(st.booleans())))
    return Traces.of(out)


Told = tuple[tuple[int, int], tuple[Any, ...], Any, float, bool]


def told(traces: Traces, kinds: Kinds) -> list[Told]:
    """For each step: where it is, its history of trigger labels, its reward label, its reward, whether it ended."""
    out: list[Told] = []
    for number, e in enumerate(traces):
        history: tuple[Any, ...] = ()
        for n in range(e.steps):
            step = (e.observations[n], e.actions[n], e.observations[n + 1])
            history = (*history, labelling_of(kinds[0]).label(step))
            end = e.terminated and n == e.steps - 1
            out.append(((number, n), history, labelling_of(kinds[1]).label(step), float(e.rewards[n]), end))
    return out


def contradictions(steps: list[Told], explain: str) -> list[tuple[Told, Told]]:
    """Section 2 of the design: equal history, equal reward label, different outcomes."""
    wanted = slice(3, 4) if explain == "reward" else slice(3, 5)
    return [
        (a, b)
        for n, b in enumerate(steps)
        for a in steps[:n]
        if a[1] == b[1] and a[2] == b[2] and a[wanted] != b[wanted]
    ]


def odd_episodes(steps: list[Told], explain: str) -> set[int]:
    """Episodes that differ from what most steps of the same history and label show; on a tie, from the first."""
    groups: dict[Any, list[Told]] = {}
    for step in steps:
        groups.setdefault((step[1], step[2]), []).append(step)
    out = set()
    for group in groups.values():
        outcomes = [step[3:4] if explain == "reward" else step[3:5] for step in group]
        usual = max(set(outcomes), key=lambda o: (outcomes.count(o), o == outcomes[0]))
        if outcomes.count(usual) == outcomes.count(outcomes[0]):
            usual = outcomes[0]
        elif len([o for o in set(outcomes) if outcomes.count(o) == outcomes.count(usual)]) > 1:
            usual = min(o for o in set(outcomes) if outcomes.count(o) == outcomes.count(usual))
        out |= {step[0][0] for step, outcome in zip(group, outcomes, strict=True) if outcome != usual}
    return out


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("explain", ["reward", "reward+termination"])
@settings(deadline=None, max_examples=60)
@given(traces=tiny_traces())
def test_realisable_as_defined(kinds: Kinds, explain: Any, traces: Traces) -> None:
    steps = label_traces(traces, *kinds, explain)
    found = find_contradiction(steps, build_tree(steps)[1], traces)
    expected = contradictions(told(traces, kinds), explain)
    assert (found is None) == (not expected)
    if found is None:
        return
    places = [tuple(place) for place in zip(found.episodes, found.steps, strict=True)]
    pair = [(a, b) for a, b in expected if [a[0], b[0]] == places]
    assert pair, f"{places} do not contradict each other"
    assert found.rewards == (pair[0][0][3], pair[0][1][3])
    assert found.steps[0] == min(a[0][1] for a, _ in expected), "there is a shorter contradiction"
    assert found.contradicting_episodes == len(odd_episodes(told(traces, kinds), explain))
    assert (found.trigger_on, found.reward_on) == kinds


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_marks_are_what_can_conflict(kinds: Kinds, seed: int) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds, episodes=6, length=6)
    steps = label_traces(traces, *kinds)
    tree, _ = build_tree(steps)
    every = told(traces, kinds)
    paid: dict[Any, set[float]] = {}
    for _, _, label, reward, _ in every:
        paid.setdefault(label, set()).add(reward)
    expected = {(history, label, reward) for _, history, label, reward, _ in every if len(paid[label]) > 1}
    found = []
    for node, label, outcome in zip(tree.mark_node, tree.mark_label, tree.mark_outcome, strict=True):
        history = tuple(steps.triggers.values[tree.label[v]] for v in tree.path(int(node)))
        meaning = steps.rewards.values[tree.reward_labels[label]]
        found.append((history, meaning, steps.outcome_values[outcome][0]))
    assert set(found) == expected
    assert len(found) == len(expected)
    assert [len(history) for history, _, _ in found] == sorted(len(history) for history, _, _ in found)
    assert tree.conflicting_labels == sum(len(rewards) > 1 for rewards in paid.values())
    needed = {history[:n] for history, _, _ in expected for n in range(len(history) + 1)} | {()}
    assert len(tree) == len(needed), "branches without marks are cut, the rest is kept"
    assert all(tree.parent[v] < v for v in range(1, len(tree)))
    assert [len(tree.path(v)) for v in range(len(tree))] == tree.depth.tolist()


def test_restricted_keeps_ancestors_and_all_their_marks() -> None:
    tree, _ = build_tree(label_traces(coffee(), "state", "state"))
    deepest = int(np.argmax(tree.depth))
    small = tree.restrict(np.array([deepest], np.int32))
    assert len(small) == tree.depth[deepest] + 1
    assert [small.label[v] for v in small.path(len(small) - 1)] == [tree.label[v] for v in tree.path(deepest)]
    on_path = set(tree.path(deepest))
    assert len(small.mark_node) == sum(int(v) in on_path for v in tree.mark_node)
    assert tree.restrict(np.arange(len(tree), dtype=np.int32)) is tree


def test_nothing_conflicts_nothing_is_kept() -> None:
    for traces in (Traces.of([]), Traces.of([([0], [], [])]), Traces.of([walk(1, 2, 3, pays=(5.0,))])):
        tree, _ = build_tree(label_traces(traces, "state", "state"))
        assert (len(tree), len(tree.mark_node), tree.conflicting_labels) == (1, 0, 0)


# --- what learn says about it -------------------------------------------------------------------------------------

BY_ACTION = Traces.of([([0, 1], ["walk"], [0]), ([0, 1], ["run"], [1])])
BY_EARLIER_ACTION = Traces.of([([0, 1, 2], ["walk", "go"], [0, 0]), ([0, 1, 2], ["run", "go"], [0, 1])])
NOISE = Traces.of([([0, 1], ["go"], [0]), ([0, 2], ["go"], [3]), ([0, 1], ["go"], [1]), ([0, 1], ["go"], [2])])


@pytest.mark.parametrize(
    ("traces", "chosen"),
    [
        (BY_ACTION, ("state", "transition")),
        (BY_EARLIER_ACTION, ("transition", "transition")),
        (coffee(), ("state", "state")),
    ],
)
def test_auto_takes_the_coarsest_labels_that_work(traces: Traces, chosen: Kinds) -> None:
    result = markovize.learn(traces)
    assert (result.status, result.trigger_on, result.reward_on) == ("optimal", *chosen)


@pytest.mark.parametrize(
    ("traces", "advised"), [(BY_ACTION, "state/transition"), (BY_EARLIER_ACTION, "transition/transition")]
)
def test_advice_names_the_labels_that_would_do(traces: Traces, advised: str) -> None:
    result = markovize.learn(traces, trigger_on="state", reward_on="state")
    assert (result.status, result.machine, result.states) == ("unrealisable", None, None)
    assert result.contradiction is not None
    assert f"Labels {advised} (trigger/reward) would tell them apart." in str(result.contradiction)
    trigger, reward = advised.split("/")
    assert markovize.learn(traces, trigger_on=trigger, reward_on=reward).status == "optimal"


def test_advice_that_nothing_helps() -> None:
    result = markovize.learn(NOISE)
    assert result.status == "unrealisable"
    contradiction = result.contradiction
    assert contradiction is not None
    assert (contradiction.episodes, contradiction.steps, contradiction.rewards) == ((0, 2), (0, 0), (0.0, 1.0))
    message = str(contradiction)
    assert "episode 0 step 0 and episode 2 step 0" in message
    assert "rewards 0 and 1" in message
    assert "No label of a step can tell them apart: 2 of 4 episodes contradict" in message
    with pytest.raises(UnrealisableError, match="episode 0 step 0 and episode 2 step 0"):
        result.unwrap()


# --- endings ------------------------------------------------------------------------------------------------------

SOMETIMES_ENDS = Traces.of([([0, 5], ["go"], [0], True), ([0, 1, 5, 5], ["go"] * 3, [0, 0, 0], False)])


def test_termination_conflicts_are_told() -> None:
    result = markovize.learn(SOMETIMES_ENDS)
    assert (result.status, result.states) == ("optimal", 1)
    assert [(c.source, c.on, c.target) for c in result.termination_conflicts] == [(0, 5, 0)]
    assert str(result.termination_conflicts[0]) == "(0, 5, 0) both ends and does not end episodes"
    assert result.machine is not None
    assert not result.machine.terminal(0, 5, 0)


def test_endings_can_be_explained_too() -> None:
    result = markovize.learn(SOMETIMES_ENDS, explain="reward+termination")
    assert (result.status, result.states, result.triggers) == ("optimal", 2, 1)
    assert result.termination_conflicts == ()
    machine = result.unwrap()
    assert machine.triggers[0].on == 1
    assert machine.terminal(0, 5, 0)
    assert not machine.terminal(1, 5, 1)


def test_an_ending_that_no_machine_explains() -> None:
    traces = Traces.of([([0, 5], ["go"], [0], True), ([0, 5, 5], ["go", "go"], [0, 0], False)])
    assert markovize.learn(traces).status == "optimal"
    result = markovize.learn(traces, explain="reward+termination")
    assert result.status == "unrealisable"
    assert "reward 0, ending the episode only once" in str(result.contradiction)


@pytest.mark.parametrize("kinds", KINDS)
@settings(deadline=None, max_examples=60)
@given(traces=tiny_traces())
def test_marks_count_how_often_each_outcome_was_seen(kinds: Kinds, traces: Traces) -> None:
    """Also where the episodes contradict each other: then a history and label have several outcomes."""
    steps = label_traces(traces, *kinds)
    tree, _ = build_tree(steps)
    every = told(traces, kinds)
    paid: dict[Any, set[float]] = {}
    for _, _, label, reward, _ in every:
        paid.setdefault(label, set()).add(reward)
    expected = Counter((history, label, reward) for _, history, label, reward, _ in every if len(paid[label]) > 1)
    found: Counter[Any] = Counter()
    marks = zip(tree.mark_node, tree.mark_label, tree.mark_outcome, tree.mark_count, strict=True)
    for node, number, outcome, count in marks:
        history = tuple(steps.triggers.values[tree.label[v]] for v in tree.path(int(node)))
        meaning = steps.rewards.values[tree.reward_labels[number]]
        found[history, meaning, steps.outcome_values[outcome][0]] += int(count)
    assert found == expected
    assert len(tree.mark_node) == len(expected), "one mark for each outcome"


def test_engines_are_given_the_counts_and_follow_them() -> None:
    walks = [(["hall", "coffee", "office"], [0, 0], [0, 1]), (["hall", "hall", "office"], [0, 0], [0, 0])]
    exemplars = ExemplarTree()
    for times in (1, 3):
        tree, _ = build_tree(label_traces(Traces.of(walks * times), "state", "state"))
        exemplars.extend(tree, np.arange(len(tree), dtype=np.int32))
        assert sorted(exemplars.counts.values()) == [times, times]
