"""How much noise to allow for where triggers are labels: for each tolerance, machines with fewer and fewer outliers.

A machine grows trigger by trigger; where that leaves many outliers, rare rewards are taken for noise and a machine is
searched for without them. What each takes to write down is measured by :mod:`markovize.learning.fronts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Final

import numpy as np

from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.traces import Longs, Traces
from markovize.learning.beam import grow_in_beam
from markovize.learning.call import Begun
from markovize.learning.description import Ruler
from markovize.learning.engines.base import Delta, Engine
from markovize.learning.fronts import (
    FEW,
    LITTLE_EFFORT,
    MANY_OUTLIERS,
    SMALL,
    Front,
    Point,
    collect_points,
    few_outliers,
    rank,
)
from markovize.learning.greedy import grow_machine, shrink, swap_triggers
from markovize.learning.inquiry import Goal
from markovize.learning.judge import Judge, is_acyclic, size
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import MergedSteps, PrefixTree, cut_tree
from markovize.learning.problem import LabelPair, label_and_merge, merge_levels
from markovize.learning.reward_clusters import APART, snap_rewards
from markovize.learning.search import Deepening
from markovize.learning.soon import EFFORT, find_by_clusters, search_soon
from markovize.learning.state_merging import merge_states
from markovize.learning.trimming import trim_rewards
from markovize.learning.windows import Groups, finest_groups, outside_of_windows

SOME_EFFORT: Final = 5_000  # where noise is likely
LEAST_EFFORT: Final = 500  # where there are many to try
PATIENCE: Final = 8  # triggers that shorten nothing, before a machine is grown no further
MOST_TRIGGERS: Final = 32
RARE: Final = (2, 8)  # steps of a label that pay alike, or fewer, may be noise
HALVES: Final = 8  # random ones of the data, in the hope that one of them has no noise left


@dataclass(frozen=True)
class Question:
    """What is left open: the tolerance, the number of outliers, or both; what is given for the other."""

    tolerance: float | None
    outliers: int | None
    acyclic: bool
    explain: Explain
    engine: Engine

    @property
    def goal(self) -> Goal:
        return Goal("triggers", self.acyclic)


def draw_front(traces: Traces, question: Question, labels: Sequence[LabelPair], limits: Limits) -> Front:
    """The points that were found, the shortest first; those of one tolerance differ in their outliers.

    Where the coarsest labels leave much to be explained, others are compared.
    """
    ruler = Ruler.of(traces)
    merge = cache(lambda pair: label_and_merge(traces, pair, question.explain, limits))
    return collect_points(
        traces.rewards,
        question.tolerance,
        question.outliers,
        lambda tolerance, others: _begin(merge, question, labels, tolerance, ruler, others=others),
        lambda start, front: _Points(traces, start, question, ruler, limits, front).add_all(),
    )


@dataclass(frozen=True)
class _Start:
    """One tolerance: under which labels, the machine without triggers, and the bits that none can do without."""

    labels: LabelPair
    merged: MergedSteps
    tree: PrefixTree
    quiet: Groups  # labels that are not in the tree
    needed: int  # outliers, whatever the machine
    alone: Point
    least: float
    rank: float
    is_other: bool  # labels that are tried where the first ones leave much to be explained

    @property
    def may_be_exact(self) -> bool:
        return not self.needed and not self.tree.allowance.tolerance


@dataclass(frozen=True)
class _Rough:
    """Episodes in which machines are grown, as they are or with each cluster of rewards as one; and their judge."""

    traces: Traces
    merged: MergedSteps
    tree: PrefixTree
    judge: Judge


def _begin(
    merge: Callable[[LabelPair], MergedSteps],
    question: Question,
    labels: Sequence[LabelPair],
    tolerance: float,
    ruler: Ruler,
    *,
    others: bool,
) -> list[_Start]:
    """Under the coarsest labels that leave at most a few steps unexplained whatever the machine; or under all others.

    Finer ones tell more apart, errors included.
    """
    few = few_outliers(ruler) if question.outliers is None else question.outliers
    found: list[tuple[int, int, PrefixTree]] = []
    for number, pair in enumerate(labels):
        tree = cut_tree(merge(pair), Allowance(tolerance, 1))  # outliers need all marks
        found.append((_least_outliers(tree), number, tree))
        if found[-1][0] <= few and not others:
            break
    first = next((entry for entry in found if entry[0] <= few), min(found, key=lambda entry: entry[:2]))
    starts = []
    for needed, number, tree in [entry for entry in found if entry is not first] if others else [first]:
        if question.outliers is None or needed <= question.outliers or not others:
            pair, merged = labels[number], merge(labels[number])
            quiet = quiet_groups(merged, tree)
            outliers, bits = ruler.measure({}, Judge(tree), quiet)
            alone = Point(Allowance(tolerance, outliers), 1, 0, bits, {}, pair)
            least = ruler.least(tolerance, needed, _finest_groups(merged, tree.allowance.width), tree.n_rewards)
            starts.append(_Start(pair, merged, tree, quiet, needed, alone, least, rank(alone, least, ruler), others))
    return starts


def quiet_groups(merged: MergedSteps, tree: PrefixTree) -> Groups:
    """The labels that one level fits, whatever the machine."""
    steps = merged.steps
    quiet = ~np.isin(steps.rewards.ids, tree.reward_labels)
    labels = np.unique(steps.rewards.ids[quiet], return_inverse=True)[1]
    return Groups.gather(labels, steps.levels[steps.outcomes[quiet]], _counts(merged)[quiet])


def _finest_groups(merged: MergedSteps, width: float) -> Groups:
    """What no machine tells apart any further."""
    steps = merged.steps
    levels, ends = steps.levels[steps.outcomes], steps.ends[steps.outcomes]
    return finest_groups(steps.rewards.ids, ends, levels, _counts(merged), merged.by_level, width)


def _counts(merged: MergedSteps) -> Longs:
    weights = merged.steps.weights
    return np.ones(len(merged.steps.outcomes), np.int64) if weights is None else weights.astype(np.int64)


class _Points:
    """The points of one tolerance."""

    def __init__(
        self, traces: Traces, start: _Start, question: Question, ruler: Ruler, limits: Limits, front: Front
    ) -> None:
        self._traces, self._start, self._question = traces, start, question
        self._ruler, self._limits, self._front = ruler, limits, front
        self._counting = Judge(start.tree)
        self._found: list[Point] = []

    @cached_property
    def _rough(self) -> _Rough:
        """Where machines are grown: with a tolerance each cluster of rewards is one, so that little is left to replay.

        One level fits all of a cluster, so that a machine has no more outliers than it has there.
        """
        start, tolerance = self._start, self._start.tree.allowance.tolerance
        snapped = snap_rewards(self._traces.rewards, tolerance) if tolerance else None
        if snapped is None:
            return _Rough(self._traces, start.merged, start.tree, self._counting)
        traces = replace(self._traces, rewards=snapped)
        merged = label_and_merge(traces, start.labels, self._question.explain, self._limits)
        tree = cut_tree(merged, Allowance(0.0, 1))
        return _Rough(traces, merged, tree, Judge(tree))

    def add_all(self) -> Iterator[float]:
        """A machine for each number of outliers that is worth it; the front has each as soon as it is found.

        Gives way between machines that grow and those that the engine is asked for, with the bits of the shortest.
        """
        start, allowed, front = self._start, self._question.outliers, self._front
        if allowed is not None:
            if start.needed <= allowed:
                yield from self._search_as_they_are(allowed)
        elif not (self._ruler.hardly_repeats(start.tree.allowance.tolerance) or self._promises_nothing()):
            self._grow()
            if self._swap_triggers():
                self._grow_in_beam()
                self._settle_if_rare()
                yield self._shortest.bits
                self._ask_engine()
        front.settle(start)

    def _settle_if_rare(self) -> None:
        """There is noise where the shortest machine leaves no more unexplained than rewards that are rare."""
        if self._start.may_be_exact and any(self._shortest.allowance.outliers <= steps for _, steps in self._trimmed):
            self._front.settle(self._start)

    def _ask_engine(self) -> None:
        """Machines that did not grow."""
        start, is_worth_it = self._start, self._promises_something()
        if is_worth_it:
            self._search_without_rare_rewards()
        if not start.needed and (is_worth_it or not start.tree.allowance.tolerance):
            self._search_without_outliers()
        if is_worth_it:
            self._halve_outliers()

    def _promises_something(self) -> bool:
        """Whether to ask the engine for machines that did not grow.

        Not where the shortest would be too long with half as many outliers; nor where many steps are outliers, and no
        trigger is a reason to think that they are not, or there is a shorter machine elsewhere;
        nor where other labels have a shorter one.
        """
        here, known = self._shortest, self._front.shortest
        assert known is not None
        tolerance, outliers = here.allowance.tolerance, here.allowance.outliers
        if outliers > MANY_OUTLIERS * self._ruler.steps and (not here.triggers or known.bits < here.bits):
            return False
        if known.labels != here.labels and known.bits < here.bits:
            return False
        half = self._ruler.name_outliers(outliers, tolerance) - self._ruler.name_outliers(outliers / 2, tolerance)
        return here is known or here.bits - half < known.bits

    def _promises_nothing(self) -> bool:
        """Whether a shortest machine is known that this tolerance makes no shorter, nor one without triggers.

        Not even if triggers explain half of the outliers that it has here in addition: what chance explains takes about
        half of their bits. More than a few outliers may have a reason, and so is a look at all rewards as they are.
        """
        start, known = self._start, self._front.shortest
        tolerance = start.tree.allowance.tolerance
        few = few_outliers(self._ruler)
        if known is None or known.labels != start.labels or not tolerance or known.allowance.outliers > few:
            return False
        more = max(0, self._note(known.delta) - known.allowance.outliers)
        here, ruler = self._found[-1], self._ruler
        many = here.allowance.outliers
        half = ruler.name_outliers(many, tolerance) - ruler.name_outliers(many - more / 2, tolerance)
        least = min(start.alone.bits, here.bits - half)
        return more <= few and least >= known.bits

    @property
    def _shortest(self) -> Point:
        return min(self._found, key=lambda point: point.bits)

    def _note(self, delta: Delta, begun: Begun | None = None) -> int:
        """A machine that was found, by a search in all the data if it is given; how many outliers it has."""
        outliers, bits = self._ruler.measure(delta, self._counting, self._start.quiet)
        allowance = Allowance(self._start.tree.allowance.tolerance, outliers)
        self._found.append(Point(allowance, *size(delta), bits, delta, self._start.labels, begun=begun))
        self._front.points.append(self._found[-1])
        return outliers

    def _note_within(self, delta: Delta, allowance: Allowance) -> None:
        """A machine that was found without outliers; where it needs a far narrower tolerance, with that one."""
        merged = self._start.merged
        spread = Judge(cut_tree(merged, Allowance(0.0, 1))).spread(delta)
        narrow = cut_tree(merged, Allowance(float(np.nextafter(spread, np.inf)) if spread else 0.0, 1))
        outliers, bits = self._ruler.measure(delta, Judge(narrow), quiet_groups(merged, narrow))
        if allowance.outliers or outliers or APART * spread >= allowance.tolerance:
            self._note(delta)
            return
        allowance = replace(narrow.allowance, outliers=0)
        self._found.append(Point(allowance, *size(delta), bits, delta, self._start.labels))
        self._front.points.append(self._found[-1])

    def _grow(self) -> None:
        """Machines with one trigger more each time, until that has shortened nothing for long."""
        for delta in _growing(self._rough.judge, self._question, self._limits):
            self._note(delta)
            if len(self._found) - self._found.index(self._shortest) > PATIENCE:
                break

    def _swap_triggers(self) -> int:
        """The shortest machine with its triggers in better places; how many outliers it has."""
        acyclic = self._question.acyclic
        return self._note(swap_triggers(self._shortest.delta, self._rough.judge, acyclic=acyclic, limits=self._limits))

    def _grow_in_beam(self) -> None:
        """Machines that grow along several ways at a time, without what is of no use."""
        tree, acyclic, before = self._rough.tree, self._question.acyclic, self._shortest
        strict = Judge(replace(tree, allowance=replace(tree.allowance, outliers=0)))
        for delta in grow_in_beam(strict, self._weigh, self._limits, acyclic=acyclic):
            if self._measure(delta) < self._shortest.bits:
                allowance = replace(tree.allowance, outliers=self._rough.judge.outliers(delta))
                judge = Judge(replace(tree, allowance=allowance))
                self._note(shrink(delta, judge, acyclic=acyclic, limits=self._limits))
        if self._shortest is not before:
            self._swap_triggers()

    def _weigh(self, delta: Delta) -> float:
        """The bits of a machine where it is grown."""
        return self._ruler.measure(delta, self._rough.judge, Groups.none()).bits

    def _measure(self, delta: Delta) -> float:
        return self._ruler.measure(delta, self._counting, self._start.quiet).bits

    def _search_without_rare_rewards(self) -> None:
        trimmed = self._trimmed
        self._explore(trimmed[:1], LEAST_EFFORT, always=True)
        self._explore(trimmed, LITTLE_EFFORT)
        self._explore(((half, trimmed[0][1]) for half in _halves(trimmed[0][0])), LEAST_EFFORT)
        self._explore(trimmed[:1], EFFORT)

    def _search_without_outliers(self) -> None:
        """Perhaps there is no noise at all."""
        self._settle_if_rare()
        is_open = self._start.alone in self._front.unsettled
        effort = EFFORT if is_open else SOME_EFFORT
        if not self._search_within(0, effort) and self._start.may_be_exact:
            self._merge_states(cut_tree(self._start.merged, EXACT))

    def _halve_outliers(self) -> None:
        """Machines with half as many outliers, and so on, as long as there are some."""
        most = self._shortest.allowance.outliers
        while (most := most // 2) > max(self._start.needed, 1):
            if not self._search_within(most, LITTLE_EFFORT):
                break

    def _search_as_they_are(self, outliers: int) -> Iterator[float]:
        """A machine within the tolerance, by a search that goes on where it was left once the allowance is chosen.

        First with little effort; with more where that may still be shorter, unless labels are finer than those of a
        small machine. What was in vain for a wider tolerance is so for a narrower one: wide ones have the first turn.
        """
        allowance, key = replace(self._start.tree.allowance, outliers=outliers), self._start.labels
        tree, vain = cut_tree(*merge_levels(self._start.merged, allowance)), self._front.in_vain
        for effort in (LITTLE_EFFORT, EFFORT):
            if 0 < allowance.tolerance < vain.get((key, effort), 0.0):
                return
            found = self._search_tree(tree, allowance, effort)
            if found is not None and found <= SMALL:
                return
            if found is None:
                vain[key, effort] = max(allowance.tolerance, vain.get((key, effort), 0.0))
            yield -allowance.tolerance
            known = self._front.shortest
            if known is not None and (known.bits <= self._start.least or (self._start.is_other and known.is_small)):
                return

    def _search_tree(self, tree: PrefixTree, allowance: Allowance, effort: int) -> int | None:
        """The triggers of a machine that explains all of this within the allowance, none if it is not found soon.

        One that is proven to be smallest counts as small.
        """
        engine, goal = self._question.engine, self._question.goal
        found = find_by_clusters(tree, engine, goal, self._limits, effort) if tree.allowance.tolerance else None
        if found is not None:
            self._note_within(found, allowance)
            return len(found)
        search = self._search(tree, effort)
        if search.best is not None:
            self._note(search.best, Begun(search.best, search, allowance))
            return 0 if search.is_proven else len(search.best)
        return self._merge_states(tree)

    def _merge_states(self, tree: PrefixTree) -> int | None:
        """The triggers of a machine that explains all as it is, where merging finds one: as many as it may have."""
        merged = merge_states(Judge(tree), self._limits) if tree.allowance.exact else None
        if merged is None or (self._question.acyclic and not is_acyclic(merged)):
            return None
        self._note(merged)
        return len(merged)

    def _search_within(self, outliers: int, effort: int) -> bool:
        """Whether a machine is found that has no more outliers than these, where machines are grown."""
        allowance = replace(self._rough.tree.allowance, outliers=outliers)
        search = self._search(cut_tree(*merge_levels(self._rough.merged, allowance)), effort)
        if search.best is None:
            return False
        is_whole = allowance.tolerance == self._start.tree.allowance.tolerance
        return self._note(search.best, Begun(search.best, search, allowance) if is_whole else None) <= outliers

    def _explore(self, parts: Iterable[tuple[PrefixTree, int]], effort: int, always: bool = False) -> None:
        """Searches in data without rare rewards, unless the shortest so far has hardly more outliers than these."""
        for tree, steps in parts:
            least, fewest = _least_outliers(tree), self._shortest.allowance.outliers
            if steps and (always or fewest > max(steps + least + FEW, steps * 5 // 4)):
                allowance = replace(self._rough.tree.allowance, outliers=least)
                search = self._search(replace(tree, allowance=allowance), effort)
                if search.best is not None:
                    self._note(search.best)

    def _search(self, tree: PrefixTree, effort: int) -> Deepening:
        return search_soon(tree, self._question.engine, self._question.goal, self._limits, effort)

    @cached_property
    def _trimmed(self) -> list[tuple[PrefixTree, int]]:
        return [self._trim(rare) for rare in RARE]

    def _trim(self, rare: int) -> tuple[PrefixTree, int]:
        """The tree without rare rewards, and how many steps have these."""
        allowance, labels = self._rough.tree.allowance, self._start.labels
        trimmed, steps = trim_rewards(self._rough.traces, labels[1], allowance.width, rare)
        merged = label_and_merge(trimmed, labels, self._question.explain, self._limits)
        return cut_tree(merged, replace(allowance, outliers=1)), steps


def _halves(tree: PrefixTree) -> Iterator[PrefixTree]:
    """The tree with random halves of its marks: noise that is left may be in the other half."""
    rng = np.random.default_rng(0)
    for _ in range(HALVES):
        kept = rng.random(len(tree.mark_node)) < 0.5
        columns = {"mark_node", "mark_label", "mark_outcome", "mark_count"}
        yield replace(tree, **{name: getattr(tree, name)[kept] for name in columns})


def _growing(counting: Judge, question: Question, limits: Limits) -> Iterator[Delta]:
    """Machines with one trigger more each time, and without what is of no use."""
    yield {}
    tree = counting.tree
    strict = Judge(replace(tree, allowance=replace(tree.allowance, outliers=0)))
    for delta in grow_machine(strict, limits, MOST_TRIGGERS):
        judge = Judge(replace(tree, allowance=replace(tree.allowance, outliers=counting.outliers(delta))))
        yield shrink(delta, judge, acyclic=question.acyclic, limits=limits)


def _least_outliers(tree: PrefixTree) -> int:
    """Whatever the machine: of a machine that follows all histories."""
    groups = tree.mark_node.astype(np.int64) * max(1, tree.conflicting_labels) + tree.mark_label
    levels, ends = tree.levels[tree.mark_outcome], tree.ends[tree.mark_outcome]
    width, ascending = tree.allowance.width, tree.ascending_marks
    return outside_of_windows(groups, ends, levels, tree.mark_count, width, ascending=ascending)[1]
