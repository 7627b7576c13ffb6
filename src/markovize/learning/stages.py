"""The stages of one call: recall what is known, search, assemble. From options, a memory and episodes to a result.

:mod:`~markovize.learning.problem` labels the steps, merges them into a tree and decides whether any machine explains
them; :mod:`~markovize.learning.search` finds the triggers; :mod:`~markovize.learning.assembly` makes them a machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from markovize.episodes.labelled_steps import Explain
from markovize.episodes.traces import Traces
from markovize.learning.alternatives import Labels, choose_labels
from markovize.learning.assembly import assemble
from markovize.learning.engines import Delta, Engine
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.floors import Objective, Proven
from markovize.learning.identity import Identity, identify
from markovize.learning.inquiry import Goal
from markovize.learning.judge import size
from markovize.learning.limits import Limits, Stop
from markovize.learning.memory import Facts, Memory, Solvers
from markovize.learning.prefix_tree import PrefixTree
from markovize.learning.problem import LabelPair, Problem, pose, pose_coarsest
from markovize.learning.result import LearnResult, Status
from markovize.learning.search import Deepening, Plan, Progress

MOST_ALTERNATIVES: Final = 100  # triggers, above which a machine is a stopgap
MOMENT: Final = 0.15  # seconds, past the limit, for what makes a machine easier to read


@dataclass(frozen=True)
class Options:
    """What is asked for, by every call of a learner alike."""

    objective: Objective
    explain: Explain
    acyclic: bool
    engine: Engine
    auditor: Engine | None
    labels: tuple[LabelPair, ...]  # from coarse to fine

    @property
    def looks_first(self) -> bool:
        """Whether there is a search that takes less than the one asked for."""
        return not (self.acyclic and self.objective == "states")

    def key(self, problem: Problem) -> tuple[object, ...]:
        """What belongs to the identity of a result, beside the episodes."""
        labels = problem.steps.triggers.kind, problem.steps.rewards.kind
        auditor = None if self.auditor is None else self.auditor.name
        return self.objective, self.explain, self.acyclic, self.engine.name, auditor, *labels


@dataclass(frozen=True)
class Call:
    """What one call is given."""

    traces: Traces
    limits: Limits
    effort: int | None
    on_progress: Callable[[Progress], None] | None
    since: LearnResult | None
    rng: np.random.Generator | None


def answer(options: Options, memory: Memory, call: Call) -> tuple[LearnResult, Memory]:
    """The result of a call, and what to remember from now on."""
    try:
        recalled = _recall(options, memory, call)
    except Stop:  # before there was anything to search in
        return _blank(options), memory
    problem, facts = recalled.problem, recalled.facts
    blank = replace(
        _blank(options),
        trigger_on=problem.steps.triggers.kind,
        reward_on=problem.steps.rewards.kind,
        contradiction=problem.contradiction,
        identity=recalled.identity,
    )
    if problem.contradiction is not None:
        return replace(blank, status="unrealisable"), memory
    if not len(problem.tree.mark_node):
        machine, ends = assemble(call.traces, problem.steps, {}, {})
        why = "the reward is a function of its label alone: one state is enough"
        experience = facts.experience.after_search(None, {}, proven=True)
        facts = replace(facts, identity=recalled.identity, experience=experience)
        result = replace(blank, status="optimal", machine=machine, termination_conflicts=ends, proof=why)
        return result, Memory(facts)
    solvers = memory.lend() if recalled.goes_on else Solvers()
    first: Delta | None = None
    if options.looks_first and call.effort is not None:
        first, facts = _look_first(options, call, problem.tree, facts, solvers)
    solvers.search = solvers.search or ExemplarSets(options.engine, options.auditor, acyclic=options.acyclic)
    experience = facts.experience
    effort = _halve(call.effort, experience.searches_in_vain)
    search = Deepening(
        problem.tree,
        solvers.search,
        Goal(options.objective, options.acyclic),
        call.limits,
        plan=Plan(effort, experience.guess(experience.size), first),
        proven=facts.proven,
        on_progress=call.on_progress,
    )
    proven = search.run()
    result = _result_of(search, proven, call, problem, blank)
    experience = experience.after_search(first, search.best, proven)
    facts = replace(facts, identity=recalled.identity, proven=search.inquiry.proven, experience=experience)
    return result, Memory(facts, solvers)


def _blank(options: Options) -> LearnResult:
    """Nothing is known."""
    sizes, name = (1, 0), options.engine.name
    return LearnResult(
        "unknown", None, sizes, options.objective, options.acyclic, name, 0.0, 0, explain=options.explain
    )


@dataclass(frozen=True)
class _Recalled:
    """The problem of a call, what is already known about it, and whether the solvers know it, too."""

    problem: Problem
    identity: Identity
    facts: Facts
    goes_on: bool


def _recall(options: Options, memory: Memory, call: Call) -> _Recalled:
    """The only place where it is decided what of the past is believed: what the identity of the episodes confirms.

    Labels that earlier episodes have refuted are refuted by more of them, too: they are not tried again.
    """
    traces, known, since = call.traces, memory.facts, call.since
    earlier = [i.episodes for i in (known.identity, since.identity if since else None) if i is not None]
    facts, goes_on, limits = Facts(), False, _moment_more(call.limits)
    if known.identity is not None:
        problem = pose(traces, options.labels[known.labels], options.explain, limits)
        found = identify(problem.steps, options.key(problem), [*earlier, len(traces)])
        goes_on = found.get(known.identity.episodes) == known.identity
    first = known.labels if goes_on else 0
    if goes_on and problem.contradiction is None:
        facts = known
    else:
        number, problem = pose_coarsest(traces, options.labels[first:], options.explain, limits)
        found = identify(problem.steps, options.key(problem), [*earlier, len(traces)])
        facts, goes_on = Facts(labels=first + number), False
    if since is not None and since.identity in found.values():
        facts = replace(facts, proven=_with_optimum_of(since, facts.proven))
    return _Recalled(problem, found[len(traces)], facts, goes_on)


def _with_optimum_of(earlier: LearnResult, proven: Proven) -> Proven:
    """With what an earlier result says about the same episodes."""
    if earlier.machine is None or earlier.status != "optimal" or not earlier.triggers:
        return proven
    return proven.with_optimum(earlier.objective, (earlier.machine.states, earlier.triggers))


def _look_first(
    options: Options, call: Call, tree: PrefixTree, facts: Facts, solvers: Solvers
) -> tuple[Delta | None, Facts]:
    """A machine to begin with, by the search that takes least: few states, no cycles. The paper's own, unproven."""
    solvers.look = solvers.look or ExemplarSets(options.engine, acyclic=True)
    experience = facts.experience
    effort = _halve(call.effort, experience.looks_in_vain)
    look = Deepening(
        tree,
        solvers.look,
        Goal("states", acyclic=True),
        call.limits,
        plan=Plan(effort, experience.guess(experience.look_size), last_resort=False),
        proven=facts.proven_by_look,
        on_progress=call.on_progress,
    )
    look.run()
    return look.best, replace(facts, proven_by_look=look.inquiry.proven, experience=experience.after_look(look.best))


def _result_of(search: Deepening, proven: bool, call: Call, problem: Problem, blank: LearnResult) -> LearnResult:
    """A search's machine gets its numbers, its rewards and the labels that would serve as well."""
    inquiry, best = search.inquiry, search.best
    nodes = inquiry.exemplars.nodes
    found = replace(blank, bounds=inquiry.bounds(), exemplars=len(nodes), proof=search.proof() if proven else "")
    if best is None:
        return found
    labels: Labels = {}
    if size(best)[1] <= MOST_ALTERNATIVES:
        best, labels = choose_labels(best, inquiry.judge, nodes, call.rng, _moment_more(call.limits))
    machine, ends = assemble(call.traces, problem.steps, best, labels)
    status: Status = "optimal" if proven else "feasible"
    return replace(found, status=status, machine=machine, termination_conflicts=ends)


def _moment_more(limits: Limits) -> Limits:
    """Where time is up or the user asked to stop, a moment for what makes a machine easier to read."""
    soon = time.monotonic() + MOMENT
    if limits.interrupt.requested:
        return Limits(soon)
    return limits if limits.deadline is None else replace(limits, deadline=max(limits.deadline, soon))


def _halve(effort: int | None, times: int) -> int | None:
    """Half the effort for each time that it was in vain."""
    return None if effort is None else max(1, effort >> times)
