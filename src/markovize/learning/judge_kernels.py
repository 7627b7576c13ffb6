"""The compiled loops of the judge. Each is short and has a plain Python twin in the tests; no engine may use them."""

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.episodes.traces import Ints
from markovize.learning.hash_table import claim_slot, make_table


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
    keys = make_table(len(node) if sparse else 0)
    first = np.full(len(keys) if sparse else every, -1, np.int32)
    pairs = np.zeros((most, 2), np.int32)
    found = 0
    for m in range(len(node)):
        v = node[m]
        key = (np.int64(states[parent[v]]) * n_labels + label[m]) * n_states + states[v]
        if sparse:
            key, _ = claim_slot(keys, key)
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
