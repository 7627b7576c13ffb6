"""The judge: what it accepts is explained, what it rejects is a true violation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from instances import coffee, patrol, random_steps, two_coffees

from markovize.episodes.labelled_steps import LabelledSteps, label_traces
from markovize.episodes.traces import Traces
from markovize.errors import EngineError
from markovize.learning.greedy import first_machine
from markovize.learning.judge import Judge, check_witness, is_acyclic, size
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import build_tree

pytestmark = pytest.mark.kernels

Delta = dict[tuple[int, int], int]


def judge_of(traces: Traces) -> tuple[Judge, LabelledSteps]:
    steps = label_traces(traces, "state", "state")
    return Judge(build_tree(steps)[0]), steps


def explained(steps: LabelledSteps, delta: Delta) -> bool:
    """The definition: no two rewards for one (u, reward label, u')."""
    paid: dict[tuple[int, int, int], int] = {}
    for start, end in zip(steps.offsets, steps.offsets[1:], strict=False):
        u = 0
        for n in range(start, end):
            v = delta.get((u, int(steps.triggers.ids[n])), u)
            if paid.setdefault((u, int(steps.rewards.ids[n]), v), int(steps.outcomes[n])) != steps.outcomes[n]:
                return False
            u = v
    return True


def random_delta(rng: np.random.Generator, labels: int, states: int = 3) -> Delta:
    moves = {
        (int(rng.integers(0, states)), int(rng.integers(0, labels))): int(rng.integers(0, states)) for _ in range(5)
    }
    return {(u, x): v for (u, x), v in moves.items() if u != v}


@pytest.mark.parametrize("seed", range(15))
def test_explains_as_defined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    judge, steps = judge_of(random_steps(rng, episodes=3, length=4, labels=4))
    tree = judge.tree
    found = first_machine(judge, limits=Limits())
    assert found is not None
    for delta in [{}, dict(found), *(random_delta(rng, tree.n_labels) for _ in range(60))]:
        assert judge.explains(delta) == explained(steps, delta)
        pairs = judge.violations(delta)
        assert (len(pairs) == 0) == explained(steps, delta)
        depths = tree.depth[tree.mark_node[pairs]].sum(axis=1)
        assert depths.tolist() == sorted(depths.tolist()), "shallowest first"
        for a, b in pairs:
            assert tree.mark_label[a] == tree.mark_label[b]
            assert tree.mark_outcome[a] != tree.mark_outcome[b]
            assert moves_at(judge, delta, int(a)) == moves_at(judge, delta, int(b))
    assert judge.explains(found)
    assert judge.explains({}) == (not len(tree.mark_node))


def moves_at(judge: Judge, delta: Delta, mark: int) -> tuple[int, int]:
    u = v = 0
    for node in judge.tree.path(int(judge.tree.mark_node[mark])):
        u, v = v, delta.get((v, int(judge.tree.label[node])), v)
    return u, v


@pytest.mark.parametrize("seed", range(15))
def test_pruning_changes_nothing_on_the_data(seed: int) -> None:
    rng = np.random.default_rng(seed)
    judge, steps = judge_of(random_steps(rng, episodes=4, length=5))
    for _ in range(20):
        delta = random_delta(rng, judge.tree.n_labels, states=4)
        pruned = judge.prune(delta)
        assert explained(steps, pruned) == explained(steps, delta)
        assert len(pruned) <= len(delta)
        assert {0, *(u for u, _ in pruned), *pruned.values()} == set(range(size(pruned)[0])), "no gaps"
        assert judge.prune(pruned) == pruned


def test_pruning_drops_what_never_fires() -> None:
    judge, steps = judge_of(coffee())
    cup = steps.triggers.values.index(0)
    assert judge.prune({(0, cup): 3, (2, cup): 1, (3, cup): 2}) == {(0, cup): 1}
    assert judge.prune({}) == {}


def test_mixture_is_nothing_once_the_state_tells_all() -> None:
    judge, steps = judge_of(coffee())
    cup = steps.triggers.values.index(0)
    assert judge.mixture({}) > 0
    assert judge.mixture({(0, cup): 1}) == 0


def test_only_as_many_violations_as_asked_for() -> None:
    judge, _ = judge_of(Traces.of([([0, 1, 2], [0, 0], [0, 0]), ([0, 2, 1], [0, 0], [1, 1])]))
    assert [len(judge.violations({}, most=n)) for n in (1, 2, 9)] == [1, 2, 2]


def test_size_counts_states_and_triggers() -> None:
    assert size({}) == (1, 0)
    assert size({(0, 1): 1, (1, 1): 0, (1, 2): 2}) == (3, 3)


def test_cycles() -> None:
    assert is_acyclic({})
    assert is_acyclic({(0, 1): 2, (2, 1): 1})
    assert not is_acyclic({(0, 1): 2, (2, 1): 1, (1, 5): 2})


BOUNDS: dict[str, Any] = {"states": 2, "triggers": 1, "labels": 3, "acyclic": True}


@pytest.mark.parametrize(
    ("delta", "change", "reason"),
    [
        (None, {}, "something else"),
        ([((0, 1), 1)], {}, "something else"),
        ({(0, 1, 2): 1}, {}, "something else"),
        ({0: 1}, {}, "something else"),
        ({(0, 1): "1"}, {}, "something else"),
        ({(0, 1): 2}, {}, r"\(0, 1\) → 2, outside of 2 states"),
        ({(2, 1): 0}, {}, "outside of 2 states"),
        ({(0, 3): 1}, {}, "outside of 2 states"),
        ({(0, -1): 1}, {}, "outside of 2 states"),
        ({(0, 1): 1, (1, 1): 0}, {"triggers": 2}, "acyclic machine but returned one with a cycle"),
        ({(0, 1): 1, (0, 2): 1}, {}, "at most 1 triggers but used 2"),
    ],
)
def test_an_engine_that_lies_is_found_out(delta: Any, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        check_witness(delta, **{**BOUNDS, **change})


def test_a_good_witness_passes_without_its_self_loops() -> None:
    assert check_witness({(0, 1): 1, (0, 2): 0, (1, 1): 1}, **BOUNDS) == {(0, 1): 1}
    both = {(0, 1): 1, (1, 1): 0}
    assert check_witness(both, **{**BOUNDS, "triggers": None, "acyclic": False}) == both


@pytest.mark.parametrize("traces", [coffee(), two_coffees(), patrol(2)])
def test_one_state_never_explains_a_conflict(traces: Traces) -> None:
    assert not judge_of(traces)[0].explains({})


@pytest.mark.parametrize("seed", range(6))
def test_looking_at_the_shallow_part_first_changes_no_verdict(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    tree = build_tree(label_traces(random_steps(rng, episodes=20, length=12), "state", "state"))[0]
    whole = Judge(tree)
    monkeypatch.setattr("markovize.learning.judge.FRONT_NODES", 4)
    staged = Judge(tree)
    assert staged._front_marks < len(tree.mark_node)
    for _ in range(40):
        delta = {(int(rng.integers(3)), int(rng.integers(tree.n_labels))): int(rng.integers(3)) for _ in range(4)}
        delta = {(u, x): v for (u, x), v in delta.items() if u != v}
        pairs = staged.violations(delta)
        assert staged.explains(delta) == whole.explains(delta)
        assert {tuple(p) for p in pairs.tolist()} <= {tuple(p) for p in whole.violations(delta).tolist()}
