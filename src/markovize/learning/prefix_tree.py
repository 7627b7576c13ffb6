"""Merged episodes: the prefix tree of trigger labels, and the question whether any machine can explain them.

Each node is a history of trigger labels. A *mark* is a reward label seen at the steps into a node, with an outcome and
how many steps had it; only labels that were seen with two or more outcomes can ever conflict, so only those are marked,
and branches without marks are dropped. Where some machine explains the episodes, a label at a node has one outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from markovize.conflicts.labels import conflicting_labels
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.traces import Bools, Ints, Longs, Traces
from markovize.learning import tree_kernels


@dataclass(frozen=True)
class PrefixTree:
    """The prefix tree of all episodes, cut to what can conflict. Node 0 is the root; parents precede children.

    Marks are sorted by depth. ``mark_label`` counts conflicting reward labels from 0; ``reward_labels`` maps these
    back.
    """

    parent: Ints = field(repr=False)
    label: Ints = field(repr=False)
    depth: Ints = field(repr=False)
    first_step: Longs = field(repr=False)
    mark_node: Ints = field(repr=False)
    mark_label: Ints = field(repr=False)
    mark_outcome: Ints = field(repr=False)
    mark_count: Ints = field(repr=False)
    reward_labels: Ints = field(repr=False)
    n_labels: int

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def conflicting_labels(self) -> int:
        return len(self.reward_labels)

    @cached_property
    def alphabet(self) -> list[int]:
        """All trigger labels of the tree, the most frequent first."""
        counts = np.bincount(self.label[1:], minlength=self.n_labels)
        order = np.argsort(-counts, kind="stable")
        return [int(x) for x in order[: int(np.count_nonzero(counts))]]

    @cached_property
    def ambiguous(self) -> frozenset[int]:
        """Reward labels whose steps have different trigger labels: u and the label do not tell u' then."""
        several = conflicting_labels(self.mark_label, self.label[self.mark_node], max(1, self.conflicting_labels))
        return frozenset(int(y) for y in self.reward_labels[several[: self.conflicting_labels]])

    def shallow(self, most: int) -> tuple[Ints, int]:
        """The shallowest marks that need at most about ``most`` nodes: (those nodes, how many marks)."""
        marks, chosen = len(self.mark_node), np.ones(len(self), np.bool_)
        while len(self) > most and marks > 1 and int(chosen.sum()) > most:
            marks //= 2
            chosen = self.reach(self.mark_node[:marks])
        return np.flatnonzero(chosen).astype(np.int32), marks

    def path(self, node: int) -> list[int]:
        """The nodes from the root's child down to this node."""
        out: list[int] = []
        while node > 0:
            out.append(node)
            node = int(self.parent[node])
        return out[::-1]

    def restrict(self, nodes: Ints) -> PrefixTree:
        """The tree of only these nodes, their ancestors, and all marks on them."""
        return _cut(self, self.reach(nodes))

    def reach(self, nodes: Ints) -> Bools:
        """For each node of the tree, whether the ways from the root to these nodes meet it."""
        met = np.zeros(len(self), np.bool_)
        met[0] = True
        met[nodes] = True
        tree_kernels.with_ancestors(self.parent, met)
        return met


@dataclass(frozen=True)
class Contradiction:
    """Two steps with the same history and the same label but different outcomes: no machine can explain both."""

    episodes: tuple[int, int]
    steps: tuple[int, int]
    rewards: tuple[float, float]
    contradicting_episodes: int
    trigger_on: str
    reward_on: str
    advice: str = ""

    def __str__(self) -> str:
        (i, j), (m, n), (r, q) = self.episodes, self.steps, self.rewards
        what = f"rewards {r:g} and {q:g}" if r != q else f"reward {r:g}, ending the episode only once"
        return (
            f"no reward machine with {self.trigger_on}/{self.reward_on} labels explains these episodes: episode {i} "
            f"step {m} and episode {j} step {n} share their history and label but have {what}. {self.advice}"
        ).rstrip()


def build_tree(steps: LabelledSteps) -> tuple[PrefixTree, Longs]:
    """The cut prefix tree, and for each step the first step with the same history and reward label.

    The second value decides realisability: see :func:`find_contradiction`.
    """
    labels, marks = steps.triggers.ids, steps.rewards.ids
    n_labels, n_rewards = max(1, len(steps.triggers.values)), max(1, len(steps.rewards.values))
    parent, label, depth, first, node_of = tree_kernels.merge_prefixes(steps.offsets, steps.starts, labels, n_labels)
    alike = tree_kernels.first_alike(node_of, marks, n_rewards)
    conflicting = conflicting_labels(marks, steps.outcomes, n_rewards)
    seen_as = _first_seen_as(steps, alike)
    at = np.flatnonzero((seen_as == np.arange(len(seen_as))) & conflicting[marks])
    order = np.argsort(depth[node_of[at]], kind="stable")
    at = at[order]
    compact = np.cumsum(conflicting, dtype=np.int32) - 1
    whole = PrefixTree(
        parent,
        label,
        depth,
        first,
        node_of[at],
        compact[marks[at]].astype(np.int32),
        steps.outcomes[at],
        np.bincount(seen_as, steps.weights, len(seen_as))[at].astype(np.int32),
        np.flatnonzero(conflicting).astype(np.int32),
        n_labels,
    )
    return whole.restrict(whole.mark_node), alike


def _first_seen_as(steps: LabelledSteps, alike: Longs) -> Longs:
    """For each step, the first step with the same history, reward label and outcome."""
    if np.array_equal(steps.outcomes[alike], steps.outcomes):
        return alike
    return tree_kernels.first_alike(alike, steps.outcomes, len(steps.outcome_values))


def find_contradiction(steps: LabelledSteps, alike: Longs, traces: Traces) -> Contradiction | None:
    """None if some machine explains the steps (linear time); otherwise the shortest pair that none can explain."""
    wrong = np.flatnonzero(steps.outcomes != steps.outcomes[alike])
    if not len(wrong):
        return None
    depth = traces.depths()[wrong]
    first = wrong[np.lexsort((wrong, alike[wrong], depth))[0]]  # steps are numbered as (episode, step) are ordered
    earlier, later = traces.locate(int(alike[first])), traces.locate(int(first))
    rewards = traces.rewards[[alike[first], first]].tolist()
    return Contradiction(
        (earlier[0], later[0]),
        (earlier[1], later[1]),
        (rewards[0], rewards[1]),
        _contradicting_episodes(steps, alike),
        steps.triggers.kind,
        steps.rewards.kind,
    )


def _contradicting_episodes(steps: LabelledSteps, alike: Longs) -> int:
    """How many episodes have a step that differs from what most steps of the same history and label show."""
    seen_as = _first_seen_as(steps, alike)
    marks, of_step = np.unique(seen_as, return_inverse=True)
    counts = np.bincount(of_step, steps.weights)
    group, outcome = alike[marks], steps.outcomes[marks]
    order = np.lexsort((outcome, marks != group, -counts, group))  # in each group the most frequent first, or the first
    usual = np.zeros(len(alike), np.int64)
    usual[group[order][::-1]] = marks[order][::-1]
    odd = tree_kernels.first_on_ways(steps.offsets, steps.starts, seen_as != usual[alike])
    return int(odd.sum() if steps.weights is None else steps.weights[odd].sum())


def _cut(tree: PrefixTree, keep: Bools) -> PrefixTree:
    if keep.all():
        return tree
    number = np.cumsum(keep, dtype=np.int32) - 1
    parent = tree.parent[keep]
    parent[1:] = number[parent[1:]]
    marks = keep[tree.mark_node]
    return PrefixTree(
        parent,
        tree.label[keep],
        tree.depth[keep],
        tree.first_step[keep],
        number[tree.mark_node[marks]].astype(np.int32),
        tree.mark_label[marks],
        tree.mark_outcome[marks],
        tree.mark_count[marks],
        tree.reward_labels,
        tree.n_labels,
    )
