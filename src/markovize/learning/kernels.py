"""The compiled inner loops. Each is short, takes and returns arrays, and has a plain Python twin in the tests."""

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.episodes.traces import Bools, Ints, Longs


@njit(cache=True)
def _slot(keys: Longs, key: int) -> int:
    """Where ``key`` is, or belongs, in an open-addressing table whose size is a power of two."""
    mask = len(keys) - 1
    at = (key * 0x9E3779B1 ^ (key >> 29)) & mask
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit(cache=True)
def _table(entries: int) -> Longs:
    size = 16
    while size < 2 * entries:
        size *= 2
    return np.full(size, -1, np.int64)


@njit(cache=True)
def merge_prefixes(offsets: Longs, labels: Ints, n_labels: int) -> tuple[Ints, Ints, Ints, Longs, Ints]:
    """The prefix tree of all episodes: parent, label, depth and first step of each node; each step's node.

    Node 0 is the root; parents come before their children.
    """
    steps = len(labels)
    parent = np.zeros(steps + 1, np.int32)
    label = np.zeros(steps + 1, np.int32)
    depth = np.zeros(steps + 1, np.int32)
    first = np.zeros(steps + 1, np.int64)
    node_of = np.zeros(steps, np.int32)
    keys = _table(steps)
    nodes = np.zeros(len(keys), np.int32)
    parent[0] = label[0] = -1
    first[0] = -1
    count = 1
    for e in range(len(offsets) - 1):
        at = 0
        for n in range(offsets[e], offsets[e + 1]):
            key = np.int64(at) * n_labels + labels[n]
            slot = _slot(keys, key)
            if keys[slot] == -1:
                keys[slot] = key
                nodes[slot] = count
                parent[count] = at
                label[count] = labels[n]
                depth[count] = depth[at] + 1
                first[count] = n
                count += 1
            at = nodes[slot]
            node_of[n] = at
    return parent[:count], label[:count], depth[:count], first[:count], node_of


@njit(cache=True)
def first_alike(groups: Ints | Longs, labels: Ints, n_labels: int) -> Longs:
    """For each step, the first step of the same group with the same label."""
    steps = len(groups)
    keys = _table(steps)
    steps_at = np.zeros(len(keys), np.int64)
    out = np.zeros(steps, np.int64)
    for n in range(steps):
        key = np.int64(groups[n]) * n_labels + labels[n]
        slot = _slot(keys, key)
        if keys[slot] == -1:
            keys[slot] = key
            steps_at[slot] = n
        out[n] = steps_at[slot]
    return out


@njit(cache=True)
def with_ancestors(parent: Ints, chosen: Bools) -> None:
    """Marks, in place, every ancestor of a chosen node as chosen."""
    for v in range(len(parent) - 1, 0, -1):
        if chosen[v]:
            chosen[parent[v]] = True


@njit(cache=True)
def tree_states(parent: Ints, label: Ints, delta: Ints, out: Ints) -> None:
    """The machine state after each node's prefix; ``delta`` has a row per state, a column per label."""
    out[0] = 0
    for v in range(1, len(parent)):
        out[v] = delta[out[parent[v]], label[v]]


@njit(cache=True)
def some_tree_states(nodes: Ints, parent: Ints, label: Ints, delta: Ints, out: Ints) -> None:
    """The same for some nodes only, in ascending order and with all their ancestors."""
    out[0] = 0
    for v in nodes:
        if v > 0:
            out[v] = delta[out[parent[v]], label[v]]


@njit(cache=True)
def violated_pairs(
    parent: Ints, states: Ints, node: Ints, label: Ints, outcome: Ints, n_states: int, n_labels: int, most: int
) -> Ints:
    """Pairs of marks with equal (u, label, u') and different outcomes, at most one pair for each such key.

    Marks are visited in the given order, so sorted by depth the pairs are the shallowest ones. Where there are far more
    keys than marks, as in a machine of thousands of states, keys are found by hashing.
    """
    every = np.int64(n_states) * n_labels * n_states
    sparse = every > 1_000_000 and every > 8 * len(node)
    keys = _table(len(node) if sparse else 0)
    first = np.full(len(keys) if sparse else every, -1, np.int32)
    pairs = np.zeros((most, 2), np.int32)
    found = 0
    for m in range(len(node)):
        v = node[m]
        key = (np.int64(states[parent[v]]) * n_labels + label[m]) * n_states + states[v]
        if sparse:
            slot = _slot(keys, key)
            keys[slot] = key
            key = slot
        if first[key] == -1:
            first[key] = m
        elif first[key] >= 0 and outcome[first[key]] != outcome[m]:
            pairs[found, 0] = first[key]
            pairs[found, 1] = m
            first[key] = -2
            found += 1
            if found == most:
                break
    return pairs[:found]


@njit(cache=True)
def outcome_entropy(
    parent: Ints, states: Ints, node: Ints, label: Ints, outcome: Ints, n_states: int, n_labels: int, n_outcomes: int
) -> float:
    """How much the outcomes of the marks are still mixed, in nats, given (u, label); 0 if u tells them all apart."""
    counts = np.zeros((n_states * n_labels, n_outcomes), np.int64)
    for m in range(len(node)):
        counts[states[parent[node[m]]] * n_labels + label[m], outcome[m]] += 1
    total = 0.0
    for key in range(n_states * n_labels):
        whole = counts[key].sum()
        for count in counts[key]:
            if 0 < count < whole:
                total -= count * np.log(count / whole)
    return total
