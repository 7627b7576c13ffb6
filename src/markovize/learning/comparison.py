"""Which labels: the coarsest that do, unless their machine is large and that of other labels is smaller.

Under labels that are too coarse, or that come a step too late, a small machine must be unrolled: what the first
observation tells takes five states by ``source`` and, by ``state``, a copy of everything for each history. So where the
machine of the coarsest labels has more than eight triggers, or states where these are to be few, the other labels get a
budget each, and the smallest machine is kept. While there is none, or one with many triggers that may still shrink,
which can be the fault of the labels or a hard search, the others get a small share of its work, again and again.
Meanwhile they must be far smaller, in bits, or proven where there is nothing to compare with: there are many more fine
labels than coarse ones, and among many some fit by chance. Work is counted, not timed: the same episodes have the same
labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import log2
from typing import Final

from markovize.learning.attempt import Attempt, begin
from markovize.learning.call import Call, Options
from markovize.learning.floors import Objective, in_order
from markovize.learning.judge import size
from markovize.learning.limits import Limits, Stop
from markovize.learning.memory import Memory
from markovize.learning.recall import recall
from markovize.learning.search import Deepening

SMALL: Final = 8  # of what is to be few, up to which a machine of the coarsest labels is kept; of both, unless proven
BUDGET: Final = 10_000  # counted work before other labels get their turn: about a second
SHARE: Final = 16  # of its work, which each of the others gets while the search under the coarsest labels is undecided
AGAIN: Final = 8  # times the work, after which they get that share once more
FAR_SMALLER: Final = 0.5  # of the bits


def choose(options: Options, memory: Memory, call: Call, first: Attempt) -> tuple[Attempt, list[Attempt]]:
    """The attempt whose machine is kept, run to its end, and all that were compared; only the first if none was."""
    patience = BUDGET
    is_alone = len(options.labels) == 1  # then nobody waits for it

    def may_pause(search: Deepening) -> bool:
        return not is_alone and _is_large_by_now(search, 0)

    ended = first.search is None or first.search.run_unless(partial(_is_large_by_now, work=patience), may_pause)
    if ended and _ends_here(first, options.objective, call.limits):
        return first, [first]
    others: list[Attempt] = []
    begun = _others(options, memory, call, first)
    while True:
        undecided = not ended and (first.best is None or _is_small(first))
        share = patience // SHARE if undecided else BUDGET
        best = first
        for other in others or _collect(begun, others):
            ceiling = None if best.best is None else in_order(options.objective, size(best.best))
            if other.search is not None:
                vain = partial(_is_in_vain, objective=options.objective, ceiling=ceiling, work=share)
                other.search.run_unless(vain)
            if not _is_worth_it(other) or (undecided and best is first and not _is_far_smaller(other, first)):
                continue
            if ceiling is None or in_order(options.objective, size(other.best or {})) < ceiling:
                best = other
        if best is not first or not undecided or first.search is None:
            best.run()
            return best, [first, *others]
        patience *= AGAIN
        ended = first.search.run_unless(partial(_is_large_by_now, work=patience), may_pause)
        if ended and _ends_here(first, options.objective, call.limits):
            return first, [first, *others]


def _collect(begun: Iterator[Attempt], others: list[Attempt]) -> Iterator[Attempt]:
    """Each search as it begins; they are remembered for the next time."""
    for other in begun:
        others.append(other)
        yield other


def _others(options: Options, memory: Memory, call: Call, first: Attempt) -> Iterator[Attempt]:
    """The searches under all other labels that explain the episodes, from coarse to fine, until the limits."""
    refuted = options.coarsest[: options.coarsest.index(first.recalled.number)]
    for number in range(len(options.labels)):
        if number == first.recalled.number or number in refuted:
            continue
        try:
            call.limits.check()
            recalled = recall(options, memory, call, number, call.limits)
        except Stop:
            return
        if recalled.problem.contradiction is None:
            yield begin(options, memory, call, recalled, last_resort=False)


def _ends_here(first: Attempt, objective: Objective, limits: Limits) -> bool:
    """Whether the search that has ended is the last one: its machine is small, or the limits are reached."""
    if first.best is not None and in_order(objective, size(first.best))[0] <= SMALL:
        return True
    try:
        limits.check()
    except Stop:
        return True
    return False


def _is_small(attempt: Attempt) -> bool:
    return attempt.best is not None and size(attempt.best)[0] <= SMALL


def _is_worth_it(other: Attempt) -> bool:
    """Whether its machine is a reason to leave the coarsest labels: a large one that is not proven is a stopgap."""
    return other.best is not None and (other.is_proven or _is_small(other))


def _is_far_smaller(other: Attempt, first: Attempt) -> bool:
    """Where there is nothing to compare with, a proof must do: a hard search has small machines by chance as well."""
    return other.is_proven if first.best is None else _bits(other) <= FAR_SMALLER * _bits(first)


def _bits(attempt: Attempt) -> float:
    """What it takes to write down the triggers of its machine, each a state, a label and a state."""
    states, triggers = size(attempt.best or {})
    return triggers * log2(states**2 * max(2, attempt.recalled.problem.tree.n_labels))


def _is_large_by_now(search: Deepening, work: int) -> bool:
    """Whether so much work was spent and there is no small machine."""
    return search.inquiry.spent > work and (search.best is None or max(size(search.best)) > SMALL)


def _is_in_vain(search: Deepening, objective: Objective, ceiling: tuple[int, int] | None, work: int) -> bool:
    """Whether so much work was spent, or nothing below the smallest machine so far is left."""
    inquiry = search.inquiry
    if inquiry.spent > work:
        return True
    return ceiling is not None and in_order(objective, inquiry.proven.floors.next_question(objective)) >= ceiling
