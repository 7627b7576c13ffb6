"""What many small changes of a machine do to its outcomes: how mixed it leaves them.

A change moves only what follows the nodes where its trigger fires. So nodes are put in an order in which all that
follow one are next to each other, and only these are looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from markovize.episodes.columns import Floats, Ints, Longs
from markovize.learning.engines.base import Delta
from markovize.learning.judge import Judge

Unsigned: TypeAlias = npt.NDArray[np.uint32]
Change: TypeAlias = tuple[tuple[int, int], int]
"""A trigger in place of a self-loop: (state, label) → state, a new one included, or :data:`COPY`."""

COPY: Final = -1  # as the target of a change: a copy of the state itself, and of all that follows it


class Mixtures:
    """Says of one tree how mixed a machine leaves its outcomes, after each of many changes."""

    def __init__(self, judge: Judge) -> None:
        self._judge, tree = judge, judge.tree
        order, end = put_in_order(tree.parent)
        place = np.empty(len(tree), np.int32)
        place[order] = np.arange(len(tree), dtype=np.int32)
        parent = place[np.maximum(tree.parent[order], 0)].astype(np.uint32)
        label = np.where(order > 0, tree.label[order], tree.n_labels).astype(np.uint32)  # the root has none
        with_label = np.argsort(label, kind="stable").astype(np.int32)
        label_start = np.searchsorted(label[with_label], np.arange(tree.n_labels + 1))
        node = place[tree.mark_node]
        marks = np.argsort(node, kind="stable")
        first_mark = np.searchsorted(node[marks], np.arange(len(tree) + 1))
        self._nodes = parent, label, end, with_label, label_start
        self._marks = node[marks], tree.mark_label[marks], judge.outcomes[marks], first_mark
        many: Floats = np.arange(len(marks) + 1, dtype=np.float64)
        self._logs = many * np.log(np.maximum(many, 1))  # of n, n log n

    def cells(self, delta: Delta) -> int:
        """The numbers that are kept for a machine: its states, and as many copies, with all labels and outcomes."""
        states = 1 + max((max(u, v) for (u, _), v in delta.items()), default=0)
        return 2 * states * max(1, self._judge.tree.conflicting_labels) * self._judge.outcome_kinds

    def after(self, delta: Delta, changes: Sequence[Change]) -> list[float]:
        """In nats, as :meth:`Judge.mixture` has it, to some digits."""
        tree, table = self._judge.tree, self._judge.table(delta)
        given = np.array([(u, x, target) for (u, x), target in changes], np.int32).reshape(-1, 3)
        labels, outcomes = max(1, tree.conflicting_labels), self._judge.outcome_kinds
        room = np.vstack([table, table])
        mixed = mix_outcomes(*self._nodes, *self._marks, self._logs, room, given, labels, outcomes)
        found: list[float] = mixed.tolist()
        return found


@njit(cache=True)
def put_in_order(parent: Ints) -> tuple[Ints, Ints]:
    """The nodes, each before all that follow it and these next to it; where those end, place by place.

    Parents have smaller numbers than their children.

    >>> order, end = put_in_order(np.array([-1, 0, 0, 1], np.int32))
    >>> order.tolist(), end.tolist()
    ([0, 1, 3, 2], [4, 3, 3, 4])
    """
    n = len(parent)
    below = np.ones(n, np.int32)  # itself included
    for v in range(n - 1, 0, -1):
        below[parent[v]] += below[v]
    place, taken = np.zeros(n, np.int32), np.ones(n, np.int32)
    order, end = np.zeros(n, np.int32), np.zeros(n, np.int32)
    for v in range(n):
        if v > 0:
            place[v] = place[parent[v]] + taken[parent[v]]
            taken[parent[v]] += below[v]
        order[place[v]] = v
        end[place[v]] = place[v] + below[v]
    return order, end


@njit(cache=True)
def mix_outcomes(
    parent: Unsigned,
    label: Unsigned,
    end: Ints,
    with_label: Ints,
    label_start: Longs,
    mark_node: Ints,
    mark_label: Ints,
    mark_outcome: Ints,
    first_mark: Longs,
    logs: Floats,
    delta: Ints,
    changes: Ints,
    n_reward_labels: int,
    n_outcomes: int,
) -> Floats:
    """How mixed outcomes are given (u, label), in nats, after each change: (source, label, target).

    ``logs`` has n log n for each n up to the number of marks; ``delta`` a row for each state and for as many more,
    whatever is in them.
    """
    n, rooms = len(parent), len(delta)
    n_states = rooms // 2
    for state in range(n_states, rooms):
        delta[state, :] = state
    states, now = np.zeros(n, np.uint32), np.zeros(n, np.uint32)  # whose sign nobody need look at
    for v in range(1, n):
        states[v] = delta[states[parent[v]], label[v]]
    cells = rooms * n_reward_labels
    counts, all_alone = np.zeros((cells, n_outcomes), np.int32), np.zeros(cells, np.int32)
    for m in range(len(mark_node)):
        cell = states[parent[mark_node[m]]] * n_reward_labels + mark_label[m]
        counts[cell, mark_outcome[m]] += 1
        all_alone[cell] += 1
    pure_alone = np.zeros(cells)
    for cell in range(cells):
        if all_alone[cell]:
            for count in counts[cell]:
                pure_alone[cell] += logs[count]
    every, pure = all_alone.copy(), pure_alone.copy()
    whole = 0.0
    for cell in range(cells):
        whole += logs[every[cell]] - pure[cell]
    out = np.zeros(len(changes))
    copies, reached = np.full(n_states, -1, np.int32), np.zeros(n_states, np.int32)
    is_touched, touched = np.zeros(cells, np.bool_), np.zeros(cells, np.int64)
    for change in range(len(changes)):
        u, x, target = changes[change]
        many = 0
        if target == COPY:
            many = _copy_state(delta, n_states, u, copies, reached)
            target = n_states
        loop, delta[u, x] = delta[u, x], target
        n_touched, done = 0, 0
        for at in range(label_start[x], label_start[x + 1]):
            v = with_label[at]
            if v < done or states[parent[v]] != u:
                continue
            done = end[v]
            now[v] = target
            before = np.uint32(target)  # the state of the node before, which is often the parent
            for w in range(v + 1, done):
                if parent[w] + 1 != w:
                    before = now[parent[w]]
                before = np.uint32(delta[before, label[w]])
                now[w] = before
            for m in range(first_mark[v + 1], first_mark[done]):
                above = parent[mark_node[m]]
                if now[above] == states[above]:
                    continue
                for state, more in ((states[above], -1), (now[above], 1)):
                    cell = state * n_reward_labels + mark_label[m]
                    pure[cell] -= logs[counts[cell, mark_outcome[m]]]
                    counts[cell, mark_outcome[m]] += more
                    pure[cell] += logs[counts[cell, mark_outcome[m]]]
                    every[cell] += more
                    if not is_touched[cell]:
                        is_touched[cell] = True
                        touched[n_touched] = cell
                        n_touched += 1
        total = whole
        for number in range(n_touched):
            cell = touched[number]
            total += logs[every[cell]] - pure[cell] - (logs[all_alone[cell]] - pure_alone[cell])
        out[change] = total
        # as it was before
        done = 0
        for at in range(label_start[x], label_start[x + 1]):
            v = with_label[at]
            if v < done or states[parent[v]] != u:
                continue
            done = end[v]
            for m in range(first_mark[v + 1], first_mark[done]):
                above = parent[mark_node[m]]
                counts[now[above] * n_reward_labels + mark_label[m], mark_outcome[m]] -= 1
                counts[states[above] * n_reward_labels + mark_label[m], mark_outcome[m]] += 1
        for number in range(n_touched):
            cell = touched[number]
            is_touched[cell], every[cell], pure[cell] = False, all_alone[cell], pure_alone[cell]
        delta[u, x] = loop
        for number in range(many):
            delta[n_states + number, :] = n_states + number
            copies[reached[number]] = -1
    return out


@njit(cache=True)
def _copy_state(delta: Ints, n_states: int, state: int, copies: Ints, reached: Ints) -> int:
    """The rows of a copy of the state, which is the first after all others, and of all that follow it; how many."""
    reached[0], many, number = state, 1, 0
    copies[state] = n_states
    while number < many:
        here = reached[number]
        for there in delta[here]:
            if copies[there] < 0:
                copies[there] = n_states + many
                reached[many] = there
                many += 1
        number += 1
    for number in range(many):
        for x in range(delta.shape[1]):
            delta[n_states + number, x] = copies[delta[reached[number], x]]
    return many
