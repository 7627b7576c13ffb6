"""The compiled loops of the prefix tree. Each is short and has a plain Python twin in the tests."""

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.episodes.traces import Bools, Ints, Longs
from markovize.learning.hash_table import claim_slot, make_table


@njit(cache=True)
def merge_prefixes(offsets: Longs, starts: Ints, labels: Ints, n_labels: int) -> tuple[Ints, Ints, Ints, Longs, Ints]:
    """The prefix tree of all episodes: parent, label, depth and first step of each node; each step's node.

    Node 0 is the root; parents come before their children. An episode may go on after a step of another: ``starts``.
    """
    steps = len(labels)
    parent = np.zeros(steps + 1, np.int32)
    label = np.zeros(steps + 1, np.int32)
    depth = np.zeros(steps + 1, np.int32)
    first = np.zeros(steps + 1, np.int64)
    node_of = np.zeros(steps, np.int32)
    keys = make_table(steps)
    nodes = np.zeros(len(keys), np.int32)
    parent[0] = label[0] = -1
    first[0] = -1
    count = 1
    for e in range(len(offsets) - 1):
        at = 0 if starts[e] < 0 else node_of[starts[e]]
        for n in range(offsets[e], offsets[e + 1]):
            slot, new = claim_slot(keys, np.int64(at) * n_labels + labels[n])
            if new:
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
    keys = make_table(steps)
    steps_at = np.zeros(len(keys), np.int64)
    out = np.zeros(steps, np.int64)
    for n in range(steps):
        slot, new = claim_slot(keys, np.int64(groups[n]) * n_labels + labels[n])
        if new:
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
def first_on_ways(offsets: Longs, starts: Ints, chosen: Bools) -> Bools:
    """The chosen steps that no chosen step of the same episode comes before."""
    met = chosen.copy()  # whether a chosen step was met by then
    first = chosen.copy()
    for e in range(len(offsets) - 1):
        before = starts[e] >= 0 and met[starts[e]]
        for n in range(offsets[e], offsets[e + 1]):
            if before:
                met[n] = True
                first[n] = False
            before = met[n]
    return first
