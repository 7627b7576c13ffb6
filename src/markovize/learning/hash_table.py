"""A hash table for compiled loops: open addressing in an array of keys; -1 is an empty slot."""

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.episodes.traces import Longs


@njit(cache=True)
def find_slot(keys: Longs, key: int) -> int:
    """Where ``key`` is, or belongs, in an open-addressing table whose size is a power of two."""
    mask = len(keys) - 1
    at = (key * 0x9E3779B1 ^ (key >> 29)) & mask
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & mask
    return at


@njit(cache=True)
def claim_slot(keys: Longs, key: int) -> tuple[int, bool]:
    """Where ``key`` is, and whether it was put there only now."""
    slot = find_slot(keys, key)
    new = keys[slot] == -1
    keys[slot] = key
    return slot, new


@njit(cache=True)
def make_table(entries: int) -> Longs:
    size = 16
    while size < 2 * entries:
        size *= 2
    return np.full(size, -1, np.int64)
