"""Labels that would serve as well as a trigger's own: all of them, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from instances import KINDS, Kinds, coffee, random_steps

import markovize
from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.learning.alternatives import find_alternatives, redraw
from markovize.learning.greedy import first_machine, shrink
from markovize.learning.judge import Judge
from markovize.learning.learner import Learner
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import build_tree, cut_tree
from markovize.learning.problem import label_and_merge
from markovize.learning.repair import moves_of

NONE = np.zeros(0, np.int32)


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_swap_and_replay_finds_the_same(seed: int, kinds: Kinds) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds, episodes=6, length=5)
    judge = Judge(build_tree(label_traces(traces, *kinds))[0])
    delta = first_machine(judge, limits=Limits(), most_triggers=len(judge.tree))
    assert delta is not None
    delta = shrink(delta, judge, acyclic=False, limits=Limits())
    expected = {}
    for (u, x), v in delta.items():
        rest = {key: target for key, target in delta.items() if key != (u, x)}
        free = [y for y in range(judge.tree.n_labels) if y != x and (u, y) not in delta]
        expected[u, x] = [y for y in free if judge.explains({**rest, (u, y): v})]
    some = judge.tree.mark_node[: len(judge.tree.mark_node) // 2]
    for exemplars in (NONE, some, judge.tree.mark_node):
        assert find_alternatives(delta, judge, exemplars, Limits()) == expected


@pytest.mark.parametrize("outliers", [1, 2, 4])
@pytest.mark.parametrize("seed", range(8))
def test_with_outliers_as_well(seed: int, outliers: int) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=("state", "state"), episodes=8, length=6)
    found = markovize.learn(traces, trigger_on="state", reward_on="state", outliers=outliers)
    merged = label_and_merge(traces, ("state", "state"), "reward", Limits())
    judge = Judge(cut_tree(merged, Allowance(0.0, outliers)))
    names = merged.steps.triggers.values
    delta = moves_of(found.unwrap(), names)
    listed = {(each.source, each.on): list(each.alternatives) for each in found.unwrap().triggers}
    for (source, label), target in delta.items():
        rest = {key: v for key, v in delta.items() if key != (source, label)}
        free = [y for y in range(len(names)) if y != label and (source, y) not in rest]
        serve = [names[y] for y in free if judge.explains({**rest, (source, y): target})]
        assert listed[source, names[label]] == serve


def test_a_trigger_that_is_not_needed_has_none() -> None:
    steps = label_traces(coffee(), "state", "state")
    judge = Judge(build_tree(steps)[0])
    cup, hall = steps.triggers.values.index(0), steps.triggers.values.index(1)
    found = find_alternatives({(0, cup): 1, (1, hall): 2}, judge, NONE, Limits())
    assert (1, hall) not in found


def test_the_machine_lists_them() -> None:
    """Cup and lid come together: nobody can say which of them matters."""
    traces = Traces.of([(["hall", "cup", "lid", "office"], [0] * 3, [0, 0, 1]), (["hall", "office"], [0], [0])])
    trigger = markovize.learn(traces).unwrap().triggers[0]
    assert {trigger.on, *trigger.alternatives} == {"cup", "lid"}


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_drawn_machines_are_as_large_and_explain_as_much(seed: int, kinds: Kinds) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds, episodes=6, length=5)
    judge = Judge(build_tree(label_traces(traces, *kinds))[0])
    delta = first_machine(judge, limits=Limits(), most_triggers=len(judge.tree))
    assert delta is not None
    delta = shrink(delta, judge, acyclic=False, limits=Limits())
    alternatives = find_alternatives(delta, judge, NONE, Limits())
    drawn = [redraw(delta, alternatives, judge, np.random.default_rng(n), Limits()) for n in range(30)]
    assert all(judge.explains(other) and len(other) == len(delta) for other in drawn)
    if any(alternatives.values()):
        assert any(other != delta for other in drawn)
        assert drawn[3] == redraw(delta, alternatives, judge, np.random.default_rng(3), Limits())


def test_a_learner_draws_what_the_data_cannot_tell_apart() -> None:
    seen = Traces.of([([0, 1, 2, 3, 9], [0] * 4, [0, 0, 0, 1]), ([0, 9], [0], [0])])
    drawn = [Learner().learn(seen, rng=np.random.default_rng(n)).unwrap() for n in range(20)]
    assert {machine.triggers[0].on for machine in drawn} == {1, 2, 3}
    for machine in drawn:
        assert sorted([machine.triggers[0].on, *machine.triggers[0].alternatives]) == [1, 2, 3]
        assert markovize.replay(machine, seen).mismatches == 0
