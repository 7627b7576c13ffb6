"""A machine soon, where rewards are noisy: by searches that stop early. Nothing is proven by them alone."""

from __future__ import annotations

from typing import Final

import numpy as np

from markovize.learning.engines.base import Delta, Engine
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.inquiry import Goal
from markovize.learning.judge import Judge
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import PrefixTree
from markovize.learning.reward_clusters import snap_rewards
from markovize.learning.search import Deepening, Plan

EFFORT: Final = 20_000  # counted, of a question to the engine: some seconds
MOST_ASKED: Final = 12  # triggers that the engine is asked for


def search_soon(tree: PrefixTree, engine: Engine, goal: Goal, limits: Limits, effort: int = EFFORT) -> Deepening:
    """A search for a machine within the allowance of the tree, with an effort that leaves questions open."""
    plan = Plan(effort, first={} if Judge(tree).explains({}) else None, last_resort=False)
    search = Deepening(tree, ExemplarSets(engine, acyclic=goal.acyclic), goal, limits, plan=plan)
    search.run_unless(_asks_for_many)
    limits.check()
    return search


def _asks_for_many(search: Deepening) -> bool:
    """Whether all machines with few triggers are excluded: further questions are large, and only answers count."""
    inquiry = search.inquiry
    return inquiry.assumed.next_question(inquiry.goal.objective)[1] > MOST_ASKED


def find_by_clusters(
    tree: PrefixTree, engine: Engine, goal: Goal, limits: Limits, effort: int = EFFORT
) -> Delta | None:
    """A machine that tells clusters of rewards apart, where the tolerance leaves open which rewards are of one level.

    It explains the rewards within the tolerance, and of machines of equal size it is the better one. It is soon found,
    too: each look at data with a tolerance takes long. None where there is no such machine, or not soon.
    """
    codes = np.unique(tree.mark_outcome)
    clusters = snap_rewards(tree.levels[codes], tree.allowance.tolerance)
    if clusters is None:
        return None
    names = np.zeros(len(tree.levels), np.int32)
    names[codes] = np.unique(clusters, return_inverse=True)[1]
    apart = tree.with_outcomes(2 * names + tree.ends)
    if not tree.allowance.outliers and apart.contradicts_itself:
        return None
    return search_soon(apart, engine, goal, limits, effort).best
