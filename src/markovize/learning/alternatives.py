"""Labels that would serve as well as a trigger's own: swap and replay.

Minimal machines are rarely unique. Listing what the data cannot tell apart keeps readers from seeing more in a
trigger than there is.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from markovize.episodes.traces import Ints
from markovize.learning.engines.base import Delta
from markovize.learning.greedy import candidates
from markovize.learning.judge import Judge
from markovize.learning.limits import Limits, Stop

Labels: TypeAlias = dict[tuple[int, int], list[int]]
"""For each trigger (state, label), the other labels that would serve as well."""


def choose_labels(
    delta: Delta, judge: Judge, exemplars: Ints, rng: np.random.Generator | None, limits: Limits
) -> tuple[Delta, Labels]:
    """The machine and its alternatives; with an ``rng``, each trigger's label is drawn from all that serve as well.

    Where the limits stop it, the machine is as it was and no alternatives are listed: some would look like all.
    """
    try:
        labels = find_alternatives(delta, judge, exemplars, limits)
        if rng is not None and any(labels.values()):
            drawn = redraw(delta, labels, judge, rng, limits)
            return drawn, find_alternatives(drawn, judge, exemplars, limits)
    except Stop:
        return delta, {}
    return delta, labels


def find_alternatives(delta: Delta, judge: Judge, exemplars: Ints, limits: Limits) -> Labels:
    """For each trigger, the other labels that could take its place while everything is still explained.

    Without the trigger some pair is violated; only labels on that pair's two paths can repair it, and only those are
    tried, on the exemplars first. With outliers, those that move any step of a cell that has some.
    """
    small = Judge(judge.tree.restrict(exemplars)) if len(exemplars) else judge

    def serves(machine: Delta) -> bool:
        limits.check()
        return small.explains(machine) and judge.explains(machine)

    out: Labels = {}
    for (u, x), v in delta.items():
        limits.check()
        rest = {key: target for key, target in delta.items() if key != (u, x)}
        pairs = judge.violations(rest, most=1)
        if not len(pairs):
            continue  # the trigger is not needed at all: a machine that is not minimal
        if judge.tree.allowance.outliers:
            labels = judge.loops_before(rest, judge.evidence(rest), u)
        else:
            labels = sorted(label for state, label in candidates(judge, rest, pairs[0]) if state == u)
        out[u, x] = [label for label in labels if label != x and serves({**rest, (u, label): v})]
    return out


def redraw(delta: Delta, alternatives: Labels, judge: Judge, rng: np.random.Generator, limits: Limits) -> Delta:
    """The machine with each trigger's label drawn from those that would serve as well.

    An agent that acts on a random one of n labels learns by one refutation that about half of them are wrong; one that
    always acts on the first learns only that the first is.
    """
    for (u, x), others in alternatives.items():
        rest = {key: target for key, target in delta.items() if key != (u, x)}
        for label in rng.permutation([x, *others]).tolist():
            limits.check()
            drawn = {**rest, (u, label): delta[u, x]}
            if label == x or ((u, label) not in rest and judge.explains(drawn)):
                delta = drawn
                break
    return delta
