"""The compiled loops that merge episodes. Each is short and has a plain Python twin in the tests.

A *pair* of a left and a right number is found by the key ``left * width + right``; ``width`` exceeds all right numbers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.episodes.traces import Ints, Longs
from markovize.learning.hash_table import claim_slot, make_table


@njit(cache=True)
def number_pairs(
    left: Ints, right: Ints, width: int, keys: Longs, ids: Ints, lefts: Ints, rights: Ints, count: int
) -> tuple[Ints, int]:
    """The number of each pair, new ones from ``count`` on; how many there are by then. The table must have room."""
    out = np.zeros(len(left), np.int32)
    for n in range(len(left)):
        slot, new = claim_slot(keys, np.int64(left[n]) * width + right[n])
        if new:
            ids[slot] = count
            lefts[count] = left[n]
            rights[count] = right[n]
            count += 1
        out[n] = ids[slot]
    return out, count


@njit(cache=True)
def fill_table(lefts: Ints, rights: Ints, count: int, width: int, entries: int) -> tuple[Longs, Ints]:
    """A table with room for so many entries, and the known pairs in it."""
    keys = make_table(entries)
    ids = np.zeros(len(keys), np.int32)
    for n in range(count):
        slot, _ = claim_slot(keys, np.int64(lefts[n]) * width + rights[n])
        ids[slot] = n
    return keys, ids


@njit(cache=True)
def merge_branches(
    offsets: Longs,
    starts: Ints,
    kinds: Ints,
    weights: Ints,
    width: int,
    keys: Longs,
    ids: Ints,
    lefts: Ints,
    rights: Ints,
    counts: Ints,
    count: int,
) -> tuple[Longs, Ints, Ints, Ints, int]:
    """Follows episodes, or branches of them, through a tree of histories, in which what is new of each is one branch.

    A node is the pair of the node before it (from 1; 0: the beginning) and the step's kind; ``counts`` grow by the
    weights of the steps. Returns, for each new branch, its first node, the node that it starts after (-1: none), the
    number of its episode and how many steps of that come before; and how many nodes there are by then.
    """
    node_of = np.zeros(len(kinds), np.int32)
    firsts = np.zeros(len(offsets) - 1, np.int64)
    after = np.zeros(len(offsets) - 1, np.int32)
    episodes = np.zeros(len(offsets) - 1, np.int32)
    skipped = np.zeros(len(offsets) - 1, np.int32)
    branches = 0
    for e in range(len(offsets) - 1):
        at = 0 if starts[e] < 0 else node_of[starts[e]] + 1
        known = True
        for n in range(offsets[e], offsets[e + 1]):
            slot, new = claim_slot(keys, np.int64(at) * width + kinds[n])
            if new:
                if known:
                    known = False
                    firsts[branches] = count
                    after[branches] = at - 1
                    episodes[branches] = e
                    skipped[branches] = n - offsets[e]
                    branches += 1
                ids[slot] = count
                lefts[count] = at
                rights[count] = kinds[n]
                count += 1
            node = ids[slot]
            counts[node] += weights[n]
            node_of[n] = node
            at = node + 1
    return firsts[:branches], after[:branches], episodes[:branches], skipped[:branches], count
