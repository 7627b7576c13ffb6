"""Every machine, one after the other: tiny, slow, obviously right. The oracle of the tests.

It shares no code with the other engines nor with the search. Steps are walked in order; the first time
that the walk needs an undecided δ(u, label), it tries every target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.traces import Ints
from markovize.errors import InputError
from markovize.learning.engines.base import Answer, Rules, Verdict
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import PrefixTree

Moves: TypeAlias = dict[tuple[int, int], int]
"""(u, label) → u', self-loops included."""

Rewards: TypeAlias = dict[tuple[int, int, int], int]
"""(u, reward label, u') → outcome."""


class Step(NamedTuple):
    """The number of the step before (-1: none), the trigger label, each (reward label, outcome)."""

    previous: int
    label: int
    marks: tuple[tuple[int, int], ...]


def find_machine(
    steps: Sequence[Step],
    states: int,
    triggers: int | None,
    *,
    acyclic: bool,
    tick: Callable[[], None] = lambda: None,
) -> Moves | None:
    """The triggers of a machine with at most this many states and triggers, or None if there is none.

    >>> coffee_then_office = [Step(-1, 2, ((2, 0),)), Step(-1, 0, ()), Step(1, 2, ((2, 1),))]
    >>> find_machine(coffee_then_office, 2, 1, acyclic=True)
    {(0, 0): 1}
    >>> find_machine(coffee_then_office, 1, None, acyclic=False)
    """
    return next(every_machine(steps, states, triggers, acyclic=acyclic, tick=tick), None)


def every_machine(
    steps: Sequence[Step],
    states: int,
    triggers: int | None,
    *,
    acyclic: bool,
    tick: Callable[[], None] = lambda: None,
) -> Iterator[Moves]:
    """The triggers of each machine with at most this many states and triggers, states numbered as they are entered."""

    def search(after: list[int], moves: Moves, paid: Rewards, used: int) -> Iterator[Moves]:
        tick()
        for step in steps[len(after) :]:
            u = 0 if step.previous < 0 else after[step.previous]
            if (u, step.label) not in moves:
                break
            v = moves[u, step.label]
            if any(paid.setdefault((u, y, v), r) != r for y, r in step.marks):
                return  # one (u, reward label, u') would need two outcomes
            after.append(v)
        else:
            yield triggers_of(moves)
            return
        # States beyond those used so far are all alike, so one of them stands for all.
        for v in [u, *(v for v in range(min(used + 1, states)) if v != u)]:
            tried = {**moves, (u, step.label): v}
            if triggers is not None and len(triggers_of(tried)) > triggers:
                continue
            if acyclic and has_cycle(tried):
                continue
            yield from search(list(after), tried, dict(paid), max(used, v + 1))

    return search([], {}, {}, 1)


def triggers_of(moves: Mapping[tuple[int, int], int]) -> Moves:
    """The moves that leave their state.

    >>> triggers_of({(0, 5): 0, (0, 6): 1})
    {(0, 6): 1}
    """
    return {(u, label): v for (u, label), v in moves.items() if u != v}


def has_cycle(moves: Mapping[tuple[int, int], int]) -> bool:
    """Whether some state, once left, can be entered again.

    >>> has_cycle({(0, 6): 1, (1, 6): 1}), has_cycle({(0, 6): 1, (1, 5): 0})
    (False, True)
    """
    edges = {(u, v) for (u, _), v in triggers_of(moves).items()}
    while edges:
        sources, targets = {u for u, _ in edges}, {v for _, v in edges}
        if sources <= targets:
            return True  # every state that is left is also entered: going backwards never ends
        edges = {(u, v) for u, v in edges if u in targets}
    return False


def exhaustive_optimum(
    steps: LabelledSteps, objective: Literal["states", "triggers"], acyclic: bool
) -> tuple[int, int]:
    """(K, z) of the best machines that explain every step of every episode, all rewards included."""
    rows = all_steps(steps)
    histories: dict[tuple[int, ...], dict[int, int]] = {}
    pasts: list[tuple[int, ...]] = []
    for row in rows:
        pasts.append((*(pasts[row.previous] if row.previous >= 0 else ()), row.label))
        for y, r in row.marks:
            if histories.setdefault(pasts[-1], {}).setdefault(y, r) != r:
                raise InputError("no machine explains these steps")
    if objective == "states":
        sizes = range(1, len(rows) + 2)
        states = next(k for k in sizes if find_machine(rows, k, None, acyclic=acyclic) is not None)
        bounds = range(len(rows) + 1)
        return states, next(z for z in bounds if find_machine(rows, states, z, acyclic=acyclic) is not None)
    for triggers in range(len(rows) + 1):
        for states in range(1, triggers + 2):  # each state but the first is entered by a trigger of its own
            if find_machine(rows, states, triggers, acyclic=acyclic) is not None:
                return states, triggers
    raise AssertionError("a machine that follows the prefix tree explains the steps")


def all_steps(steps: LabelledSteps) -> list[Step]:
    """Every step of every episode, with all rewards."""
    starts = set(steps.offsets[:-1].tolist())
    columns = (steps.triggers.ids.tolist(), steps.rewards.ids.tolist(), steps.outcomes.tolist())
    return [Step(-1 if n in starts else n - 1, x, ((y, r),)) for n, (x, y, r) in enumerate(zip(*columns, strict=True))]


class ExhaustiveSession:
    """Exemplars, kept by their labels."""

    def __init__(self, *, acyclic: bool) -> None:
        self._acyclic = acyclic
        self._steps: list[Step] = []

    def extend(self, tree: PrefixTree, nodes: Ints) -> None:
        """More exemplars: these nodes of the tree, with their ancestors and all marks on them.

        A path is added as it is, even if it was there before: walking it again changes nothing.
        """
        for node in np.asarray(nodes).tolist():
            previous = -1
            for at in tree.path(node):
                here = np.flatnonzero(tree.mark_node == at)
                labels = tree.reward_labels[tree.mark_label[here]].tolist()
                marks = tuple(zip(labels, tree.mark_outcome[here].tolist(), strict=True))
                self._steps.append(Step(previous, int(tree.label[at]), marks))
                previous = len(self._steps) - 1

    def decide(self, states: int, triggers: int | None, limits: Limits) -> Answer:
        """Tries every machine with at most this many states and triggers."""
        work = 0

        def tick() -> None:
            nonlocal work
            work += 1
            limits.check()
            if limits.work is not None and work > limits.work:
                raise Stop

        try:
            found = find_machine(self._steps, states, triggers, acyclic=self._acyclic, tick=tick)
        except Stop:
            return Answer(Verdict.UNKNOWN, work=work)
        return Answer(Verdict.INFEASIBLE if found is None else Verdict.FEASIBLE, found, work)


class ExhaustiveEngine:
    """For tests: slow beyond a handful of short episodes."""

    name = "exhaustive"

    def open(self, rules: Rules) -> ExhaustiveSession:
        """A fresh session."""
        return ExhaustiveSession(acyclic=rules.acyclic)
