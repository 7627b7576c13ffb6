"""The compiled loops of random rewards: counts by cell, and the evidence of many machines that differ by one trigger.

A *place* is where a category of a label is counted: the label's block, and the category in it. A *slot* is a place in
the cell (u, label, u'): (u · states + u') · places + place.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np
from numba import njit

from markovize.episodes.columns import Floats, Ints, Longs


@njit(cache=True)
def count_slots(offsets: Longs, labels: Ints, places: Ints, delta: Ints, width: int) -> tuple[Longs, Ints, Longs]:
    """How often each slot was met; for each step the state before it, and its slot or -1."""
    states = len(delta)
    counts = np.zeros(states * states * width, np.int64)
    before, slots = np.zeros(len(labels), np.int32), np.full(len(labels), -1, np.int64)
    for e in range(len(offsets) - 1):
        u = 0
        for n in range(offsets[e], offsets[e + 1]):
            v = delta[u, labels[n]]
            before[n] = u
            if places[n] >= 0:
                slots[n] = (u * states + v) * width + places[n]
                counts[slots[n]] += 1
            u = v
    return counts, before, slots


@njit(cache=True)
def chances(counts: Longs, blocks: Longs, cells: int) -> Floats:
    """For each label, the log-probability of what it paid, cell by cell, if nothing is known of any cell before.

    It is that of Krichevsky and Trofimov: each reward is foretold by those before it, with half a count for each
    category to begin with. So it is a probability of the data, whatever came first.
    """
    width = len(counts) // cells
    out = np.zeros(len(blocks) - 1)
    for y in range(len(blocks) - 1):
        many = blocks[y + 1] - blocks[y]
        none, half = lgamma(0.5 * many), lgamma(0.5)
        for cell in range(cells):
            total = 0
            for place in range(cell * width + blocks[y], cell * width + blocks[y + 1]):
                if counts[place] > 0:
                    total += counts[place]
                    out[y] += lgamma(counts[place] + 0.5) - half
            if total > 0:
                out[y] -= lgamma(total + 0.5 * many) - none
    return out


@njit(cache=True)
def weigh(gains: Floats) -> float:
    """The best sum of gains of some of the labels, at least one, less what it takes to say which of all these are."""
    labels = len(gains)
    best, total = -np.inf, 0.0
    cost = log(1 - 0.5**labels)  # a set of k labels has the weight 1/2^k, of all that there are
    for many, gain in enumerate(np.sort(gains)[::-1], 1):
        total += gain
        cost += log(2.0) + log((labels - many + 1) / many)
        best = max(best, total - cost)
        if gain < 0:
            break
    return best


@njit(cache=True)
def try_triggers(
    labels: Ints,
    places: Ints,
    episodes: Ints,
    delta: Ints,
    blocks: Longs,
    known: tuple[Longs, Ints, Longs],
    having: tuple[Longs, Longs],
    events: tuple[Longs, Longs],
    tried: Ints,
    against: Floats,
) -> Floats:
    """What :func:`weigh` says for each trigger (u, label, u') that is ``tried``, against a model's ``against``.

    ``known`` is what :func:`count_slots` says without it. ``having`` lists the steps with each label, ``events`` those
    of each episode at which the machine may move or something is counted; ``episodes`` is the episode of each step. So
    only what the trigger changes is looked at: from a step at which it fires until the machine is where it was anyway.
    """
    states, width = len(delta), blocks[-1]
    counted, before, slots = known
    out = np.empty(len(tried))
    for number in range(len(tried)):
        u, x, v = tried[number]
        counts = counted.copy()
        kept = delta[u, x]
        delta[u, x] = v
        at, end = having[0][x], having[0][x + 1]
        while at < end:
            n = having[1][at]
            at += 1
            if before[n] != u:
                continue
            e, state = episodes[n], u
            event, last = events[0][e], events[0][e + 1]
            while event < last and events[1][event] < n:
                event += 1
            while True:
                after = delta[state, labels[n]]
                if slots[n] >= 0:
                    counts[slots[n]] -= 1
                    counts[(state * states + after) * width + places[n]] += 1
                state = after
                if state == (kept if before[n] == u and labels[n] == x else delta[before[n], labels[n]]):
                    break
                if event < last and events[1][event] == n:
                    event += 1
                same = at < end and episodes[having[1][at]] == e
                if same and (event == last or having[1][at] <= events[1][event]):
                    n = having[1][at]
                    at += 1
                elif event < last:
                    n = events[1][event]
                else:
                    break
        delta[u, x] = kept
        out[number] = weigh(chances(counts, blocks, states * states) - against)
    return out
