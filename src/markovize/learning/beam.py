"""Machines grown along several ways at a time: with noise in the rewards the best next trigger is often a wrong one.

A machine grows by a trigger to a new state or to one that it has; or to a copy of the present state and of all that
follows it. Such a copy remembers that its label was met and forgets nothing else, so that it never tells less than
before: a task that is done in one of two ways, each in several steps, is out of reach of single triggers, none of which
helps until the last one is there. Machines are compared by how mixed outcomes are and, the best of them, by their bits.
Without noise the same growth is a quick way to a good machine, before its proof. Nothing is proven here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log, log2
from typing import Final

from markovize.learning.engines.base import Delta
from markovize.learning.greedy import VISITS, candidates
from markovize.learning.judge import Judge, size
from markovize.learning.limits import Limits
from markovize.learning.mixtures import COPY, Change, Mixtures

WIDTH: Final = 8  # machines that are followed for being little mixed, and as many for being short
MEASURED: Final = 4  # times as many are measured
ALIKE: Final = 2  # machines that are followed and mix outcomes equally: they hardly differ
PLACES: Final = 24  # of each machine, the best for a trigger, where other targets than a copy are tried
PAIRS: Final = 64  # in conflict, whose paths a trigger may be on
MOST_TRIGGERS: Final = 32
PATIENCE: Final = 3  # rounds that shorten nothing
EACH: Final = 5_000  # visits to nodes that are made in the time that a machine takes beside its own
BLOCK: Final = 4_000_000  # visits between two looks at the clock
MOST_CELLS: Final = 20_000_000  # numbers that are kept for a machine: 80 MB
WORK: Final = 30_000  # counted, as in the limits: about three seconds


@dataclass(frozen=True)
class _Grown:
    """A machine, how mixed it leaves the outcomes, in nats, and its own bits beside these."""

    delta: Delta
    mixture: float
    moves: float


@dataclass(frozen=True)
class _Step:
    """A machine and a change of it that is yet to be made; what it will be like."""

    before: Delta
    change: Change
    mixture: float
    moves: float

    @property
    def length(self) -> float:
        return self.mixture / log(2) + self.moves

    def apply(self) -> Delta:
        loop, target = self.change
        return with_copy(self.before, loop) if target == COPY else {**self.before, loop: target}


def grow_in_beam(
    judge: Judge, measure: Callable[[Delta], float], limits: Limits, *, acyclic: bool, work: int = WORK
) -> Iterator[Delta]:
    """The shortest machine of each round, by its bits; ends where these get no fewer, or the work is spent."""
    grower, shortest, waited = _Grower(judge, limits, acyclic, work), measure({}), 0
    beam = [grower.weigh({})]
    while beam and waited < PATIENCE:
        found = [grower.take(step) for step in grower.grow(beam)]
        bits = sorted((measure(one.delta), number) for number, one in enumerate(found))
        if not bits:
            return
        waited = 0 if bits[0][0] < shortest else waited + 1
        shortest = min(shortest, bits[0][0])
        yield found[bits[0][1]].delta
        chosen = dict.fromkeys([*range(min(WIDTH, len(found))), *(number for _, number in bits[:WIDTH])])
        beam = [found[number] for number in chosen]


def explain_in_beam(judge: Judge, limits: Limits, *, acyclic: bool, work: int = WORK) -> Delta | None:
    """A machine that explains everything, grown in the same way; None where work or ways to grow end before."""
    grower = _Grower(judge, limits, acyclic, work, each=EACH)
    beam = [grower.weigh({})]
    while beam:
        found = grower.grow(beam)
        unmixed = (grower.take(step).delta for step in found if not step.mixture)
        if done := [delta for delta in unmixed if judge.explains(delta)]:
            return min(done, key=len)
        beam = [grower.take(step) for step in found[:WIDTH]]
    return None


class _Grower:
    """One growth: what was tried, and the work that is left."""

    def __init__(self, judge: Judge, limits: Limits, acyclic: bool, work: int, *, each: int = 0) -> None:
        self._judge, self._limits, self._acyclic = judge, limits, acyclic
        self._left, self._each = work * VISITS, each
        self._mixtures = Mixtures(judge)

    def weigh(self, delta: Delta) -> _Grown:
        """How mixed outcomes are, and what its triggers take."""
        return _Grown(delta, round(self._judge.mixture(delta), 6), self._moves(*size(delta)))

    def _moves(self, states: int, triggers: int) -> float:
        return triggers * log2(max(2, states**2 * self._judge.tree.n_labels))

    def take(self, step: _Step) -> _Grown:
        """The machine after a step, without what never fires."""
        return _Grown(self._judge.prune(step.apply()), step.mixture, step.moves)

    def grow(self, beam: list[_Grown]) -> list[_Step]:
        """To the machines of the next round, the shortest first; none where the work is spent."""
        found: dict[tuple[float, tuple[int, ...]], _Step] = {}
        for one in beam:
            (states, _), labels, follow = size(one.delta), sorted(x for _, x in one.delta), _reach(one.delta)
            for change, mixture in self._changes(one.delta, follow):
                mixture = round(mixture, 6)
                if mixture < one.mixture:
                    (u, x), target = change
                    copied = [y for v, y in one.delta if v in follow[u]] if target == COPY else []
                    every = tuple(sorted([*labels, x, *copied]))
                    if len(every) <= MOST_TRIGGERS and (mixture, every) not in found:
                        more = len(follow[u]) if target == COPY else target == states
                        moves = self._moves(states + more, len(every))
                        found[mixture, every] = _Step(one.delta, change, mixture, moves)
            if self._left < 0:
                return []
        kept, alike = list[_Step](), Counter[float]()
        for step in sorted(found.values(), key=lambda step: step.length):
            if alike[step.mixture] < ALIKE and len(kept) < MEASURED * WIDTH:
                kept.append(step)
                alike[step.mixture] += 1
        return kept

    def _changes(self, delta: Delta, follow: Sequence[set[int]]) -> list[tuple[Change, float]]:
        """A copy on each self-loop of a path in conflict; on the best of these, a trigger to each state, too.

        With each, how mixed outcomes are then. Those that ``follow`` each state tell which triggers make a cycle.
        """
        pairs = self._judge.violations(delta, most=PAIRS)
        loops = sorted(set[tuple[int, int]]().union(*(candidates(self._judge, delta, pair) for pair in pairs)))
        copies = self._weigh([(loop, COPY) for loop in loops], delta)
        places = [loop for _, loop in sorted((mixture, loop) for (loop, _), mixture in copies)[:PLACES]]
        triggers = [
            (loop, target)
            for loop in places
            for target in range(len(follow) + 1)
            if target != loop[0] and not (self._acyclic and target < len(follow) and loop[0] in follow[target])
        ]
        return [*copies, *self._weigh(triggers, delta)]

    def _weigh(self, changes: list[Change], delta: Delta) -> list[tuple[Change, float]]:
        """The changes with what they do, up to where the work is spent."""
        cells, cost = self._mixtures.cells(delta), len(self._judge.tree) + self._each
        if cells > MOST_CELLS:
            self._left = -1
        block, weighed = 1 + BLOCK // cost, list[tuple[Change, float]]()
        for start in range(0, len(changes), block):
            self._limits.check()
            if self._left < 0:
                break
            some = changes[start : start + block]
            self._left -= len(some) * cost + cells
            weighed += zip(some, self._mixtures.after(delta, some), strict=True)
        return weighed


def _reach(delta: Delta) -> list[set[int]]:
    """The states that follow each, itself included."""
    out = [{state} for state in range(1 + max(delta.values(), default=0))]
    for start in out:
        ahead = [*start]
        for state in ahead:
            further = {v for (u, _), v in delta.items() if u == state} - start
            start |= further
            ahead += further
    return out


def with_copy(delta: Delta, loop: tuple[int, int]) -> dict[tuple[int, int], int]:
    """The machine with a trigger in place of a self-loop: to a copy of its state, and of all that follows there.

    >>> with_copy({(0, 5): 1}, (0, 7))
    {(0, 5): 1, (0, 7): 2, (2, 5): 3}
    """
    reached, new = [loop[0]], 1 + max([loop[0], *delta.values(), *(u for u, _ in delta)])
    for state in reached:
        reached += sorted({v for (u, _), v in delta.items() if u == state} - {*reached})
    copy = {state: new + number for number, state in enumerate(reached)}
    out = {**delta, loop: copy[loop[0]]}
    return out | {(copy[u], x): copy[v] for (u, x), v in delta.items() if u in copy}
