"""From episodes to a problem: label the steps, merge them into a tree, decide whether any machine explains them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.labelled_steps import Explain, LabelledSteps, label_traces
from markovize.episodes.labelling import LabelOn, auto_order
from markovize.episodes.traces import Traces
from markovize.learning.levels_apart import with_levels_apart
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import (
    Contradiction,
    MergedSteps,
    PrefixTree,
    cut_tree,
    find_contradiction,
    merge_steps,
)

LabelPair: TypeAlias = tuple[LabelOn, LabelOn]
"""What trigger labels and reward labels are."""


@dataclass(frozen=True)
class Problem:
    """Episodes as a search sees them; no machine explains them if there is a contradiction.

    Where a tolerance only makes fewer outcomes, ``posed`` are the steps with these, and the tree knows no tolerance.
    """

    steps: LabelledSteps
    posed: LabelledSteps
    tree: PrefixTree
    contradiction: Contradiction | None


def pose(traces: Traces, labels: LabelPair, explain: Explain, limits: Limits, allowance: Allowance = EXACT) -> Problem:
    """The problem that these episodes pose under these labels."""
    merged = label_and_merge(traces, labels, explain, limits)
    posed, left = merge_levels(merged, allowance)
    tree = cut_tree(posed, left)
    limits.check()
    contradiction = find_contradiction(posed.steps, posed.alike, traces, left)
    return Problem(merged.steps, posed.steps, tree, contradiction)


def label_and_merge(traces: Traces, labels: LabelPair, explain: Explain, limits: Limits) -> MergedSteps:
    """What a problem begins with, whatever is allowed for."""
    limits.check()
    steps = label_traces(traces, *labels, explain)
    limits.check()
    return merge_steps(steps)


def merge_levels(merged: MergedSteps, allowance: Allowance) -> tuple[MergedSteps, Allowance]:
    """The steps as a search sees them, and what is left to allow for: see :mod:`markovize.learning.levels_apart`."""
    steps, left = with_levels_apart(merged.steps, allowance, merged.by_level if allowance.tolerance else None)
    return (merged if steps is merged.steps else merged.with_outcomes_of(steps)), left


def with_advice(
    problem: Problem, traces: Traces, explain: Explain, limits: Limits, allowance: Allowance = EXACT
) -> Problem:
    """The problem, whose contradiction says what would help."""
    assert problem.contradiction is not None
    return replace(problem, contradiction=_with_advice(traces, problem.contradiction, explain, limits, allowance))


def _with_advice(
    traces: Traces, contradiction: Contradiction, explain: Explain, limits: Limits, allowance: Allowance
) -> Contradiction:
    """Which finer labels would explain the episodes; if none can, the pair that even the finest cannot tell apart."""
    finest = contradiction
    for trigger, reward in auto_order():
        found = pose(traces, (trigger, reward), explain, limits, allowance).contradiction
        if found is None:
            advice = f"Labels {trigger}/{reward} (trigger/reward) would tell them apart."
            return replace(contradiction, advice=advice, finer_labels_help=True)
        finest = found
    n, is_whole = finest.contradicting_episodes, not (traces.rewards % 1).any()
    return replace(
        finest,
        trigger_on=contradiction.trigger_on,
        reward_on=contradiction.reward_on,
        advice=f"No label of a step can tell them apart: {n} of {traces.recorded[0]} episodes contradict"
        f"{'s' if n == 1 else ''} others with the same history, a sign of noise or of something that the observations "
        f"hide.{'' if is_whole else ' Rounding may help (reward decimals).'}",
    )
