"""Which features matter, by a guess: where there are many, a machine is looked for with the most promising ones first.

Only a guess depends on it: what is found explains all the data, and what is proven is proven for all features.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from markovize.episodes.columns import Bools, Floats, Ints, Longs
from markovize.learning.guards.problem import GuardProblem

BINS: Final = 8  # of each numeric feature
NEAR: Final = 2  # features that tell most of the outcome at once; steps alike in these are compared by their history


def rank_features(problem: GuardProblem) -> list[int]:
    """The places of all features, the most promising first.

    A feature may tell the outcome of its own step, or, for steps that look alike otherwise, whether it had some value
    before: both are measured in bits, each as a share of the most that any feature tells.
    """
    binned = [_bin(codes, numeric) for codes, numeric in zip(problem.codes, problem.numeric, strict=True)]
    rare = problem.kinds != np.bincount(problem.kinds).argmax()
    now = np.array([_information(bins, rare) for bins in binned])
    near = _near(binned, rare, np.argsort(-now, kind="stable")[:NEAR])
    before = np.array([_history_information(problem, bins, rare, near) for bins in binned])
    score = np.maximum(now / max(now.max(), 1e-12), before / max(before.max(), 1e-12))
    return [int(place) for place in np.argsort(-score, kind="stable")]


def _bin(codes: Ints, numeric: bool) -> Ints:
    if not numeric:
        return codes
    edges = np.quantile(codes, np.linspace(0, 1, BINS + 1)[1:-1])
    return np.searchsorted(edges, codes, side="right").astype(np.int32)


def _near(binned: list[Ints], rare: Bools, places: Longs) -> Bools:
    """Steps that share their bins of these features with a rare one."""
    key = np.zeros(len(rare), np.int64)
    for place in places:
        key = key * (int(binned[place].max()) + 1) + binned[place]
    return np.isin(key, np.unique(key[rare]))


def _history_information(problem: GuardProblem, bins: Ints, rare: Bools, near: Bools) -> float:
    """The most that it tells, of a step that looks like a rare one, whether its episode had one of the bins before."""
    best = 0.0
    for value in np.unique(bins).tolist():
        seen = np.cumsum(bins == value)
        start = problem.offsets[problem.episode_of]
        had = seen > np.where(start > 0, seen[start - 1], 0)
        best = max(best, _information(had[near].astype(np.int32), rare[near]))
    return best


def _information(values: Ints, rare: Bools) -> float:
    """How many bits of the outcome, rare or not, the values tell."""
    if not len(values):
        return 0.0
    counts = np.zeros((int(values.max()) + 1, 2))
    np.add.at(counts, (values, rare.astype(np.int32)), 1)
    joint: Floats = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / apart[some])).sum())
