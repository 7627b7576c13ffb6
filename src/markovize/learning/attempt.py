"""One search under one pair of labels: begun, paused and gone on with, and what it leaves behind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from markovize.learning.all_machines import AllMachines, make_all
from markovize.learning.alternatives import Labels, choose_labels
from markovize.learning.assembly import assemble
from markovize.learning.call import Call, Options
from markovize.learning.certify import Evidence, positions
from markovize.learning.engines import Delta
from markovize.learning.enumeration import Enumeration
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.inquiry import Goal
from markovize.learning.judge import Judge, is_acyclic, size
from markovize.learning.limits import Limits, Stop
from markovize.learning.memory import Facts, Known, Memory, Solvers
from markovize.learning.outliers import with_fewest_outliers
from markovize.learning.prefix_tree import PrefixTree
from markovize.learning.problem import Problem
from markovize.learning.recall import Recalled
from markovize.learning.repair import moves_of, repair
from markovize.learning.result import LearnResult, Status
from markovize.learning.search import FIRST_BUDGET, Deepening, Look, Plan, Progress
from markovize.learning.soon import find_by_clusters
from markovize.learning.state_merging import merge_states
from markovize.machine.machine import RewardMachine

MOST_ALTERNATIVES: Final = 100  # triggers, above which a machine is a stopgap
TURN: Final = 50  # counted work of the first turns where other labels are tried: these are short
REPAIR: Final = 30_000  # counted work of changes to the last machine: a few seconds
LONG_REPAIR: Final = 100_000  # the same where there is no merged machine either
FEW_MORE: Final = 4  # triggers by which a repaired machine may grow before another one is searched for
LOOK: Final = 4_000  # counted work of a question, where a long search looks for a good machine before it proves
MOST_DOUBLED: Final = 3  # times that the effort of a first look is doubled
MOST_LOOK: Final = 20_000  # counted work of a question, up to which it is doubled
MANY_MOVES: Final = 24  # triggers of a merged machine, from which on no engine is asked for fewer: that takes long
NO_CONFLICT: Final = "the reward is a function of its label alone: one state is enough"


@dataclass(frozen=True)
class Attempt:
    """A search under one pair of labels; none is needed where nothing conflicts."""

    recalled: Recalled
    facts: Facts
    solvers: Solvers
    first: Delta | None  # what the search began with
    search: Deepening | None
    options: Options

    @property
    def best(self) -> Delta | None:
        """The best machine so far; it explains all the data."""
        return {} if self.search is None else self.search.best

    @property
    def is_proven(self) -> bool:
        """Whether the search has ended with a proof."""
        return self.search is None or self.search.is_proven

    @property
    def status(self) -> Status:
        if self.best is None:
            return "unknown"
        return "optimal" if self.is_proven else "feasible"

    def run(self) -> None:
        """To the end, or to the limits."""
        if self.search is not None:
            self.search.run()

    def known(self) -> Known:
        """What to remember."""
        if self.search is None:
            experience = self.facts.experience.after_search(None, {}, proven=True)
            return Known(replace(self.facts, identity=self.recalled.identity, experience=experience))
        experience = self.facts.experience.after_search(self.first, self.search.best, self.is_proven)
        proven = self.search.inquiry.proven
        facts = replace(self.facts, identity=self.recalled.identity, proven=proven, experience=experience)
        return Known(facts, self.solvers)

    def result(self, call: Call, blank: LearnResult, limits: Limits) -> LearnResult:
        """The machine gets its numbers, its rewards and, within the limits, the labels that would serve as well."""
        steps, allowance = self.recalled.problem.steps, self.options.allowance
        if self.search is None:
            machine, ends = assemble(call.traces, steps, {}, {}, allowance)
            only = None if call.all is None else AllMachines((machine,), complete=True, at_least=1)
            return replace(
                blank,
                status="optimal",
                machine=machine,
                termination_conflicts=ends,
                proof=NO_CONFLICT,
                all=only,
                evidence=self._evidence(call),
            )
        inquiry, best = self.search.inquiry, self.best
        nodes = inquiry.exemplars.nodes
        proof = self.search.proof() if self.is_proven else ""
        found = replace(blank, status=self.status, bounds=inquiry.bounds(), exemplars=len(nodes), proof=proof)
        if best is None:
            return found
        if allowance.outliers:
            best = with_fewest_outliers(best, inquiry.judge.tree, inquiry.goal, self.options.engine, call.limits)
        labels: Labels = {}
        if size(best)[1] <= MOST_ALTERNATIVES:
            best, labels = choose_labels(best, inquiry.judge, nodes, call.rng, limits)
        machine, ends = assemble(call.traces, steps, best, labels, allowance)
        found = replace(found, machine=machine, termination_conflicts=ends, evidence=self._evidence(call))
        return found if call.all is None or not self.is_proven else replace(found, all=self._list(call, best, machine))

    def _list(self, call: Call, best: Delta, machine: RewardMachine) -> AllMachines:
        """Machines as small as the best, which is the first, and what tells the others from it."""
        assert self.search is not None and call.all is not None
        inquiry, options = self.search.inquiry, self.options
        self.solvers.all = self.solvers.all or Enumeration(options.engine, acyclic=options.acyclic)
        counted, limits = inquiry.exemplars.counted, self.search.begin_listing()
        listed = self.solvers.all.collect(best, inquiry.judge, counted, call.all, replace(limits, work=call.effort))
        problem, labels = self.recalled.problem, options.labels[self.recalled.number]
        soon = call.limits.a_moment_more()
        return make_all(machine, listed, call.traces, problem.steps, labels, options.explain, soon)

    def _evidence(self, call: Call) -> Evidence:
        """What a certificate is made of."""
        whole = call.traces if call.traces.weights() is None else None
        labels = self.options.labels[self.recalled.number]
        if self.search is None:
            return Evidence(whole, labels)
        inquiry = self.search.inquiry
        tree, exemplars = inquiry.judge.tree, inquiry.exemplars
        counted, uncounted = (
            positions(call.traces, tree, each.nodes) for each in (exemplars.counted, exemplars.uncounted)
        )
        return Evidence(whole, labels, counted, uncounted, inquiry.proven.questions)


def begin(options: Options, memory: Memory, call: Call, recalled: Recalled, *, last_resort: bool = True) -> Attempt:
    """The search under the labels of what is recalled; its solvers are borrowed from the memory."""
    tree, facts = recalled.problem.tree, recalled.facts
    if not len(tree.mark_node) or (options.allowance.outliers and Judge(tree).explains({})):
        return Attempt(recalled, facts, Solvers(), None, None, options)
    solvers = memory.known[recalled.number].lend() if recalled.goes_on else Solvers()
    on_progress = _naming_labels(recalled, call.on_progress) if not last_resort else call.on_progress
    first = call.first
    if call.begun is not None:
        first, facts = call.begun.first, replace(facts, proven=call.begun.search.inquiry.proven)
        inquiry = call.begun.search.inquiry
        has_same_outcomes = inquiry.judge.tree.allowance == tree.allowance  # levels are apart in both, or in none
        if call.begun.allowance == options.allowance and has_same_outcomes:
            solvers.search = inquiry.exemplars
    is_enough = False
    if call.prove is not None:
        first = _to_prove(recalled.problem, call.prove)
    elif call.effort is not None and options.allowance.tolerance:
        with contextlib.suppress(Stop):  # who has no time left hears of it in the search
            first, is_enough = _first_of_noisy(options, call, recalled.problem)
    elif call.effort is None and tree.allowance.tolerance and first is None and last_resort:
        with contextlib.suppress(Stop):
            first = find_by_clusters(tree, options.engine, options.goal, call.limits)
    if first is None and options.looks_first and call.effort is not None:
        first, facts = _look_first(options, call, tree, facts, solvers)
    solvers.search = solvers.search or ExemplarSets(options.engine, options.auditor, acyclic=options.acyclic)
    experience = facts.experience
    effort = call.effort if call.prove is not None else _halve(call.effort, experience.searches_in_vain)
    search = Deepening(
        tree,
        solvers.search,
        options.goal,
        call.limits,
        plan=Plan(
            effort,
            None if call.prove is not None else experience.guess(experience.size),
            first,
            last_resort,
            FIRST_BUDGET if last_resort else TURN,
            asks=not is_enough,
            look=_look_for(options, call, tree) if last_resort else None,
            gives_up=call.prove is not None,
            cores=options.cores,
        ),
        proven=facts.proven,
        on_progress=on_progress,
    )
    return Attempt(recalled, facts, solvers, first, search, options)


def _to_prove(problem: Problem, machine: RewardMachine) -> Delta | None:
    """A machine by the numbers of the labels, if it explains the episodes."""
    moves, judge = moves_of(machine, problem.steps.triggers.values), Judge(problem.tree)
    return judge.prune(moves) if judge.explains(moves) else None


def _first_of_noisy(options: Options, call: Call, problem: Problem) -> tuple[Delta | None, bool]:
    """A machine by merging states, or the last one with few changes, and whether no engine need be asked for less.

    Merging finds a machine where almost every label moves it. Where few do, it may find far too many moves: so one that
    has grown all at once is compared with a repaired one.
    """
    merged = merge_states(Judge(problem.tree), call.limits)
    if merged is not None and options.acyclic and not is_acyclic(merged):
        merged = None
    few = None if call.last is None else len(call.last.triggers) + FEW_MORE
    had_few = few is not None and few < MANY_MOVES
    if call.last is not None and few is not None and (merged is None or (had_few and len(merged) > few)):
        repaired = _repair(options, call, problem, call.last, LONG_REPAIR if merged is None else REPAIR)
        if repaired is not None and (merged is None or len(repaired) < len(merged)):
            is_hard = bool(problem.tree.allowance.tolerance)  # engines take minutes then, where merging is too much
            return repaired, is_hard and (merged is None or len(repaired) <= few)
    return merged, merged is not None and len(merged) >= MANY_MOVES and not had_few


def _repair(options: Options, call: Call, problem: Problem, last: RewardMachine, work: int) -> Delta | None:
    """The last machine with few changes, where these are found soon."""
    limits = replace(call.limits, work=work)
    moves = moves_of(last, problem.steps.triggers.values)
    return repair(moves, Judge(problem.tree), limits, acyclic=options.acyclic)


def _look_first(
    options: Options, call: Call, tree: PrefixTree, facts: Facts, solvers: Solvers
) -> tuple[Delta | None, Facts]:
    """A machine to begin with, by the search that takes least: few states, no cycles. The paper's own, unproven."""
    solvers.look = solvers.look or ExemplarSets(options.engine, acyclic=True)
    experience = facts.experience
    effort = _halve(call.effort, experience.looks_in_vain)
    if effort is not None:  # what is proven is never asked again, what is left open is, each time: so try harder
        effort = max(effort, min(effort << min(experience.looks_open, MOST_DOUBLED), MOST_LOOK))
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
    experience = experience.after_look(look.best, look.is_proven)
    return look.best, replace(facts, proven_by_look=look.inquiry.proven, experience=experience)


def _look_for(options: Options, call: Call, tree: PrefixTree) -> Look | None:
    """The same for a search whose effort is not limited, but should it be long; nothing of it is remembered."""
    if call.effort is not None or options.acyclic or not tree.allowance.exact:
        return None

    def look(limits: Limits, offer: Callable[[Delta | None], None]) -> None:
        def tell(_: Progress) -> None:
            offer(search.best)

        goal, exemplars = Goal("states", acyclic=True), ExemplarSets(options.engine, acyclic=True)
        plan = Plan(LOOK, last_resort=False)
        search = Deepening(tree, exemplars, goal, limits, plan=plan, on_progress=tell)
        search.run()
        offer(search.best)

    return look


def _halve(effort: int | None, times: int) -> int | None:
    """Half the effort for each time that it was in vain."""
    return None if effort is None else max(1, effort >> times)


def _naming_labels(
    recalled: Recalled, on_progress: Callable[[Progress], None] | None
) -> Callable[[Progress], None] | None:
    """The display of a search that says under which labels it is."""
    if on_progress is None:
        return None
    steps = recalled.problem.steps
    labels = f"{steps.triggers.kind}/{steps.rewards.kind}"
    return lambda progress: on_progress(replace(progress, labels=labels))
