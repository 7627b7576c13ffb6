"""Exemplars with equal continuations merged, and which of them no machine can send to one state.

Two histories after which the same labels follow and the same outcomes are seen are one node here, although a machine
may be in different states after them: a node stands for all states that its histories lead to. What is said of a node
is said of each of these states. On samples of words it leaves a third of the nodes of the prefix tree.

Nodes are *apart* if something that follows both has different outcomes. Then no state belongs to both; pairwise apart
nodes, a clique, need as many states as they are.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from markovize.episodes.traces import Bools, Ints
from markovize.learning.engines.exemplar_tree import ExemplarTree

MOST_PAIRS: Final = 5_000  # of nodes that are apart, the shallowest: more of them take longer to write than they save
STARTS: Final = 200  # nodes to begin a clique with

Mark: TypeAlias = tuple[int, int]
"""(reward label, outcome)"""
LabelledMark: TypeAlias = tuple[int, int, int]
"""(trigger label, reward label, outcome)"""
_Parts: TypeAlias = tuple[tuple[tuple[int, int], ...], tuple[Mark, ...], tuple[LabelledMark, ...]]


@dataclass(frozen=True)
class HistoryGraph:
    """Node 0 is the empty history; nodes come before those that follow them.

    ``marks`` are outcomes of reward labels that the state before the step decides; ``labelled_marks`` of those for
    which the state after it matters, too.
    """

    following: tuple[dict[int, int], ...] = field(repr=False)  # trigger label → node
    marks: tuple[tuple[Mark, ...], ...] = field(repr=False)
    labelled_marks: tuple[tuple[LabelledMark, ...], ...] = field(repr=False)
    labels: tuple[int, ...]  # trigger labels that matter
    apart: tuple[tuple[int, int], ...] = field(repr=False)
    clique: int  # so many nodes are pairwise apart

    def __len__(self) -> int:
        return len(self.following)


def merge_histories(tree: ExemplarTree) -> HistoryGraph:
    """The graph of all exemplars; for those that are explained exactly.

    A label after which nothing follows, and whose own outcome is decided before it, matters to no machine: where it
    leads is left out.
    """
    following, marks, labelled = _merge(tree)
    used = {x for each in following for x in each} | {x for each in labelled for x, _, _ in each}
    apart = _apart(following, marks)
    depth = _depths(following)
    order = np.argsort(depth, kind="stable").astype(np.int32)
    pairs = np.argwhere(np.triu(apart))
    nearest = np.sort(depth[pairs], axis=1)
    pairs = pairs[np.lexsort((nearest[:, 0], nearest[:, 1]))[:MOST_PAIRS]]
    return HistoryGraph(
        tuple(following),
        tuple(marks),
        tuple(labelled),
        tuple(x for x in tree.alphabet if x in used),
        tuple((int(a), int(b)) for a, b in pairs),
        _clique(apart, order),
    )


def _merge(tree: ExemplarTree) -> tuple[list[dict[int, int]], list[tuple[Mark, ...]], list[tuple[LabelledMark, ...]]]:
    """What follows each node, its marks, and those with their labels."""
    size = len(tree.parent)
    marks, labelled = defaultdict[int, list[Mark]](list), defaultdict[int, list[LabelledMark]](list)
    for node, label, outcome in tree.marks:
        if label in tree.ambiguous:
            labelled[tree.parent[node]].append((tree.label[node], label, outcome))
        else:
            marks[tree.parent[node]].append((label, outcome))
    following = defaultdict[int, list[tuple[int, int]]](list)
    known: dict[_Parts, int] = {}
    for node in range(size - 1, -1, -1):  # nodes have larger numbers than their parents
        parts = tuple(sorted(following[node])), tuple(sorted(marks[node])), tuple(sorted(labelled[node]))
        if node and not any(parts):
            continue
        name = known.setdefault(parts, len(known))
        if node:
            following[tree.parent[node]].append((tree.label[node], name))
    last, kept = len(known) - 1, list(reversed(known))
    return (
        [{x: last - name for x, name in after} for after, _, _ in kept],
        [m for _, m, _ in kept],
        [m for *_, m in kept],
    )


def _apart(following: list[dict[int, int]], marks: list[tuple[Mark, ...]]) -> Bools:
    """For each pair of nodes whether they are apart: by their own marks, or by what follows."""
    size = len(following)
    apart = np.zeros((size, size), np.bool_)
    seen, target = defaultdict[int, list[tuple[int, int]]](list), dict[int, Ints]()
    for node, own in enumerate(marks):
        for label, outcome in own:
            seen[label].append((node, outcome))
    for pairs in seen.values():
        nodes, outcomes = np.array(pairs).T
        apart[np.ix_(nodes, nodes)] |= outcomes[:, None] != outcomes
    for node, after in enumerate(following):
        for x, follower in after.items():
            target.setdefault(x, np.full(size, -1, np.int32))[node] = follower
    for node in range(size - 1, -1, -1):
        for x, follower in following[node].items():
            others = np.flatnonzero(target[x] >= 0)
            apart[node, others] |= apart[follower, target[x][others]]
    return apart


def _depths(following: list[dict[int, int]]) -> Ints:
    """Of each node, how many labels its shortest history has."""
    depth = np.full(len(following), len(following), np.int32)
    depth[0] = 0
    for node, after in enumerate(following):
        for follower in after.values():
            depth[follower] = min(depth[follower], depth[node] + 1)
    return depth


def _clique(apart: Bools, order: Ints) -> int:
    """So many nodes at least are pairwise apart: found from several nodes by taking what leaves most to choose from."""
    best = 1
    for start in order[:STARTS]:
        left, found = np.flatnonzero(apart[start]), 1
        while len(left):
            each = left[apart[np.ix_(left, left)].sum(axis=1).argmax()]
            left, found = left[apart[each, left]], found + 1
        best = max(best, found)
    return best
