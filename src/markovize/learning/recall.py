"""What of the past is believed: what the identity of the episodes confirms, for each pair of labels on its own."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

from markovize.learning.call import Call, Options
from markovize.learning.floors import Proven
from markovize.learning.identity import Identity, identify
from markovize.learning.limits import Limits, Stop
from markovize.learning.memory import Facts, Known, Memory
from markovize.learning.problem import Problem, pose, with_advice
from markovize.learning.result import LearnResult


@dataclass(frozen=True)
class Recalled:
    """The problem of a call under a pair of labels, what is known about it, and whether the solvers know it, too."""

    number: int  # of the pair
    problem: Problem
    identity: Identity
    facts: Facts
    goes_on: bool


def recall_coarsest(options: Options, memory: Memory, call: Call, limits: Limits) -> Recalled:
    """Under the coarsest labels that explain the episodes; if there are none, the finest, with advice.

    Labels that earlier episodes have refuted are refuted by more of them, too: they are not tried again.
    """
    order, here = options.coarsest, None
    if memory.coarsest in memory.known:
        here = recall(options, memory, call, memory.coarsest, limits)
        if here.goes_on:
            if here.problem.contradiction is None:
                return here
            order = order[order.index(here.number) + 1 :]
    for number in order:
        here = recall(options, memory, call, number, limits)
        if here.problem.contradiction is None:
            return here
    assert here is not None and here.problem.contradiction is not None
    with contextlib.suppress(Stop):  # in time or not: no machine explains the episodes
        here = replace(here, problem=with_advice(here.problem, call.traces, options.explain, limits, options.allowance))
    return here


def recall(options: Options, memory: Memory, call: Call, number: int, limits: Limits) -> Recalled:
    """Under this pair of labels. The only place where it is decided what of the past is believed."""
    traces, since = call.traces, call.since
    known = memory.known.get(number, Known()).facts
    problem = pose(traces, options.labels[number], options.explain, limits, options.allowance)
    earlier = [i.episodes for i in (known.identity, since.identity if since else None) if i is not None]
    counts, levels = [*earlier, len(traces)], options.allowance.tolerance > 0
    found = identify(problem.steps, options.key(problem), counts, levels=levels)
    goes_on = known.identity is not None and found.get(known.identity.episodes) == known.identity
    if options.allowance.outliers:
        goes_on = False  # solvers have counted steps of which there are more by now
    facts = known if goes_on else Facts()
    if since is not None and since.identity in found.values():
        facts = replace(facts, proven=_with_optimum_of(since, facts.proven))
    return Recalled(number, problem, found[len(traces)], facts, goes_on)


def _with_optimum_of(earlier: LearnResult, proven: Proven) -> Proven:
    """With what an earlier result says about the same episodes."""
    if earlier.machine is None or earlier.status != "optimal" or not earlier.triggers:
        return proven
    return proven.with_optimum(earlier.objective, (earlier.machine.states, earlier.triggers))
