"""The first machine: any machine, quickly, as long as it explains the data."""

from __future__ import annotations

import time

import numpy as np
import pytest
from instances import KINDS, Kinds, coffee, patrol, random_steps, two_coffees

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.traces import Traces
from markovize.learning import greedy
from markovize.learning.engines.base import Delta
from markovize.learning.greedy import candidates, first_machine, shrink
from markovize.learning.judge import Judge, is_acyclic, size
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import build_tree


def machine_of(judge: Judge, *, acyclic: bool, most_triggers: int = 24) -> Delta | None:
    found = first_machine(judge, limits=Limits(), most_triggers=most_triggers)
    return None if found is None else shrink(found, judge, acyclic=acyclic, limits=Limits())


def judge_of(traces: Traces, kinds: Kinds = ("state", "state")) -> Judge:
    return Judge(build_tree(label_traces(traces, *kinds))[0])


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("acyclic", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_explains_everything(seed: int, acyclic: bool, kinds: Kinds) -> None:
    judge = judge_of(random_steps(np.random.default_rng(seed), kinds=kinds, episodes=8, length=8), kinds)
    delta = machine_of(judge, acyclic=acyclic, most_triggers=len(judge.tree))
    assert delta is not None
    assert judge.explains(delta)
    assert judge.prune(delta) == delta
    assert not acyclic or is_acyclic(delta)
    for key in delta:
        rest = {k: v for k, v in delta.items() if k != key}
        assert not judge.explains(rest), f"{key} is not needed"


@pytest.mark.parametrize(("traces", "expected"), [(coffee(), (2, 1)), (two_coffees(), (2, 2))])
def test_easy_optima_are_found(traces: Traces, expected: tuple[int, int]) -> None:
    delta = machine_of(judge_of(traces), acyclic=True)
    assert delta is not None
    assert size(delta) == expected


def test_states_are_merged_into_cycles_only_where_allowed() -> None:
    judge = judge_of(patrol(3))
    cyclic, acyclic = (machine_of(judge, acyclic=a) for a in (False, True))
    assert cyclic is not None
    assert acyclic is not None
    assert not is_acyclic(cyclic)
    assert is_acyclic(acyclic)
    assert size(cyclic)[0] < size(acyclic)[0]


def test_gives_up_above_the_limit() -> None:
    judge = judge_of(two_coffees())
    assert first_machine(judge, limits=Limits(), most_triggers=0) is None


def test_stops_when_time_is_up() -> None:
    judge, late = judge_of(patrol(3)), Limits(deadline=time.monotonic() - 1)
    with pytest.raises(Stop):
        first_machine(judge, limits=late)
    with pytest.raises(Stop):
        shrink({(0, 0): 1}, judge, acyclic=False, limits=late)


def test_every_fix_of_a_violated_pair_is_among_its_candidates() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        judge = judge_of(random_steps(rng, episodes=4, length=5, labels=4))
        for start in ({}, {(0, 0): 1}, {(0, 1): 1, (1, 0): 2}):
            pairs = judge.violations(start, most=1)
            if not len(pairs):
                continue
            options = candidates(judge, start, pairs[0])
            assert options.isdisjoint(start)
            for u in range(3):
                for x in range(judge.tree.n_labels):
                    if (u, x) in start:
                        continue
                    now = {tuple(pair) for pair in judge.violations({**start, (u, x): 3}).tolist()}
                    if (u, x) not in options:
                        assert tuple(pairs[0].tolist()) in now, "a trigger elsewhere cannot repair the pair"


@pytest.mark.parametrize("nodes", [1, 5, 20])
def test_a_sample_of_shallow_nodes_chooses_and_the_whole_tree_decides(
    nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = judge_of(random_steps(np.random.default_rng(4), episodes=12, length=12, states=4))
    assert len(judge.tree) > 20
    monkeypatch.setattr(greedy, "SAMPLE_NODES", nodes)
    sample = greedy._sample(judge, nodes)
    assert len(sample.tree) <= nodes or len(sample.tree.mark_node) == 1
    assert len(sample.tree) < len(judge.tree)
    delta = first_machine(judge, limits=Limits(), most_triggers=len(judge.tree))
    assert delta is not None
    assert judge.explains(delta)
