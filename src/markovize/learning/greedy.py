"""A first machine, quickly: repair one conflict after another. No proof of anything, but an upper bound for the search.

Every violated pair has *candidates*: self-loops on its two paths, one of which a trigger must replace. The candidate
that leaves the outcomes least mixed wins; its trigger leads to a new state, so that the machine stays a tree and the
repair ends at the latest when it spells out the prefix tree itself. :func:`shrink` then drops triggers and merges
states as long as the data allow it.
"""

from __future__ import annotations

from collections.abc import Iterator

from markovize.episodes.traces import Ints
from markovize.learning.engines.base import Delta
from markovize.learning.judge import Judge, is_acyclic, size
from markovize.learning.limits import Limits, Stop

# Measured by benchmarks/constants.py on 6,000 walks each of Office d and e and Breakfast b: a quarter to four times
# SAMPLE_NODES take 0.95 to 1.05 of the time, all data at once 1.37; GROWTH 2 or 16 takes 0.99 or 1.03. Same machines.
# So a sample is worth having, and its size matters little.
SAMPLE_NODES, GROWTH = 10_000, 4
MOST_TRIGGERS = 24
GROWN_NODES = 50_000  # of data whose machines are grown one trigger after the other
MANY_PAIRS = 64
VISITS = 10_000  # nodes that are visited in the time of one of Glucose's conflicts: 0.1 ms


def first_machine(judge: Judge, *, limits: Limits, most_triggers: int = MOST_TRIGGERS) -> Delta | None:
    """Some machine that explains the judge's tree, or None if it would need more than ``most_triggers``.

    One unit of the limits' work is :data:`VISITS` nodes of the tree.
    """
    nodes, spent = SAMPLE_NODES, 0
    sample = _sample(judge, nodes)
    delta: dict[tuple[int, int], int] = {}
    while len(delta) <= most_triggers:
        limits.check()
        pairs = sample.violations(delta, most=1)
        if not len(pairs):
            if judge.explains(delta):
                return delta
            nodes *= GROWTH
            sample = _sample(judge, nodes)
            continue
        new = 1 + max(delta.values(), default=0)
        best: tuple[float, tuple[int, int]] | None = None
        for option in sorted(_options(sample, delta, pairs)):
            limits.check()
            spent += len(sample.tree)
            if limits.work is not None and spent > limits.work * VISITS:
                raise Stop
            tried = sample.mixture({**delta, option: new}), option
            best = tried if best is None else min(best, tried)
        if best is None:  # all that clashes has the same history: other steps must be the outliers
            return None
        delta[best[1]] = new
    return None


def grow_machine(judge: Judge, limits: Limits, most_triggers: int) -> Iterator[Delta]:
    """Machines with one trigger more each time: the one that leaves the outcomes least mixed, of all that may help.

    Unlike :func:`first_machine` it does not follow one pair that clashes, which may be due to an outlier.
    """
    delta: dict[tuple[int, int], int] = {}
    sample = _sample(judge, GROWN_NODES)
    while len(delta) < most_triggers:
        limits.check()
        pairs = sample.violations(delta, most=MANY_PAIRS)
        new, best = 1 + max(delta.values(), default=0), (float("inf"), (0, 0))
        for option in sorted(set[tuple[int, int]]().union(*(candidates(sample, delta, pair) for pair in pairs))):
            limits.check()
            best = min(best, (sample.mixture({**delta, option: new}), option))
        if best[0] == float("inf"):
            return
        delta = {**delta, best[1]: new}
        yield delta


def swap_triggers(delta: Delta, judge: Judge, *, acyclic: bool, limits: Limits) -> Delta:
    """The machine after moving one trigger at a time to another state or label, as long as outliers get fewer."""
    best, outliers = delta, judge.outliers(delta)
    labels, improved = judge.tree.alphabet, True
    while improved and outliers:
        improved = False
        for (u, x), v in list(best.items()):
            rest = {key: target for key, target in best.items() if key != (u, x)}
            for source in range(size(best)[0]):
                for label in labels:
                    limits.check()
                    if source == v or (source, label) in rest:
                        continue
                    tried = {**rest, (source, label): v}
                    if acyclic and not is_acyclic(tried):
                        continue
                    left = judge.outliers(tried)
                    if left < outliers and size(judge.prune(tried))[0] == size(best)[0]:
                        best, outliers, improved = tried, left, True
                        break
                if improved:
                    break
            if improved:
                break
    return judge.prune(best)


def _options(judge: Judge, delta: Delta, pairs: Ints) -> set[tuple[int, int]]:
    """The candidates of the first pair; with outliers of many: which of them is due to history cannot be told."""
    few = pairs if judge.tree.allowance.outliers else pairs[:1]
    return set[tuple[int, int]]().union(*(candidates(judge, delta, pair) for pair in few))


def candidates(judge: Judge, delta: Delta, pair: Ints) -> set[tuple[int, int]]:
    """The (state, label) self-loops on the two paths of a violated pair: any fix puts a trigger on one of them."""
    tree, out = judge.tree, set()
    for mark in pair:
        u = 0
        for v in tree.path(int(tree.mark_node[mark])):
            label = int(tree.label[v])
            target = delta.get((u, label))
            if target is None:
                out.add((u, label))
            else:
                u = target
    return out


def shrink(delta: Delta, judge: Judge, *, acyclic: bool, limits: Limits) -> Delta:
    """The machine after dropping triggers and merging states, one at a time, wherever the data still fit.

    Where the limits' work is spent (see :func:`first_machine`) it is the smallest so far.
    """
    best: Delta = judge.prune(delta)
    spent = 0
    while True:
        for smaller in _neighbours(best, limits):
            spent += len(judge.tree)
            if limits.work is not None and spent > limits.work * VISITS:
                return best
            if acyclic and not is_acyclic(smaller):
                continue
            if judge.explains(smaller):
                best = judge.prune(smaller)
                break
        else:
            return best


def _neighbours(delta: Delta, limits: Limits) -> Iterator[Delta]:
    """Machines with one trigger less, then with one state less."""
    for key in delta:
        limits.check()
        yield {k: v for k, v in delta.items() if k != key}
    states = size(delta)[0]
    for gone in range(states - 1, 0, -1):
        for into in range(gone):
            limits.check()
            merged: dict[tuple[int, int], int] = {}
            for (u, x), v in delta.items():
                key, target = (into if u == gone else u, x), into if v == gone else v
                if key[0] != target and merged.setdefault(key, target) != target:
                    break
            else:
                yield merged


def _sample(judge: Judge, nodes: int) -> Judge:
    """A judge over the shallowest part of the data."""
    return judge if len(judge.tree) <= nodes else Judge(judge.tree.restrict(judge.tree.shallow(nodes)[0]))
