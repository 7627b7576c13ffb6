"""Learning: from episodes to the smallest machine, with what proves it.

The data's way: :mod:`~markovize.learning.problem` labels the steps and merges them into a tree,
:mod:`~markovize.learning.search` finds the triggers, :mod:`~markovize.learning.assembly` makes them a machine.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from markovize.episodes.labelled_steps import Explain
from markovize.episodes.labelling import LabelOn, pairs_to_try
from markovize.episodes.traces import Episodes, Traces, as_traces
from markovize.errors import InputError
from markovize.learning.alternatives import find_alternatives, redraw
from markovize.learning.assembly import TerminationConflict, assemble
from markovize.learning.engines import Delta, Engine, find_auditor, find_engine
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.floors import Objective, Proven
from markovize.learning.identity import Identity, identify
from markovize.learning.interrupts import interruptible
from markovize.learning.judge import size
from markovize.learning.limits import Limits, Stop
from markovize.learning.memory import Facts, Memory, Solvers
from markovize.learning.prefix_tree import PrefixTree
from markovize.learning.problem import LabelPair, Problem, pose, pose_coarsest
from markovize.learning.result import LearnResult
from markovize.learning.search import Deepening, Progress
from markovize.learning.warm_up import warm_up
from markovize.machine.machine import RewardMachine

__all__ = ["Auto", "Learner", "learn"]

Auto: TypeAlias = LabelOn  # or "auto"
MOST_ALTERNATIVES = 100  # triggers, above which a machine is a stopgap
MOMENT = 0.15  # seconds, past the limit, for what makes a machine easier to read


def learn(
    episodes: Episodes,
    *,
    objective: Objective = "triggers",
    trigger_on: Auto = "auto",
    reward_on: Auto = "auto",
    explain: Explain = "reward",
    acyclic: bool = False,
    engine: str | Engine = "auto",
    audit: str | Engine = "auto",
    time_limit: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    since: LearnResult | None = None,
) -> LearnResult:
    """The smallest reward machine that explains every reward of the episodes.

    ``objective`` is ``triggers`` (fewest triggers, then fewest states) or ``states`` (the other way round, as the
    paper has it). Labels on ``auto`` are the coarsest that work.

    Ctrl-C or ``time_limit`` (seconds) end the search early with the best machine so far. The limit holds within a
    second, or a tenth of it on large data; compiling the inner loops, once in a process, does not count.

    ``audit`` is an engine that must confirm whatever the first one calls infeasible, on the same exemplars; ``auto``
    asks for that only where the engine is not one of ours. ``since`` is the result for the first of these episodes,
    learned with the same options: the search starts at its size, since more episodes never make the optimum smaller.
    The result of any other episodes or options is ignored.

    >>> coffee_then_office = Traces.of([
    ...     (["hall", "coffee", "office"], ["go", "go"], [0, 1], True),
    ...     (["hall", "hall", "office"], ["stay", "go"], [0, 0], False),
    ...     (["hall", "hall", "coffee", "office"], ["stay", "go", "go"], [0, 0, 1], True),
    ... ])
    >>> result = learn(coffee_then_office)
    >>> result.status, result.states, result.triggers, result.machine.triggers[0].on
    ('optimal', 2, 1, 'coffee')
    """
    learner = Learner(
        objective=objective,
        trigger_on=trigger_on,
        reward_on=reward_on,
        explain=explain,
        acyclic=acyclic,
        engine=engine,
        audit=audit,
    )
    return learner.learn(episodes, time_limit=time_limit, on_progress=on_progress, since=since)


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


class Learner:
    """:func:`learn` with a memory, for episodes that keep coming: options once, ``learn`` as often as there are more.

    As long as each call brings the episodes of the last one and more at the end, the search starts at the last
    optimum, with the last exemplars, in solvers that keep what they have derived. Other episodes start from nothing:
    what was learned is known by a digest of what it was learned from. A call that an exception ends leaves what the
    learner knows as it was.

    >>> learner = Learner()
    >>> seen = [(["hall", "office"], ["go"], [0]), (["hall", "hall", "office"], ["stay", "go"], [0, 0])]
    >>> learner.learn(seen).states
    1
    >>> seen.append((["hall", "coffee", "office"], ["go", "go"], [0, 1]))
    >>> learner.learn(seen).states
    2
    """

    def __init__(
        self,
        *,
        objective: Objective = "triggers",
        trigger_on: Auto = "auto",
        reward_on: Auto = "auto",
        explain: Explain = "reward",
        acyclic: bool = False,
        engine: str | Engine = "auto",
        audit: str | Engine = "auto",
    ) -> None:
        if objective not in ("triggers", "states"):
            raise InputError(f"objective is 'triggers' or 'states', not {objective!r}")
        solver = find_engine(engine)
        self.options = Options(
            objective,
            explain,
            acyclic,
            solver,
            find_auditor(audit, solver),
            tuple(pairs_to_try(trigger_on, reward_on)),
        )
        self._memory = Memory()

    def learn(
        self,
        episodes: Episodes,
        *,
        time_limit: float | None = None,
        effort: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        since: LearnResult | None = None,
        rng: np.random.Generator | None = None,
    ) -> LearnResult:
        """As :func:`learn`. With an ``effort``, in the engine's count, a question that takes longer is left open.

        That gives a machine soon, and repeatably, but optimal only where no question was left open. With an ``rng``,
        triggers are drawn from the labels that the data cannot tell apart, so that who acts on them soon learns more.
        """
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"the time limit must be positive, not {time_limit}")
        warm_up()
        deadline = None if time_limit is None else time.monotonic() + time_limit
        traces = as_traces(episodes)
        with interruptible() as interrupt:
            start = time.perf_counter()
            call = Call(traces, Limits(deadline, interrupt=interrupt), effort, on_progress, since, rng)
            try:
                result, self._memory = _learn(self.options, self._memory, call)
            except Stop:  # before there was anything to search in
                result = _blank(self.options)
            return replace(result, seconds=time.perf_counter() - start, interrupted=interrupt.requested)


def _learn(options: Options, memory: Memory, call: Call) -> tuple[LearnResult, Memory]:
    """The result of a call, and what to remember from now on."""
    recalled = _recall(options, memory, call)
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
    solvers.search = solvers.search or ExemplarSets(options.engine, options.auditor, options.acyclic)
    search = Deepening(
        problem.tree,
        options.engine,
        options.acyclic,
        options.objective,
        call.limits,
        auditor=options.auditor,
        on_progress=call.on_progress,
        exemplar_sets=solvers.search,
        guessed_optimum=facts.experience.guess(facts.experience.size),
        first=first,
        proven=facts.proven,
        effort=_less(call.effort, facts.experience.searches_in_vain),
    )
    result = _found(search, call.traces, problem, blank, call.rng)
    experience = facts.experience.after_search(first, search.best, proven=result.status == "optimal")
    facts = replace(facts, identity=recalled.identity, proven=search.proven, experience=experience)
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
    solvers.look = solvers.look or ExemplarSets(options.engine, None, acyclic=True)
    experience = facts.experience
    look = Deepening(
        tree,
        options.engine,
        True,
        "states",
        call.limits,
        on_progress=call.on_progress,
        exemplar_sets=solvers.look,
        effort=_less(call.effort, experience.looks_in_vain),
        guessed_optimum=experience.guess(experience.look_size),
        last_resort=False,
        proven=facts.proven_by_look,
    )
    look.run()
    return look.best, replace(facts, proven_by_look=look.proven, experience=experience.after_look(look.best))


def _found(
    search: Deepening, traces: Traces, problem: Problem, blank: LearnResult, rng: np.random.Generator | None
) -> LearnResult:
    """Runs the search; its machine gets its numbers, its rewards and the labels that would serve as well."""
    proven = search.run()
    machine: RewardMachine | None = None
    ends: tuple[TerminationConflict, ...] = ()
    if search.best is not None:
        labels: dict[tuple[int, int], list[int]] = {}
        if size(search.best)[1] <= MOST_ALTERNATIVES:
            limits = _moment_more(search.limits)
            with contextlib.suppress(Stop):  # a machine at hand is worth more than its alternatives
                labels = find_alternatives(search.best, search.judge, search.exemplar_nodes, limits)
                if rng is not None and any(labels.values()):
                    search.best = redraw(search.best, labels, search.judge, rng, limits)
                    labels = find_alternatives(search.best, search.judge, search.exemplar_nodes, limits)
        machine, ends = assemble(traces, problem.steps, search.best, labels)
    return replace(
        blank,
        status="unknown" if machine is None else "optimal" if proven else "feasible",
        machine=machine,
        bounds=search.bounds(),
        exemplars=search.exemplars,
        proof=search.proof() if proven else "",
        termination_conflicts=ends,
    )


def _moment_more(limits: Limits) -> Limits:
    """Where time is up or the user asked to stop, a moment for what makes a machine easier to read."""
    soon = time.monotonic() + MOMENT
    if limits.interrupt.requested:
        return Limits(soon)
    return limits if limits.deadline is None else replace(limits, deadline=max(limits.deadline, soon))


def _less(effort: int | None, times: int) -> int | None:
    """Half the effort for each time that it was in vain."""
    return None if effort is None else max(1, effort >> times)
