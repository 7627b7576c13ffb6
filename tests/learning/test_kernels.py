"""The compiled loops against plain Python twins that share nothing with them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from markovize.learning import judge_kernels, merge_kernels, tree_kernels
from markovize.machine import kernels as machine_kernels

pytestmark = pytest.mark.kernels

SEEDS = range(30)
Rng = np.random.Generator


def random_episodes(rng: Rng) -> tuple[np.ndarray, np.ndarray, int]:
    lengths = rng.integers(0, 7, int(rng.integers(0, 9)))
    labels = int(rng.integers(1, 5))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return offsets, rng.integers(0, labels, int(offsets[-1])).astype(np.int32), labels


def beginnings(offsets: np.ndarray) -> np.ndarray:
    """No episode goes on after a step of another."""
    return np.full(len(offsets) - 1, -1, np.int32)


def random_tree(rng: Rng, labels: int = 3) -> tuple[np.ndarray, np.ndarray]:
    nodes = int(rng.integers(1, 15))
    parent = np.array([-1] + [int(rng.integers(0, v)) for v in range(1, nodes)], np.int32)
    label = np.array([-1] + [int(x) for x in rng.integers(0, labels, nodes - 1)], np.int32)
    return parent, label


def random_marks(rng: Rng, nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = 0 if nodes == 1 else int(rng.integers(0, 12))
    ranges = (1, max(2, nodes)), (0, 2), (0, 3)
    node, code, outcome = (rng.integers(low, high, count).astype(np.int32) for low, high in ranges)
    return node, code, outcome


@pytest.mark.parametrize("seed", SEEDS)
def test_merge_prefixes(seed: int) -> None:
    offsets, labels, n_labels = random_episodes(np.random.default_rng(seed))
    parent, label, depth, first, node_of = tree_kernels.merge_prefixes(offsets, beginnings(offsets), labels, n_labels)
    numbers: dict[tuple[int, ...], int] = {(): 0}
    firsts: dict[tuple[int, ...], int] = {(): -1}
    expected = []
    for start, end in pairwise(offsets):
        for n in range(start, end):
            history = tuple(int(x) for x in labels[start : n + 1])
            if history not in numbers:
                numbers[history] = len(numbers)
                firsts[history] = n
            expected.append(numbers[history])
    histories = list(numbers)
    assert node_of.tolist() == expected
    assert parent.tolist() == [-1] + [numbers[h[:-1]] for h in histories[1:]]
    assert label.tolist() == [-1] + [h[-1] for h in histories[1:]]
    assert depth.tolist() == [len(h) for h in histories]
    assert first.tolist() == [firsts[h] for h in histories]


def test_merge_prefixes_of_many_distinct_histories() -> None:
    """The hash table is filled far enough for collisions."""
    rng = np.random.default_rng(5)
    offsets = np.arange(0, 40_001, 20, dtype=np.int64)
    labels = rng.integers(0, 1_000_000, 40_000).astype(np.int32)
    node_of = tree_kernels.merge_prefixes(offsets, beginnings(offsets), labels, 1_000_000)[4]
    seen: dict[tuple[int, int], int] = {}
    for e in range(2_000):
        at = 0
        for n in range(20 * e, 20 * e + 20):
            at = seen.setdefault((at, int(labels[n])), len(seen) + 1)
            assert node_of[n] == at


@pytest.mark.parametrize("seed", SEEDS)
def test_first_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(0, 30))
    nodes, labels = rng.integers(0, 4, steps).astype(np.int32), rng.integers(0, 3, steps).astype(np.int32)
    seen: dict[tuple[int, int], int] = {}
    expected = [seen.setdefault((int(v), int(x)), n) for n, (v, x) in enumerate(zip(nodes, labels, strict=True))]
    assert tree_kernels.first_alike(nodes, labels, 3).tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_with_ancestors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent, _ = random_tree(rng)
    chosen = rng.random(len(parent)) < 0.2
    expected = set(np.flatnonzero(chosen).tolist())
    for v in np.flatnonzero(chosen).tolist():
        while v > 0:
            v = int(parent[v])
            expected.add(v)
    tree_kernels.with_ancestors(parent, chosen)
    assert set(np.flatnonzero(chosen).tolist()) == expected


def states_of(parent: np.ndarray, label: np.ndarray, delta: np.ndarray) -> list[int]:
    def state(v: int) -> int:
        return 0 if v == 0 else int(delta[state(int(parent[v])), label[v]])

    return [state(v) for v in range(len(parent))]


@pytest.mark.parametrize("seed", SEEDS)
def test_tree_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parent, label = random_tree(rng)
    delta = rng.integers(0, 3, (3, 3)).astype(np.int32)
    out = np.full(len(parent), -7, np.int32)
    judge_kernels.tree_states(parent, label, delta, out)
    assert out.tolist() == states_of(parent, label, delta)


def marked(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    parent, label = random_tree(rng)
    states = np.array(states_of(parent, label, rng.integers(0, 2, (2, 3)).astype(np.int32)), np.int32)
    return (parent, states, *random_marks(rng, len(parent)))


@pytest.mark.parametrize("most", [1, 2, 50])
@pytest.mark.parametrize("seed", SEEDS)
def test_violated_pairs(seed: int, most: int) -> None:
    parent, states, node, label, outcome = marked(seed)
    first: dict[tuple[int, int, int], int] = {}
    done: set[tuple[int, int, int]] = set()
    expected = []
    for m, v in enumerate(node.tolist()):
        key = (int(states[parent[v]]), int(label[m]), int(states[v]))
        earlier = first.setdefault(key, m)
        if key not in done and outcome[earlier] != outcome[m]:
            done.add(key)
            expected.append([earlier, m])
    pairs = judge_kernels.violated_pairs(parent, states, node, label, outcome, 2, 2, most)
    assert pairs.tolist() == expected[:most]


@pytest.mark.parametrize("seed", SEEDS)
def test_outcome_entropy(seed: int) -> None:
    parent, states, node, label, outcome = marked(seed)
    groups: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for m, v in enumerate(node.tolist()):
        groups[int(states[parent[v]]), int(label[m])].append(int(outcome[m]))
    expected = sum(
        -count * math.log(count / len(group)) for group in groups.values() for count in Counter(group).values()
    )
    found = judge_kernels.outcome_entropy(parent, states, node, label, outcome, 2, 2, 3)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_episode_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets, labels, n_labels = random_episodes(rng)
    delta = rng.integers(0, 3, (3, n_labels)).astype(np.int32)
    initial = int(rng.integers(0, 3))
    before, after = [], []
    for start, end in pairwise(offsets):
        u = initial
        for x in labels[start:end]:
            before.append(u)
            u = int(delta[u, x])
            after.append(u)
    found = machine_kernels.episode_states(offsets, labels, delta, initial)
    assert [column.tolist() for column in found] == [before, after]


def branches(rng: Rng) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[tuple[int, ...]]]:
    """Episodes that go on after steps of others; and the way to each step, its label included."""
    offsets, labels, _ = random_episodes(rng)
    starts = np.array([int(rng.integers(-1, start)) if start else -1 for start in offsets[:-1]], np.int32)
    ways: list[tuple[int, ...]] = []
    for (first, end), start in zip(pairwise(offsets), starts, strict=True):
        way = ways[start] if start >= 0 else ()
        for x in labels[first:end].tolist():
            way = (*way, x)
            ways.append(way)
    return offsets, labels, starts, ways


@pytest.mark.parametrize("seed", SEEDS)
def test_branches_as_if_each_way_had_been_walked_from_the_beginning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets, labels, starts, ways = branches(rng)
    numbers: dict[tuple[int, ...], int] = {(): 0}
    node_of = tree_kernels.merge_prefixes(offsets, starts, labels, 5)[4]
    assert node_of.tolist() == [numbers.setdefault(way, len(numbers)) for way in ways]
    delta = rng.integers(0, 3, (3, 5)).astype(np.int32)
    after = []
    for way in ways:
        u = 1
        for x in way:
            u = int(delta[u, x])
        after.append(u)
    assert machine_kernels.episode_states(offsets, labels, delta, 1, starts)[1].tolist() == after


@pytest.mark.parametrize("seed", SEEDS)
def test_first_on_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets, labels, starts, _ = branches(rng)
    chosen = rng.random(len(labels)) < 0.3
    before = np.arange(len(labels)) - 1
    before[offsets[:-1][np.diff(offsets) > 0]] = starts[np.diff(offsets) > 0]
    expected = []
    for n in range(len(labels)):
        at, met = int(before[n]), False
        while at >= 0:
            at, met = int(before[at]), met or bool(chosen[at])
        expected.append(bool(chosen[n]) and not met)
    assert tree_kernels.first_on_ways(offsets, starts, chosen).tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_number_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lefts, rights = np.zeros(99, np.int32), np.zeros(99, np.int32)
    numbers: dict[tuple[int, int], int] = {}
    count = 0
    for width in (4, 9):  # wider tables hold the same pairs
        keys, ids = merge_kernels.fill_table(lefts, rights, count, width, 99)
        left, right = rng.integers(0, 5, 30).astype(np.int32), rng.integers(0, width, 30).astype(np.int32)
        found, count = merge_kernels.number_pairs(left, right, width, keys, ids, lefts, rights, count)
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        assert found.tolist() == [numbers.setdefault(pair, len(numbers)) for pair in pairs]
        assert list(zip(lefts[:count].tolist(), rights[:count].tolist(), strict=True)) == list(numbers)


@pytest.mark.parametrize("seed", SEEDS)
def test_merge_branches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offsets, kinds, starts, ways = branches(rng)
    weights = rng.integers(1, 9, len(kinds)).astype(np.int32)
    lefts, rights, counts = (np.zeros(len(kinds), np.int32) for _ in range(3))
    keys, ids = merge_kernels.fill_table(lefts, rights, 0, 5, len(kinds))
    first, after, episode, skipped, count = merge_kernels.merge_branches(
        offsets, starts, kinds, weights, 5, keys, ids, lefts, rights, counts, 0
    )
    nodes = {way: node for node, way in enumerate(dict.fromkeys(ways))}
    heavy = Counter[tuple[int, ...]]()
    for way, weight in zip(ways, weights.tolist(), strict=True):
        heavy[way] += weight
    assert count == len(nodes)
    assert lefts[:count].tolist() == [nodes.get(way[:-1], -1) + 1 for way in nodes]
    assert rights[:count].tolist() == [way[-1] for way in nodes]
    assert counts[:count].tolist() == [heavy[way] for way in nodes]
    seen: set[tuple[int, ...]] = set()
    expected = []
    for e, (start, end) in enumerate(pairwise(offsets.tolist())):
        new = [n for n in range(start, end) if ways[n] not in seen]
        seen.update(ways[start:end])
        if new:
            expected.append((nodes[ways[new[0]]], nodes.get(ways[new[0]][:-1], -1), e, new[0] - start))
    assert list(zip(*(column.tolist() for column in (first, after, episode, skipped)), strict=True)) == expected
