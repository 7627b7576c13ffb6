"""The exemplars an engine has been given, merged into a prefix tree of its own that only ever grows."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable
from copy import copy

import numpy as np

from markovize.episodes.traces import Bools, Ints
from markovize.learning.prefix_tree import PrefixTree

SMALL_ALPHABET = 256
ELSEWHERE = -2  # stands for the labels that are not in the alphabet: a state may be entered by one of those


class ExemplarTree:
    """Nodes, marks and apart pairs in the order of their arrival, so that a solver can catch up.

    Nodes are known by their labels from the root, not by the number they have in the tree they come from: that tree may
    be rebuilt when more episodes arrive.

    ``alphabet`` holds the trigger labels a machine may use: all of the tree, so that solvers need not start anew when
    an exemplar brings a new one; or, where the tree has very many, only those of the exemplars and :data:`ELSEWHERE`.
    """

    def __init__(self) -> None:
        self.parent: list[int] = [-1]
        self.label: list[int] = [-1]
        self.marks: list[tuple[int, int, int]] = []  # (node, reward label, outcome)
        self.apart: list[tuple[int, int]] = []
        self.ambiguous: set[int] = set()
        self.alphabet: list[int] = []
        self._child: dict[tuple[int, int], int] = {}
        self.counts: dict[tuple[int, int, int], int] = {}  # of each mark, how many steps of the episodes had it
        self._by_label: defaultdict[tuple[int, int], dict[int, list[int]]] = defaultdict(dict)
        self._apart: set[tuple[int, int]] = set()
        self.outliers = 0  # how many steps may be left unexplained
        self.clash: Callable[[int, int], bool] = operator.ne  # whether two outcomes exclude each other
        self.width: float | None = None  # by how much rewards of one cell may differ, if they may
        self._tree: PrefixTree | None = None  # the last one, whose outcomes have levels then

    def extend(self, tree: PrefixTree, nodes: Ints) -> bool:
        """Adds nodes with their ancestors and marks; True if a reward label became ambiguous.

        A reward label is *ambiguous* if steps that carry it have different trigger labels anywhere in the whole tree.
        """
        self.outliers = tree.allowance.outliers
        if not tree.allowance.exact:
            self.clash = tree.clash
        width = tree.allowance.width if tree.allowance.tolerance else None
        assert not self.marks or width == self.width, "outcomes of other trees have other meanings"
        if width is not None:
            self.width, self._tree = width, tree
        keep = tree.reach(nodes)
        names = self._add_nodes(tree, keep)
        before = len(self.ambiguous)
        self.ambiguous |= tree.ambiguous
        for m in np.flatnonzero(keep[tree.mark_node]):
            label = int(tree.reward_labels[tree.mark_label[m]])
            mark = names[int(tree.mark_node[m])], label, int(tree.mark_outcome[m])
            if mark not in self.counts:
                self._add_mark(*mark)
            self.counts[mark] = int(tree.mark_count[m])
        self.alphabet = tree.alphabet
        if len(self.alphabet) > SMALL_ALPHABET:
            present = set(self.label)
            self.alphabet = [*(label for label in self.alphabet if label in present), ELSEWHERE]
        return len(self.ambiguous) > before

    def copy(self) -> ExemplarTree:
        """One that grows on its own from here."""
        twin = copy(self)
        for name in ("parent", "label", "marks", "apart", "ambiguous", "alphabet", "_child", "counts", "_apart"):
            setattr(twin, name, copy(getattr(self, name)))
        twin._by_label = defaultdict(dict)
        for key, groups in self._by_label.items():
            twin._by_label[key] = {outcome: list(nodes) for outcome, nodes in groups.items()}
        return twin

    def level(self, outcome: int) -> tuple[float, int | None]:
        """With a tolerance, what an outcome pays, and whether it ends episodes if that is to be explained."""
        assert self._tree is not None
        return float(self._tree.levels[outcome]), int(self._tree.ends[outcome]) if self._tree.tells_ends else None

    def as_met(self, labels: list[int]) -> list[int]:
        """These labels in the order in which the exemplars met them first; those that none met come last."""
        rank = {label: number for number, label in enumerate(dict.fromkeys(self.label))}
        return sorted(labels, key=lambda label: rank.get(label, len(rank)))

    def _add_nodes(self, tree: PrefixTree, keep: Bools) -> dict[int, int]:
        names = {0: 0}
        for v in np.flatnonzero(keep[1:]) + 1:
            at, label = names[int(tree.parent[v])], int(tree.label[v])
            child = self._child.get((at, label))
            if child is None:
                child = self._child[at, label] = len(self.parent)
                self.parent.append(at)
                self.label.append(label)
            names[int(v)] = child
        return names

    def _add_mark(self, node: int, label: int, outcome: int) -> None:
        self.marks.append((node, label, outcome))
        if self.outliers:
            return  # either step may be one
        groups = self._by_label[label, self.label[node]]
        for other_outcome, others in groups.items():
            if self.clash(other_outcome, outcome):
                for other in others:
                    self._set_apart(self.parent[node], self.parent[other])
        groups.setdefault(outcome, []).append(node)

    def _set_apart(self, a: int, b: int) -> None:
        """No machine sends a and b to one state; nor their parents, if both came by the same label; and so on up."""
        while a != b:
            pair = (max(a, b), min(a, b))
            if pair in self._apart:
                return
            self._apart.add(pair)
            self.apart.append(pair)
            if self.label[a] != self.label[b]:
                return
            a, b = self.parent[a], self.parent[b]
