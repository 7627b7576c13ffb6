"""Merged episodes: the prefix tree of trigger labels, and the question whether any machine can explain them.

Each node is a history of trigger labels. A *mark* is a reward label seen at the steps into a node, with an outcome and
how many steps had it; only labels that were seen with two or more outcomes can ever conflict, so only those are marked,
and branches without marks are dropped. Where some machine explains the episodes, a label at a node has one outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from markovize.conflicts.labels import conflicting_labels
from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.traces import Bools, Floats, Ints, Longs, Traces
from markovize.learning import tree_kernels
from markovize.learning.levels_apart import order_by_level
from markovize.learning.windows import outside_of_windows


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
    n_rewards: int = 0  # reward labels, those without conflicts included
    allowance: Allowance = EXACT
    levels: Floats = field(default_factory=lambda: np.zeros(0), repr=False)  # of each outcome, with an allowance
    ends: Ints = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)  # whether it ends episodes, likewise

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

    @cached_property
    def ascending_marks(self) -> Longs:
        """With an allowance: the marks by their ends and levels."""
        order: Longs = np.lexsort((self.levels[self.mark_outcome], self.ends[self.mark_outcome]))
        return order

    @cached_property
    def tells_ends(self) -> bool:
        """Whether some outcomes end episodes: then outcomes are pairs."""
        return bool(self.ends.any())

    def clash(self, one: int, other: int) -> bool:
        """Whether no (u, reward label, u') can have both outcomes, outliers aside."""
        if self.allowance.exact:
            return one != other
        return bool(self.ends[one] != self.ends[other]) or not self.allowance.fits(self.levels[one], self.levels[other])

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

    @property
    def contradicts_itself(self) -> bool:
        """Whether a label at a node has two outcomes of which only equal ones fit: no machine explains both."""
        return len(np.unique(np.stack([self.mark_node, self.mark_label]), axis=1).T) < len(self.mark_node)

    def with_outcomes(self, codes: Ints) -> PrefixTree:
        """The tree with these in place of its outcomes, where only equal ones fit; marks that become equal are one."""
        outcomes = codes[self.mark_outcome]
        marks = np.stack([self.mark_node, self.mark_label, outcomes])
        _, first, of_mark = np.unique(marks, axis=1, return_index=True, return_inverse=True)
        kept = np.sort(first)
        counts = np.bincount(of_mark.ravel(), self.mark_count)[of_mark.ravel()[kept]].astype(np.int32)
        levels = np.arange(int(codes.max(initial=0)) + 1, dtype=np.float64)
        return replace(
            self,
            mark_node=self.mark_node[kept],
            mark_label=self.mark_label[kept],
            mark_outcome=outcomes[kept].astype(np.int32),
            mark_count=counts,
            allowance=replace(self.allowance, tolerance=0.0),
            levels=levels,
            ends=np.zeros(len(levels), np.int32),
        )

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
    finer_labels_help: bool = False

    def __str__(self) -> str:
        (i, j), (m, n), (r, q) = self.episodes, self.steps, self.rewards
        what = f"rewards {r:g} and {q:g}" if r != q else f"reward {r:g}, ending the episode only once"
        return (
            f"no reward machine with {self.trigger_on}/{self.reward_on} labels explains these episodes: episode {i} "
            f"step {m} and episode {j} step {n} share their history and label but have {what}. {self.advice}"
        ).rstrip()


@dataclass(frozen=True)
class MergedSteps:
    """Steps merged by their histories, whatever is allowed for.

    ``alike`` has for each step the first step with the same history and reward label, which decides realisability: see
    :func:`find_contradiction`. ``seen_as`` has the first with the same outcome, too.
    """

    steps: LabelledSteps
    parent: Ints = field(repr=False)
    label: Ints = field(repr=False)
    depth: Ints = field(repr=False)
    first: Longs = field(repr=False)
    node_of: Ints = field(repr=False)
    alike: Longs = field(repr=False)
    seen_as: Longs = field(repr=False)

    @cached_property
    def by_level(self) -> Longs:
        """The steps by reward label and level."""
        return order_by_level(self.steps)

    def with_outcomes_of(self, steps: LabelledSteps) -> MergedSteps:
        """The same histories; these steps differ from those before in their outcomes alone."""
        return replace(self, steps=steps, seen_as=_first_seen_as(steps, self.alike))


def merge_steps(steps: LabelledSteps) -> MergedSteps:
    """The prefix tree of all steps, not yet cut."""
    n_labels, n_rewards = max(1, len(steps.triggers.values)), max(1, len(steps.rewards.values))
    parent, label, depth, first, node_of = tree_kernels.merge_prefixes(
        steps.offsets, steps.starts, steps.triggers.ids, n_labels
    )
    alike = tree_kernels.first_alike(node_of, steps.rewards.ids, n_rewards)
    return MergedSteps(steps, parent, label, depth, first, node_of, alike, _first_seen_as(steps, alike))


def build_tree(steps: LabelledSteps, allowance: Allowance = EXACT) -> tuple[PrefixTree, Longs]:
    """The cut prefix tree, and for each step the first step with the same history and reward label.

    The second value decides realisability: see :func:`find_contradiction`.
    """
    merged = merge_steps(steps)
    return cut_tree(merged, allowance), merged.alike


def cut_tree(merged: MergedSteps, allowance: Allowance) -> PrefixTree:
    """What of the merged steps can conflict within this allowance."""
    steps, seen_as = merged.steps, merged.seen_as
    marks, n_rewards = steps.rewards.ids, max(1, len(steps.rewards.values))
    levels, ends = (np.zeros(0), np.zeros(0, np.int32)) if allowance.exact else (steps.levels, steps.ends)
    conflicting = _conflicting(steps, allowance)
    at = np.flatnonzero((seen_as == np.arange(len(seen_as))) & conflicting[marks])
    if allowance.tolerance and not allowance.outliers:
        at = _extremes(at, merged.alike[at], ends[steps.outcomes[at]], levels[steps.outcomes[at]])
    order = np.argsort(merged.depth[merged.node_of[at]], kind="stable")
    at = at[order]
    compact = np.cumsum(conflicting, dtype=np.int32) - 1
    whole = PrefixTree(
        merged.parent,
        merged.label,
        merged.depth,
        merged.first,
        merged.node_of[at],
        compact[marks[at]].astype(np.int32),
        steps.outcomes[at],
        np.bincount(seen_as, steps.weights, len(seen_as))[at].astype(np.int32),
        np.flatnonzero(conflicting).astype(np.int32),
        max(1, len(steps.triggers.values)),
        n_rewards,
        allowance,
        levels,
        ends,
    )
    return whole.restrict(whole.mark_node)


def _conflicting(steps: LabelledSteps, allowance: Allowance) -> Bools:
    """For each reward label, whether it was seen with outcomes that do not fit one level."""
    labels, n_labels = steps.rewards.ids, max(1, len(steps.rewards.values))
    if allowance.exact:
        return conflicting_labels(labels, steps.outcomes, n_labels)
    low, high = np.full(n_labels, np.inf), np.full(n_labels, -np.inf)
    np.minimum.at(low, labels, steps.levels[steps.outcomes])
    np.maximum.at(high, labels, steps.levels[steps.outcomes])
    wide: Bools = high - low > allowance.width
    return wide | conflicting_labels(labels, steps.ends[steps.outcomes], n_labels)


def _extremes(at: Longs, groups: Longs, ends: Ints, levels: Floats) -> Longs:
    """Of steps with equal history, label and end, the least and the largest reward: what is between them fits, too."""
    order = np.lexsort((levels, ends, groups))
    group, end = groups[order], ends[order]
    new = np.ones(len(order) + 1, np.bool_)
    new[1:-1] = (group[1:] != group[:-1]) | (end[1:] != end[:-1])
    return np.sort(at[order[new[:-1] | new[1:]]])


def _first_seen_as(steps: LabelledSteps, alike: Longs) -> Longs:
    """For each step, the first step with the same history, reward label and outcome."""
    if np.array_equal(steps.outcomes[alike], steps.outcomes):
        return alike
    return tree_kernels.first_alike(alike, steps.outcomes, len(steps.outcome_values))


def find_contradiction(
    steps: LabelledSteps, alike: Longs, traces: Traces, allowance: Allowance = EXACT
) -> Contradiction | None:
    """None if some machine explains the steps (linear time); otherwise the shortest pair that none can explain."""
    if allowance.exact:
        wrong = steps.outcomes != steps.outcomes[alike]
    else:
        wrong, outliers = _outside(steps, alike, allowance)
        if outliers <= allowance.outliers:
            return None
    if not wrong.any():
        return None
    at = np.flatnonzero(wrong)
    first = int(at[np.lexsort((at, alike[at], traces.depths()[at]))[0]])  # numbered as (episode, step) are ordered
    other = int(alike[first]) if allowance.exact else _clashing_with(first, steps, alike, allowance)
    pair = sorted((first, other))
    earlier, later = (traces.locate(step) for step in pair)
    rewards = traces.rewards[pair].tolist()
    return Contradiction(
        (earlier[0], later[0]),
        (earlier[1], later[1]),
        (rewards[0], rewards[1]),
        _contradicting_episodes(steps, _unusual(steps, alike) if allowance.exact else wrong),
        steps.triggers.kind,
        steps.rewards.kind,
    )


def count_contradicting(merged: MergedSteps) -> int:
    """How many steps contradict most others with the same history and label: so many outliers any machine has."""
    return _outside(merged.steps, merged.alike, EXACT)[1]


def _outside(steps: LabelledSteps, alike: Longs, allowance: Allowance) -> tuple[Bools, int]:
    """The steps that do not fit the level of most steps with the same history and label, and how many that are."""
    counts = np.ones(len(alike), np.int64) if steps.weights is None else steps.weights
    levels, ends = steps.levels[steps.outcomes], steps.ends[steps.outcomes]
    return outside_of_windows(alike, ends, levels, counts, allowance.width)


def _clashing_with(step: int, steps: LabelledSteps, alike: Longs, allowance: Allowance) -> int:
    """The first step of the same history and label whose level cannot be that of this one."""
    others = np.flatnonzero(alike == alike[step])
    levels, ends = steps.levels[steps.outcomes], steps.ends[steps.outcomes]
    apart = (np.abs(levels[others] - levels[step]) > allowance.width) | (ends[others] != ends[step])
    return int(others[np.argmax(apart)])


def _unusual(steps: LabelledSteps, alike: Longs) -> Bools:
    """The steps that differ from what most steps of the same history and label show."""
    seen_as = _first_seen_as(steps, alike)
    marks, of_step = np.unique(seen_as, return_inverse=True)
    counts = np.bincount(of_step, steps.weights)
    group, outcome = alike[marks], steps.outcomes[marks]
    order = np.lexsort((outcome, marks != group, -counts, group))  # in each group the most frequent first, or the first
    usual = np.zeros(len(alike), np.int64)
    usual[group[order][::-1]] = marks[order][::-1]
    odd: Bools = seen_as != usual[alike]
    return odd


def _contradicting_episodes(steps: LabelledSteps, odd: Bools) -> int:
    """How many episodes have such a step."""
    first = tree_kernels.first_on_ways(steps.offsets, steps.starts, odd)
    return int(first.sum() if steps.weights is None else steps.weights[first].sum())


def _cut(tree: PrefixTree, keep: Bools) -> PrefixTree:
    if keep.all():
        return tree
    number = np.cumsum(keep, dtype=np.int32) - 1
    parent = tree.parent[keep]
    parent[1:] = number[parent[1:]]
    marks = keep[tree.mark_node]
    return replace(
        tree,
        parent=parent,
        label=tree.label[keep],
        depth=tree.depth[keep],
        first_step=tree.first_step[keep],
        mark_node=number[tree.mark_node[marks]].astype(np.int32),
        mark_label=tree.mark_label[marks],
        mark_outcome=tree.mark_outcome[marks],
        mark_count=tree.mark_count[marks],
    )
