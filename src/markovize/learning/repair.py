"""The last machine, repaired: for episodes that keep coming, when most of what was learned from them is right.

Where a machine has many triggers and there are many labels, a search from scratch takes long each time that one more
trigger is met. Then it is better to change what is in the way: each pair of steps in conflict lies on two paths, and
one of the moves on them must be another one. The change that leaves the fewest steps unexplained is made, and so on
until all is explained. It proves nothing; what it finds is where a search begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

import numpy as np

from markovize.episodes.traces import Ints
from markovize.episodes.values import Value, key_of
from markovize.learning.engines.base import Delta
from markovize.learning.greedy import VISITS
from markovize.learning.judge import Judge, is_acyclic, size
from markovize.learning.limits import Limits
from markovize.machine.machine import RewardMachine

NODES: Final = 5_000  # of the shallowest part of the data, on which changes are compared
PAIRS: Final = 16  # in conflict elsewhere, that join them at a time
MOST_CHANGES: Final = 24
BEAM: Final = 8  # machines that are followed at a time
MOST_OPTIONS: Final = 4_000  # changes that are compared at a time
RANKED: Final = 256  # of them, the best on the sample, that are compared on all the data


def moves_of(machine: RewardMachine, values: list[Value]) -> dict[tuple[int, int], int]:
    """The triggers of a machine by the numbers that labels have now; those on labels without one are left out.

    >>> from markovize.machine.machine import Trigger
    >>> moves_of(RewardMachine("state", "state", 2, (Trigger(0, "key", 1),)), ["hall", "key"])
    {(0, 1): 1}
    """
    numbers = {key_of(value): number for number, value in enumerate(values)}
    known = [(trigger, numbers.get(key_of(trigger.on))) for trigger in machine.triggers]
    return {(trigger.source, number): trigger.target for trigger, number in known if number is not None}


def repair(delta: Delta, judge: Judge, limits: Limits, *, acyclic: bool) -> Delta | None:
    """A machine that explains the judge's tree, by few changes of this one; None where these are not found soon.

    Several ways are followed at a time, since the best change is not always the right one. For trees with a tolerance:
    only these know how many steps are left unexplained. One unit of the limits' work is :data:`VISITS` nodes.
    """
    nodes, seen, spent = judge.tree.shallow(NODES)[0], list[Delta](), 0
    sample, beam = Judge(judge.tree.restrict(nodes)), [judge.prune(delta)]
    for _ in range(MOST_CHANGES):
        beam, nodes, found = _sort_out(beam, sample, judge, nodes)
        if found is not None:
            return found
        sample = Judge(judge.tree.restrict(nodes))
        options: list[tuple[int, dict[tuple[int, int], int]]] = []
        for each in beam:
            seen.append(each)
            for changed in islice(_changes(each, sample, sample.violations(each, most=1)[0]), MOST_OPTIONS):
                limits.check()
                spent += len(sample.tree)
                if limits.work is not None and spent > limits.work * VISITS:
                    return None
                if changed not in seen and not (acyclic and not is_acyclic(changed)):
                    options.append((sample.outliers(changed) + len(changed), changed))
        beam = _best(options, sample, judge)
        spent += RANKED * len(judge.tree)
    return None


def _sort_out(
    beam: list[dict[tuple[int, int], int]], sample: Judge, judge: Judge, nodes: Ints
) -> tuple[list[dict[tuple[int, int], int]], Ints, Delta | None]:
    """The machines, the nodes on which they fail added to the sample's, and one that fails nowhere, if there is."""
    for each in beam:
        if len(sample.violations(each, most=1)):
            continue
        pairs = judge.violations(each, most=PAIRS)
        if not len(pairs):
            return beam, nodes, judge.prune(each)
        nodes = np.union1d(nodes, judge.tree.mark_node[pairs.ravel()]).astype(np.int32)
    return beam, nodes, None


def _best(
    options: list[tuple[int, dict[tuple[int, int], int]]], sample: Judge, judge: Judge
) -> list[dict[tuple[int, int], int]]:
    """The machines to go on with: those that leave least unexplained, a trigger counting like a step.

    Many are equal on the sample: those are compared on all the data. Of equals the one whose rewards are least mixed,
    and with fewest states. No two of them are alike.
    """
    options = sorted(options, key=lambda option: option[0])
    last = options[min(BEAM, len(options)) - 1][0] if options else 0
    equal = [delta for left, delta in options[:RANKED] if left <= last]
    near = [(judge.outliers(delta) + len(delta), sample.mixture(delta), size(delta)[0], delta) for delta in equal]
    out: list[dict[tuple[int, int], int]] = []
    for _, _, _, delta in sorted(near, key=lambda option: option[:3]):
        if delta not in out:
            out.append(delta)
        if len(out) == BEAM:
            break
    return out


def _changes(delta: Delta, judge: Judge, pair: Ints) -> Iterator[dict[tuple[int, int], int]]:
    """The machine with another move on one of the two paths of a pair: to a state that there is, or to a new one.

    And with a trigger in another place: that its label was not the right one is the usual mistake. The right one may be
    on these paths, or, where a trigger fires that should not, on those that it was made for.
    """
    states = 1 + max(delta.values(), default=0)
    steps = _steps(delta, judge, pair)
    for key, now in steps.items():
        rest = {other: v for other, v in delta.items() if other != key}
        for v in range(states + 1):
            if v != now:
                yield rest if v == key[0] else {**rest, key: v}
    labels = dict.fromkeys(x for _, x in steps)
    for key, now in steps.items():
        if now != key[0]:
            rest = {other: v for other, v in delta.items() if other != key}
            yield from ({**rest, (key[0], x): now} for x in labels if (key[0], x) not in delta)
    for key, now in delta.items():
        rest = {other: v for other, v in delta.items() if other != key}
        where = steps
        if key in steps:
            missed = judge.violations(rest, most=1)
            where = _steps(rest, judge, missed[0]) if len(missed) else {}
        yield from ({**rest, (u, x): now} for u, x in where if u == key[0] and (u, x) not in delta)


def _steps(delta: Delta, judge: Judge, pair: Ints) -> dict[tuple[int, int], int]:
    """The (u, label) on the two paths of a pair, and where each leads."""
    tree, steps = judge.tree, dict[tuple[int, int], int]()
    for mark in pair:
        u = 0
        for node in tree.path(int(tree.mark_node[mark])):
            key = u, int(tree.label[node])
            u = steps[key] = delta.get(key, u)
    return steps
