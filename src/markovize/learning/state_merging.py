"""A machine by merging states: for few labels, of which almost every one moves the machine.

The engines look for few triggers. Where a machine moves with every action, there are hundreds of them, and no search
for few ends. Then the classical way is better: begin with the prefix tree itself, whose nodes are states, and merge
those that nothing tells apart, the pair with most in common first (evidence-driven state merging, Lang, Pearlmutter &
Price 1998). It proves nothing; what it finds is where a search begins.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from markovize.episodes.traces import Floats, Ints, Longs
from markovize.learning.engines.base import Delta
from markovize.learning.judge import Judge
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import PrefixTree

MOST_ENTRIES: Final = 4_000_000  # of the tables (node, label): some tens of megabytes
MOST_STATES: Final = 64  # of a machine that is worth having
APART: Final = -1  # instead of a score


def merge_states(judge: Judge, limits: Limits) -> Delta | None:
    """A machine that explains the judge's tree; None where that is too large, or u and the label do not tell u'."""
    tree = judge.tree
    rewards = max(1, tree.conflicting_labels)
    if tree.allowance.outliers or len(tree.ambiguous) or tree.ends.any():
        return None
    if len(tree) * (tree.n_labels + rewards) > MOST_ENTRIES:
        return None
    after = np.full((len(tree), tree.n_labels), -1, np.int32)
    after[tree.parent[1:], tree.label[1:]] = np.arange(1, len(tree))
    low, high = _windows(tree, rewards)
    red = [0]
    while True:
        limits.check()
        states = np.array(red, np.int32)
        blue = np.array(
            [[u, x] for u in red for x in np.flatnonzero(after[u] >= 0) if after[u, x] not in red], np.int32
        )
        if not len(blue):
            break
        scores = _score(after, low, high, tree.allowance.width, states, blue)
        best = scores.max(axis=1)
        lost = np.flatnonzero(best == APART)
        if len(lost):  # nothing is like it: a state of its own
            if len(red) == MOST_STATES:
                return None
            u, x = blue[lost[0]]
            red.append(int(after[u, x]))
            continue
        chosen = int(best.argmax())
        u, x = (int(n) for n in blue[chosen])
        stays = scores[chosen, red.index(u)] == best[chosen]  # which takes no trigger
        into = u if stays else int(states[scores[chosen].argmax()])
        _fold(after, low, high, tree.allowance.width, u, x, into, keep=True)
    number = {node: u for u, node in enumerate(red)}
    moves = {
        (number[u], int(x)): number[int(after[u, x])]
        for u in red
        for x in np.flatnonzero(after[u] >= 0)
        if after[u, x] != u
    }
    return judge.prune(moves) if judge.explains(moves) else None


def _windows(tree: PrefixTree, rewards: int) -> tuple[Floats, Floats]:
    """The least and the largest reward of each (node, reward label) that a step from the node was paid."""
    low, high = np.full((len(tree), rewards), np.inf), np.full((len(tree), rewards), -np.inf)
    source = tree.parent[tree.mark_node]
    levels = tree.mark_outcome.astype(np.float64) if tree.allowance.exact else tree.levels[tree.mark_outcome]
    np.minimum.at(low, (source, tree.mark_label), levels)
    np.maximum.at(high, (source, tree.mark_label), levels)
    return low, high


@njit(cache=True)
def _score(after: Ints, low: Floats, high: Floats, width: float, states: Ints, blue: Ints) -> Longs:
    """For each node beyond the states and each state, how many of their rewards agree; :data:`APART` if some do not."""
    scores = np.zeros((len(blue), len(states)), np.int64)
    for n in range(len(blue)):
        for m in range(len(states)):
            scores[n, m] = _fold(after, low, high, width, blue[n, 0], blue[n, 1], states[m], False)
    return scores


@njit(cache=True)
def _fold(after: Ints, low: Floats, high: Floats, width: float, source: int, label: int, into: int, keep: bool) -> int:
    """Lets a step lead to another state, and folds all that came after it into that; how many rewards agree.

    All is undone where some do not, and where it is not to be kept.
    """
    gone = after[source, label]
    moved = [(source, label, gone)]
    told = [(0, 0, 0.0, 0.0)]
    after[source, label] = into
    waiting = [(into, gone)]
    score, fits = 0, True
    while len(waiting) and fits:
        one, other = waiting.pop()
        for y in range(low.shape[1]):
            if low[other, y] > high[other, y]:
                continue
            known = low[one, y] <= high[one, y]
            told.append((one, y, low[one, y], high[one, y]))
            low[one, y], high[one, y] = min(low[one, y], low[other, y]), max(high[one, y], high[other, y])
            if high[one, y] - low[one, y] > width:
                fits = False
                break
            if known:
                score += 1
        for x in range(after.shape[1]):
            follower = after[other, x]
            if not fits or follower < 0:
                continue
            if after[one, x] < 0:
                moved.append((one, x, after[one, x]))
                after[one, x] = follower
            elif after[one, x] != follower:
                waiting.append((after[one, x], follower))
    if not fits or not keep:
        for n in range(len(told) - 1, 0, -1):
            one, y, least, most = told[n]
            low[one, y], high[one, y] = least, most
        for n in range(len(moved) - 1, -1, -1):
            one, x, target = moved[n]
            after[one, x] = target
    return score if fits else APART
