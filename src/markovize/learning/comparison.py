"""Which labels: the coarsest that do, unless their machine is large and that of other labels is smaller.

Under labels that are too coarse, or that come a step too late, a small machine must be unrolled: what the first
observation tells takes five states by ``source`` and, by ``state``, a copy of everything for each history. So where the
machine of the coarsest labels has more than eight states, or its search has spent its budget without a small one, the
other labels get the same budget, and the smallest machine is kept. Work is counted, not timed: the same episodes have
the same labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from markovize.learning.attempt import Attempt, begin
from markovize.learning.call import Call, Options
from markovize.learning.floors import Objective, in_order
from markovize.learning.judge import size
from markovize.learning.limits import Limits, Stop
from markovize.learning.memory import Memory
from markovize.learning.recall import recall
from markovize.learning.search import Deepening

SMALL: Final = 8  # states, up to which the machine of the coarsest labels is kept; and triggers, while it is unproven
BUDGET: Final = 10_000  # counted work before other labels get their turn: about a second


def choose(options: Options, memory: Memory, call: Call, first: Attempt) -> tuple[Attempt, list[Attempt]]:
    """The attempt whose machine is kept, run to its end, and all that were compared; only the first if none was."""
    tried = [first]
    if first.search is None or (first.search.run_unless(_is_large_by_now) and _ends_here(first, call.limits)):
        return first, tried
    best = first
    for other in _others(options, memory, call, first):
        ceiling = None if best.best is None else in_order(options.objective, size(best.best))
        if other.search is not None:
            other.search.run_unless(partial(_is_in_vain, objective=options.objective, ceiling=ceiling))
        tried.append(other)
        if _is_worth_it(other) and (ceiling is None or in_order(options.objective, size(other.best or {})) < ceiling):
            best = other
    best.run()
    return best, tried


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


def _ends_here(first: Attempt, limits: Limits) -> bool:
    """Whether the search that has ended is the last one: its machine is small, or the limits are reached."""
    if first.best is not None and size(first.best)[0] <= SMALL and first.is_proven:
        return True
    try:
        limits.check()
    except Stop:
        return True
    return _is_small(first.search)


def _is_worth_it(other: Attempt) -> bool:
    """Whether its machine is a reason to leave the coarsest labels: a large one that is not proven is a stopgap."""
    return other.best is not None and (other.is_proven or size(other.best)[0] <= SMALL)


def _is_small(search: Deepening | None) -> bool:
    return search is None or (search.best is not None and max(size(search.best)) <= SMALL)


def _is_large_by_now(search: Deepening) -> bool:
    """Whether the budget is spent and there is no small machine."""
    return search.inquiry.spent > BUDGET and not _is_small(search)


def _is_in_vain(search: Deepening, objective: Objective, ceiling: tuple[int, int] | None) -> bool:
    """Whether the budget is spent, or nothing below the smallest machine so far is left."""
    inquiry = search.inquiry
    if inquiry.spent > BUDGET:
        return True
    return ceiling is not None and in_order(objective, inquiry.proven.floors.next_question(objective)) >= ceiling
