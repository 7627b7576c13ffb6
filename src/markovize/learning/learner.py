"""Learning: from episodes to the smallest machine, with what proves it.

Labels are chosen, realisability is decided in linear time, :mod:`markovize.learning.search` finds the triggers, and the
result is replayed, numbered, given its rewards and the labels that would serve as well.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from markovize.episodes.labelled_steps import Explain, LabelledSteps, label_traces
from markovize.episodes.labelling import LabelOn, auto_order, pairs_to_try
from markovize.episodes.traces import Episodes, Traces, as_traces
from markovize.errors import InputError
from markovize.learning.alternatives import find_alternatives, redrawn
from markovize.learning.assembly import TerminationConflict, assembled
from markovize.learning.engines import Delta, Engine, engine_named
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.interrupts import interruptible
from markovize.learning.judge import size
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import Contradiction, PrefixTree, build_tree, find_contradiction
from markovize.learning.result import LearnResult
from markovize.learning.search import Books, Deepening, Objective, Progress
from markovize.machine.machine import RewardMachine

Auto: TypeAlias = LabelOn  # or "auto"
FAR_BETTER = 4 / 3  # times the triggers
RECONSIDER = 4  # calls, after which a search asks again what it left open
MOST_ALTERNATIVES = 100  # triggers, above which a machine is a stopgap
MOMENT = 0.3  # seconds


def learn(
    episodes: Episodes,
    *,
    objective: Objective = "triggers",
    trigger_on: Auto = "auto",
    reward_on: Auto = "auto",
    explain: Explain = "reward",
    acyclic: bool = False,
    engine: str | Engine = "auto",
    time_limit: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    since: LearnResult | None = None,
) -> LearnResult:
    """The smallest reward machine that explains every reward of the episodes.

    ``objective`` is ``triggers`` (fewest triggers, then fewest states) or ``states`` (the other way round, as the
    paper has it). Labels on ``auto`` are the coarsest that work. Ctrl-C or ``time_limit`` (seconds) end the search
    early with the best machine so far. ``since`` is the result for some of these episodes, learned with the same
    options: the search starts at its size, since more episodes never make the optimum smaller.

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
        objective=objective, trigger_on=trigger_on, reward_on=reward_on, explain=explain, acyclic=acyclic, engine=engine
    )
    return learner.learn(episodes, time_limit=time_limit, on_progress=on_progress, since=since)


class Learner:
    """:func:`learn` with a memory, for episodes that keep coming: options once, ``learn`` as often as there are more.

    As long as each call brings the episodes of the last one and more at the end, the search starts at the last
    optimum, with the last exemplars, in solvers that keep what they have derived. Labels on ``auto`` are refined where
    the coarser ones no longer do, never back.

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
    ) -> None:
        if objective not in ("triggers", "states"):
            raise InputError(f"objective is 'triggers' or 'states', not {objective!r}")
        self.objective, self.explain, self.acyclic = objective, explain, acyclic
        self.engine = engine_named(engine) if isinstance(engine, str) else engine
        self._auditor = None if isinstance(engine, str) else engine_named("sat")
        self._labels = pairs_to_try(trigger_on, reward_on)  # from coarse to fine; those refuted are dropped
        self._traces: Traces | None = None
        self._looks = not (acyclic and objective == "states")
        self._forget()

    def _forget(self) -> None:
        """Episodes or labels are not those of the last call, and more: the next search starts from nothing."""
        self._last: LearnResult | None = None
        self._exemplars: ExemplarSets | None = None
        self._books, self._look_books = Books(), Books()
        self._calls, self._size = 0, (1, 0)
        self._look: ExemplarSets | None = None
        self._look_size: tuple[int, int] | None = None
        self._vain_looks, self._vain_searches = 0, 0  # in a row
        self._most_triggers = 0  # of a first look

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
        traces = as_traces(episodes)
        warm_up()
        with interruptible() as interrupt:
            start = time.perf_counter()
            limits = Limits(None if time_limit is None else time.monotonic() + time_limit, interrupt=interrupt)
            result = self._learn(traces, limits, effort, on_progress, since, rng)
            return replace(result, seconds=time.perf_counter() - start, interrupted=interrupt.requested)

    def _learn(
        self,
        traces: Traces,
        limits: Limits,
        effort: int | None,
        on_progress: Callable[[Progress], None] | None,
        since: LearnResult | None,
        rng: np.random.Generator | None,
    ) -> LearnResult:
        steps, tree, contradiction = self._choose_labels(traces)
        blank = LearnResult(
            "unknown",
            None,
            (1, 0),
            self.objective,
            self.acyclic,
            self.engine.name,
            0.0,
            0,
            trigger_on=steps.triggers.kind,
            reward_on=steps.rewards.kind,
            explain=self.explain,
            contradiction=contradiction,
        )
        if contradiction is not None:
            result = replace(blank, status="unrealisable")
        elif not len(tree.mark_node):
            machine, ends = assembled(traces, steps, {}, {})
            why = "the reward is a function of its label alone: one state is enough"
            result = replace(blank, status="optimal", machine=machine, termination_conflicts=ends, proof=why)
        else:
            if not self._goes_on_from(traces, blank):
                self._forget()
            self._exemplars = self._exemplars or ExemplarSets(self.engine, self._auditor, self.acyclic)
            first = self._first_look(tree, limits, effort, on_progress) if self._looks and effort is not None else None
            search = Deepening(
                tree,
                self.engine,
                self.acyclic,
                self.objective,
                limits,
                auditor=self._auditor,
                on_progress=on_progress,
                known_optimum=_optimum_of(since or self._last, blank),
                exemplar_sets=self._exemplars,
                guessed_optimum=self._guess(self._size),
                first=first,
                books=self._books,
                effort=_less(effort, self._vain_searches),
            )
            result = _found(search, traces, steps, blank, rng)
            self._judge(result, first)
        self._calls, self._size = self._calls + 1, (result.states or 1, result.triggers or 0)
        self._traces, self._last = traces, self._last if result.status != "optimal" else result
        return result

    def _first_look(
        self, tree: PrefixTree, limits: Limits, effort: int, on_progress: Callable[[Progress], None] | None
    ) -> Delta | None:
        """A machine to begin with, by the search that takes least: few states, no cycles. The paper's own, unproven."""
        self._look = self._look or ExemplarSets(self.engine, None, acyclic=True)
        look = Deepening(
            tree,
            self.engine,
            True,
            "states",
            limits,
            on_progress=on_progress,
            exemplar_sets=self._look,
            effort=_less(effort, self._vain_looks),
            guessed_optimum=self._guess(self._look_size),
            last_resort=False,
            books=self._look_books,
        )
        look.run()
        self._look_size = None if look.best is None else size(look.best)
        if self._look_size is not None and self._look_size[1] > self._most_triggers:
            self._most_triggers, self._vain_searches = self._look_size[1], 0  # what grows may be an unrolled cycle
        return look.best

    def _judge(self, result: LearnResult, first: Delta | None) -> None:
        """The search that did not lead to the machine may take less the next time."""
        if first is None:
            self._vain_looks = 0
            return
        far_better = FAR_BETTER * (result.triggers or 0) <= size(first)[1]
        self._vain_looks = self._vain_looks + 1 if far_better else 0
        self._vain_searches = 0 if far_better or result.status == "optimal" else self._vain_searches + 1

    def _guess(self, last: tuple[int, int] | None) -> tuple[int, int] | None:
        """Where a search that leaves questions open starts: at the last size, but at times from what is proven."""
        return last if last is not None and last[1] and self._calls % RECONSIDER else None

    def _goes_on_from(self, traces: Traces, now: LearnResult) -> bool:
        """Whether these are the episodes of the last call, and perhaps more, under the same labels."""
        last, before = self._last, self._traces
        if before is None:
            return False
        if last is not None and (last.trigger_on, last.reward_on) != (now.trigger_on, now.reward_on):
            return False
        n, steps, seen = len(before), before.steps, len(before.observations)
        return (
            len(traces) >= n
            and np.array_equal(traces.offsets[: n + 1], before.offsets)
            and np.array_equal(traces.observations[:seen], before.observations)
            and np.array_equal(traces.actions[:steps], before.actions)
            and np.array_equal(traces.rewards[:steps], before.rewards)
            and traces.observation_values[: len(before.observation_values)] == before.observation_values
            and traces.action_values[: len(before.action_values)] == before.action_values
        )

    def _choose_labels(self, traces: Traces) -> tuple[LabelledSteps, PrefixTree, Contradiction | None]:
        """The coarsest labels, among those still allowed, under which some machine explains the episodes."""
        for number, (trigger, reward) in enumerate(self._labels):
            steps = label_traces(traces, trigger, reward, self.explain)
            tree, alike = build_tree(steps)
            contradiction = find_contradiction(steps, alike, traces)
            if contradiction is None:
                if number:
                    self._labels = self._labels[number:]
                    self._forget()
                return steps, tree, None
        assert contradiction is not None
        return steps, tree, _with_advice(traces, contradiction, self.explain)


def _found(
    search: Deepening, traces: Traces, steps: LabelledSteps, blank: LearnResult, rng: np.random.Generator | None
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
                    search.best = redrawn(search.best, labels, search.judge, rng)
                    labels = find_alternatives(search.best, search.judge, search.exemplar_nodes, limits)
        machine, ends = assembled(traces, steps, search.best, labels)
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


def _optimum_of(earlier: LearnResult | None, now: LearnResult) -> tuple[int, int] | None:
    """The size of an earlier optimum, if it was found under the same settings."""
    same = ("objective", "acyclic", "trigger_on", "reward_on", "explain")
    if earlier is None or earlier.machine is None or earlier.status != "optimal" or not earlier.triggers:
        return None
    if any(getattr(earlier, name) != getattr(now, name) for name in same):
        return None
    return earlier.machine.states, len(earlier.machine.triggers)


def _with_advice(traces: Traces, contradiction: Contradiction, explain: Explain) -> Contradiction:
    """Which finer labels would explain the episodes; if none can, the pair that even the finest cannot tell apart."""
    finest = contradiction
    for trigger, reward in auto_order():
        steps = label_traces(traces, trigger, reward, explain)
        found = find_contradiction(steps, build_tree(steps)[1], traces)
        if found is None:
            return replace(contradiction, advice=f"Labels {trigger}/{reward} (trigger/reward) would tell them apart.")
        finest = found
    n = finest.contradicting_episodes
    return replace(
        finest,
        trigger_on=contradiction.trigger_on,
        reward_on=contradiction.reward_on,
        advice=f"No label of a step can tell them apart: {n} of {len(traces)} episodes contradict others with the same "
        "history, a sign of noise or of something that the observations hide. Rounding may help (reward decimals).",
    )


def warm_up() -> None:
    """Loads and compiles what a first call would otherwise be timed with."""
    global _warm
    if not _warm:
        _warm = True
        learn(Traces.of([(["a", "b", "c"], [0, 0], [0, 0]), (["a", "a", "c"], [0, 0], [0, 1])]), engine="sat")


_warm = False
