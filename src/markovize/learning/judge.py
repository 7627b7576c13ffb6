"""Replays candidate machines on all the data: what it accepts is explained.

It reads the same :class:`PrefixTree` as the engines. No code that replays a machine is shared with them, and the
import rules forbid it.
"""

from __future__ import annotations

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.traces import Bools, Ints, Longs
from markovize.errors import EngineError
from markovize.learning import judge_kernels
from markovize.learning.engines.base import Delta
from markovize.learning.prefix_tree import PrefixTree
from markovize.learning.windows import Inside, clashing_pairs, look_inside, outside_of_windows
from markovize.machine.delta import tabulate
from markovize.machine.graph import topological_order

FRONT_NODES = 30_000


class Judge:
    """Holds the tree of all episodes and tells where a machine contradicts it."""

    def __init__(self, tree: PrefixTree) -> None:
        self.tree = tree
        self._states = np.zeros(len(tree), np.int32)
        self._front, self._front_marks = tree.shallow(FRONT_NODES)
        kinds, compact = np.unique(_alike(tree), return_inverse=True)
        self.outcome_kinds, self.outcomes = max(1, len(kinds)), compact.astype(np.int32)  # of marks, those alike as one

    def violations(self, delta: Delta, most: int = 64) -> Ints:
        """Pairs of marks with equal (u, reward label, u') but different outcomes, the shallowest first."""
        tree, table = self.tree, self.table(delta)
        pairs: Ints = np.zeros((0, 2), np.int32)
        if self._front_marks < len(tree.mark_node):  # most machines fail early: look at the shallow part first
            judge_kernels.some_tree_states(self._front, tree.parent, tree.label, table, self._states)
            pairs = self._pairs(len(table), self._front_marks, most)
        if not len(pairs):
            judge_kernels.tree_states(tree.parent, tree.label, table, self._states)
            pairs = self._pairs(len(table), len(tree.mark_node), most)
        depth = tree.depth[tree.mark_node[pairs]].sum(axis=1)
        return pairs[np.argsort(depth, kind="stable")]

    def _pairs(self, states: int, marks: int, most: int) -> Ints:
        tree = self.tree
        if not tree.allowance.exact:
            return self._noisy_pairs(states, marks, most)
        return judge_kernels.violated_pairs(
            tree.parent,
            self._states,
            tree.mark_node[:marks],
            tree.mark_label[:marks],
            tree.mark_outcome[:marks],
            states,
            max(1, tree.conflicting_labels),
            most,
        )

    def _noisy_pairs(self, states: int, marks: int, most: int) -> Ints:
        """Pairs that clash, where there are more outliers than are allowed for; enough of them to show that."""
        allowance, cells, outside, outliers = self._windows(states, marks)
        if outliers <= allowance.outliers:
            return np.zeros((0, 2), np.int32)
        tree = self.tree
        outcomes, many = tree.mark_outcome[:marks], max(most, 2 * allowance.outliers + 2)
        levels, ends, counts = tree.levels[outcomes], tree.ends[outcomes], tree.mark_count[:marks]
        return clashing_pairs(cells, ends, levels, counts, outside, allowance.width, many)

    def _windows(self, states: int, marks: int) -> tuple[Allowance, Longs, Bools, int]:
        """The cell of each mark, which of them are outside of the window of their cell, and how many steps these are.

        The states of the nodes are known.
        """
        tree = self.tree
        node, outcomes = tree.mark_node[:marks], tree.mark_outcome[:marks]
        before = self._states[tree.parent[node]].astype(np.int64)
        cells = (before * max(1, tree.conflicting_labels) + tree.mark_label[:marks]) * states + self._states[node]
        levels, ends, counts = tree.levels[outcomes], tree.ends[outcomes], tree.mark_count[:marks]
        ascending, n_cells = tree.ascending_marks, states**2 * max(1, tree.conflicting_labels)
        if marks < len(ascending):
            ascending = ascending[ascending < marks]
        width = tree.allowance.width
        outside = outside_of_windows(cells, ends, levels, counts, width, ascending=ascending, n_groups=n_cells)
        return tree.allowance, cells, *outside

    def outliers(self, delta: Delta) -> int:
        """The least number of outliers with which a machine explains the data; 0 where there is no allowance."""
        if self.tree.allowance.exact:
            return 0
        table = self.table(delta)
        judge_kernels.tree_states(self.tree.parent, self.tree.label, table, self._states)
        return self._windows(len(table), len(self.tree.mark_node))[-1]

    def look(self, delta: Delta) -> Inside:
        """Outliers, and what pays alike. For trees with an allowance."""
        tree, table = self.tree, self.table(delta)
        judge_kernels.tree_states(tree.parent, tree.label, table, self._states)
        allowance, cells, outside, outliers = self._windows(len(table), len(tree.mark_node))
        inside = ~outside
        levels, counts = tree.levels[tree.mark_outcome[inside]], tree.mark_count[inside]
        groups = look_inside(cells[inside], tree.mark_label[inside], levels, counts, allowance.width)
        return Inside(outliers, groups)

    def spread(self, delta: Delta) -> float:
        """Half the widest range of rewards of a cell, outliers included. For trees with an allowance."""
        tree, table = self.tree, self.table(delta)
        judge_kernels.tree_states(tree.parent, tree.label, table, self._states)
        cells = np.unique(self._windows(len(table), len(tree.mark_node))[1], return_inverse=True)[1]
        low, high = np.full(len(tree.mark_node), np.inf), np.full(len(tree.mark_node), -np.inf)
        np.minimum.at(low, cells, tree.levels[tree.mark_outcome])
        np.maximum.at(high, cells, tree.levels[tree.mark_outcome])
        return float((high - low).max(initial=0.0)) / 2

    def evidence(self, delta: Delta) -> Ints:
        """All marks of cells that have something outside of their window: nothing more speaks against a machine."""
        table = self.table(delta)
        judge_kernels.tree_states(self.tree.parent, self.tree.label, table, self._states)
        _, cells, outside, _ = self._windows(len(table), len(self.tree.mark_node))
        return np.flatnonzero(np.isin(cells, cells[outside])).astype(np.int32)

    def loops_before(self, delta: Delta, marks: Ints, state: int) -> list[int]:
        """The labels that leave this state where it is, on the way to any of these marks."""
        tree, table = self.tree, self.table(delta)
        judge_kernels.tree_states(tree.parent, tree.label, table, self._states)
        nodes, is_before = np.unique(tree.mark_node[marks]), np.zeros(len(tree), np.bool_)
        while len(nodes := nodes[(nodes > 0) & ~is_before[nodes]]):
            is_before[nodes] = True
            nodes = np.unique(tree.parent[nodes])
        here = np.flatnonzero(is_before)
        labels = np.unique(tree.label[here[self._states[tree.parent[here]] == state]])
        return [label for label in labels.tolist() if (state, label) not in delta]

    def explains(self, delta: Delta) -> bool:
        """Whether replaying all episodes never needs two outcomes for one (u, reward label, u')."""
        return len(self.violations(delta, most=1)) == 0

    def mixture(self, delta: Delta) -> float:
        """How far a machine is from explaining the data: the entropy of outcomes given (u, reward label)."""
        tree, table = self.tree, self.table(delta)
        judge_kernels.tree_states(tree.parent, tree.label, table, self._states)
        return float(
            judge_kernels.outcome_entropy(
                tree.parent,
                self._states,
                tree.mark_node,
                tree.mark_label,
                self.outcomes,
                len(table),
                max(1, tree.conflicting_labels),
                self.outcome_kinds,
            )
        )

    def table(self, delta: Delta) -> Ints:
        """δ as an array with a row for each state and a column for each trigger label."""
        states = 1 + max((max(u, v) for (u, _), v in delta.items()), default=0)
        return tabulate(states, self.tree.n_labels, delta)

    def prune(self, delta: Delta) -> dict[tuple[int, int], int]:
        """Only the triggers that fire on the data, states renumbered to be consecutive."""
        table = self.table(delta)
        tree = self.tree
        judge_kernels.tree_states(tree.parent, tree.label, table, self._states)
        sources = self._states[tree.parent[1:]].astype(np.int64)
        has_fired = np.zeros(table.size, np.bool_)
        has_fired[sources * tree.n_labels + tree.label[1:]] = True
        live = [(u, x) for u, x in delta if has_fired[u * tree.n_labels + x]]
        names = {u: n for n, u in enumerate(sorted({0} | {delta[k] for k in live}))}
        return {(names[u], x): names[delta[u, x]] for u, x in sorted(live)}


def _alike(tree: PrefixTree) -> Ints:
    """The outcomes of the marks; those that are near each other count as one: good enough to see what is mixed."""
    if not tree.allowance.tolerance or not len(tree.mark_outcome):
        return tree.mark_outcome
    levels, codes = np.unique(tree.levels[tree.mark_outcome], return_inverse=True)
    cluster, start, names = 0, levels[0], np.zeros(len(levels), np.int32)
    for number, level in enumerate(levels.tolist()):
        if level - start > tree.allowance.width:
            cluster, start = cluster + 1, level
        names[number] = cluster
    return (2 * names[codes] + tree.ends[tree.mark_outcome]).astype(np.int32)


def size(delta: Delta) -> tuple[int, int]:
    """(states, triggers) of a pruned machine.

    >>> size({(0, 5): 1, (0, 6): 1})
    (2, 2)
    """
    return 1 + len(set(delta.values()) - {0}), len(delta)


def check_witness(delta: object, *, states: int, triggers: int | None, labels: int, acyclic: bool) -> Delta:
    """The engine's witness, if it is one: anything malformed or too big is an :class:`EngineError`."""
    if not isinstance(delta, dict) or not all(
        isinstance(key, tuple) and len(key) == 2 and all(isinstance(n, int) for n in (*key, target))
        for key, target in delta.items()
    ):
        raise EngineError("the engine claimed a machine but returned something else")
    moves = {key: target for key, target in delta.items() if key[0] != target}
    for (u, x), v in moves.items():
        if not (0 <= u < states and 0 <= v < states and 0 <= x < labels):
            raise EngineError(f"the engine's machine has the trigger ({u}, {x}) → {v}, outside of {states} states")
    if acyclic and not is_acyclic(moves):
        raise EngineError("the engine was asked for an acyclic machine but returned one with a cycle")
    if triggers is not None and len(moves) > triggers:
        raise EngineError(f"the engine was asked for at most {triggers} triggers but used {len(moves)}")
    return moves


def is_acyclic(delta: Delta) -> bool:
    """Whether the trigger graph has no cycle.

    >>> is_acyclic({(0, 1): 1, (1, 2): 0})
    False
    """
    edges = [(u, v) for (u, _), v in delta.items()]
    return topological_order(1 + max((max(edge) for edge in edges), default=0), edges) is not None
