"""Of machines of one size the one with the fewest outliers: ask again with one less, until there is none."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Final

from markovize.learning.engines.base import Delta, Engine, Verdict
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.floors import Proven
from markovize.learning.inquiry import Goal, Inquiry
from markovize.learning.judge import Judge, size
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import PrefixTree

WORK: Final = 20_000  # counted, of each question: some seconds


def with_fewest_outliers(best: Delta, tree: PrefixTree, goal: Goal, engine: Engine, limits: Limits) -> Delta:
    """A machine that is no larger, with as few outliers as could be found within the limits."""
    with contextlib.suppress(Stop):
        while outliers := Judge(tree).outliers(best):
            tree = replace(tree, allowance=replace(tree.allowance, outliers=outliers - 1))
            inquiry = Inquiry(tree, ExemplarSets(engine, acyclic=goal.acyclic), goal, Proven())
            found = inquiry.ask(*size(best), replace(limits, work=WORK), failures_count=True)
            if found is not Verdict.FEASIBLE or inquiry.best is None:
                break
            best = inquiry.best
    return best
