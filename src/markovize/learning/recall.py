"""What of the past is believed: what the identity of the episodes confirms, for each pair of labels on its own."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import LabelledSteps, label_traces
from markovize.learning.call import Call, Options
from markovize.learning.floors import Proven
from markovize.learning.identity import Identity, identify
from markovize.learning.levels_apart import with_levels_apart
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


def recall_coarsest(
    options: Options, memory: Memory, call: Call, limits: Limits
) -> tuple[Recalled, dict[int, Identity]]:
    """Under the coarsest labels that explain the episodes, and those that these refute; if all do, the finest.

    Labels that earlier episodes have refuted are refuted by more of them, too: they are not tried again. That they are
    the same episodes is asked of these very labels: finer ones may call other episodes alike.
    """
    refuted: dict[int, Identity] = {}
    here = None
    for number in options.coarsest:
        known = memory.refuted.get(number)
        if known is not None and number != options.coarsest[-1] and _begin_with(known, options, call, number, limits):
            refuted[number] = known
            continue
        here = recall(options, memory, call, number, limits)
        if here.problem.contradiction is None:
            return here, refuted
        refuted[number] = here.identity
    assert here is not None and here.problem.contradiction is not None
    with contextlib.suppress(Stop):  # in time or not: no machine explains the episodes
        here = replace(here, problem=with_advice(here.problem, call.traces, options.explain, limits, options.allowance))
    return here, refuted


def _begin_with(known: Identity, options: Options, call: Call, number: int, limits: Limits) -> bool:
    """Whether the episodes of a call begin with those of this identity, under this pair of labels."""
    limits.check()
    steps = label_traces(call.traces, *options.labels[number], options.explain)
    posed, left = with_levels_apart(steps, options.allowance)
    return _identify(options, posed, left, [known.episodes]).get(known.episodes) == known


def _identify(options: Options, posed: LabelledSteps, left: Allowance, counts: list[int]) -> dict[int, Identity]:
    """Of the steps as a search sees them: where a tolerance is left, it matters how far rewards are apart."""
    return identify(posed, (left, options.key(posed)), counts, levels=left.tolerance > 0)


def recall(options: Options, memory: Memory, call: Call, number: int, limits: Limits) -> Recalled:
    """Under this pair of labels. The only place where it is decided what of the past is believed."""
    traces, since = call.traces, call.since
    known = memory.known.get(number, Known()).facts
    problem = pose(traces, options.labels[number], options.explain, limits, options.allowance)
    earlier = [i.episodes for i in (known.identity, since.identity if since else None) if i is not None]
    found = _identify(options, problem.posed, problem.tree.allowance, [*earlier, len(traces)])
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
