"""From a tree of episodes to the smallest machine: deepening and lazy exemplars.

The engine answers one kind of question (see :mod:`markovize.learning.engines.base`). This module decides which to ask,
believes no machine that :class:`~markovize.learning.judge.Judge` has not replayed on all the data, and keeps what is
proven (see :mod:`markovize.learning.floors`).

Only *exemplars* reach the engine: it starts with the shortest conflicting pairs, and whenever a machine fails on the
data, the shortest pairs it fails on join them. An infeasibility on the exemplars holds for all the data.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from markovize.episodes.traces import Ints
from markovize.errors import EngineError
from markovize.learning.engines.base import Answer, Delta, Engine, Verdict
from markovize.learning.exemplars import Exemplars, ExemplarSets
from markovize.learning.floors import Objective, Proven, Size, in_order
from markovize.learning.greedy import MOST_TRIGGERS, first_machine, shrink
from markovize.learning.judge import Judge, check_witness, size
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import PrefixTree

GRACE_SECONDS = 0.25  # after the time is up, for a better machine than the tree itself
MOST_TABLE = 20_000_000  # states × labels of a machine that spells out the prefix tree
MOST_SPELLED = 10_000  # its states: a third of a second to number them and to collect their rewards
PAIRS = 2  # violated pairs that join the exemplars at a time
MORE_PAIRS = 8  # or so many, where the number of triggers is not limited
FIRST_BUDGET = 1_000  # counted work before another question gets its turn
OPEN_QUESTIONS = 5  # times the effort of one, after which no more are asked
FAILURE = 100  # counted work of a machine that fails, where effort is limited
NEAR = 4  # triggers above the smallest open question, where effort is limited, that are not halved
FAVOUR = 8  # times that for the more promising question


@dataclass(frozen=True)
class Progress:
    """What a long solve is doing."""

    phase: str
    states: int
    triggers: int | None
    lower: tuple[int, int]
    best: tuple[int, int] | None
    exemplars: int


@dataclass
class Deepening:
    """One search for the smallest machine. ``run`` returns True if it ended with a proof."""

    tree: PrefixTree
    engine: Engine
    acyclic: bool = False
    objective: Objective = "triggers"
    limits: Limits = field(default_factory=Limits)
    auditor: Engine | None = None
    on_progress: Callable[[Progress], None] | None = None
    exemplar_sets: ExemplarSets | None = None  # of an earlier search on some of these episodes
    effort: int | None = None  # counted work after which a question is left open and the next one asked
    guessed_optimum: Size | None = None  # with an effort only: where to start, proven or not
    first: Delta | None = None  # a machine to begin with
    last_resort: bool = True  # whether any machine is better than none
    proven: Proven = field(default_factory=Proven)  # about some of these episodes; at the end, about them all

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self.judge = Judge(self.tree)
        self._guess = self.proven.floors  # what is proven, and what was left open as if it were
        if self.effort is not None and self.guessed_optimum is not None:
            self._guess = self._guess.without_better_than(self.objective, self.guessed_optimum)
        self.best: Delta | None = None
        if self.exemplar_sets is None:
            self.exemplar_sets = ExemplarSets(self.engine, self.auditor, self.acyclic)
        self.exemplar_sets.follow(self.tree)
        self._counted, self._uncounted = self.exemplar_sets.counted, self.exemplar_sets.uncounted
        self._work = 0
        self._phase = "first machine"
        self._asked: tuple[int, int | None] = (1, None)

    @property
    def exemplars(self) -> int:
        return len(self.exemplar_nodes)

    @property
    def interrupted(self) -> bool:
        return self.limits.interrupt.requested

    def run(self) -> bool:
        """Searches until the floors prove the best machine, or the limits stop it."""
        limits = replace(self.limits, pulse=self._pulse)
        try:
            start = self.judge.violations({})
            for exemplars in (self._counted, self._uncounted):
                exemplars.add(self.tree, start[:PAIRS])
            if self.first is None:
                self._first_machine(limits, MOST_TRIGGERS)
            else:
                self._offer(shrink(self.first, self.judge, acyclic=self.acyclic, limits=limits))
            while not self._settled():
                self._settle(*self._next_question())
            if not self._proven():
                return False
            self._check_minimal()
        except Stop:
            if self.best is None and self.last_resort:
                self._last_resort()
            return False
        return True

    def bounds(self) -> tuple[int, int]:
        """Proven lower bounds (states, triggers): of any machine, or of the optimum once it is proven."""
        if self.best is not None and self._proven():
            return size(self.best)
        floors = self.proven.floors
        return floors.next_question("states")[0], floors.next_question("triggers")[1]

    def proof(self) -> str:
        """In one line, what excludes anything smaller."""
        if self.best is None:
            return ""
        k, questions = size(self.best)[0], self.proven.questions
        further = "the second state needs" if k == 2 else f"each of the {k - 1} further states needs"
        if not questions:
            return f"one state cannot explain the conflict, and {further} a trigger"
        last = [(s, "any number of" if t is None else f"at most {t}") for s, t in questions][-3:]
        shown = "; ".join(f"{s} states with {t} triggers" for s, t in last)
        proofs = "1 infeasibility proof" if len(questions) == 1 else f"{len(questions)} infeasibility proofs"
        return (
            f"{further} a trigger, and {proofs} on {self.exemplars} exemplars exclude every smaller machine, "
            f"the last: {shown}"
        ) + ("" if self.auditor is None else f"; {self.auditor.name} confirmed each of them")

    def _last_resort(self) -> None:
        """Time or effort is spent and there is no machine: the tree itself is one, and a little more may find a better.

        Where only the effort is spent, that is counted as well: the clock may end a search, never steer it.
        """
        now, tree, limits = time.monotonic(), self.tree, self.limits
        if len(tree) <= MOST_SPELLED and len(tree) * tree.n_labels <= MOST_TABLE:
            self._offer({(int(tree.parent[v]), int(tree.label[v])): v for v in range(1, len(tree))})
        if self.interrupted or limits.remaining() == 0:
            little = Limits(now + min(GRACE_SECONDS, now - self._started))
        else:
            unlimited = self.effort is None or self.best is None  # any machine is better than none
            work = None if unlimited or self.effort is None else OPEN_QUESTIONS * self.effort
            little = replace(limits, work=work, pulse=self._pulse)
        with contextlib.suppress(Stop):
            self._first_machine(little, len(tree))

    def _first_machine(self, limits: Limits, most_triggers: int) -> None:
        found = first_machine(self.judge, limits=limits, most_triggers=most_triggers)
        if found is not None:
            self._offer(self.judge.prune(found))
            self._offer(shrink(found, self.judge, acyclic=self.acyclic, limits=limits))

    # --- questions -------------------------------------------------------------------------------------------------

    def _next_question(self) -> tuple[int, int]:
        """The smallest that is open; but where effort is limited and the best machine is far above it, half-way there.

        Many triggers less are soon found, and a machine with far too many explains little of what comes next.
        """
        states, triggers = self._guess.next_question(self.objective)
        if self.effort is not None and self.objective == "states" and self.best is not None:
            k, z = size(self.best)
            if k == states and z - triggers > NEAR:
                return states, (triggers + z) // 2
        return states, triggers

    def _settle(self, states: int, triggers: int) -> None:
        """Decides the question (K, z), in turns of growing counted work with the question without a count.

        Where the latter is infeasible the whole row of K states is done. Tree machines (z = K-1) and cyclic ones are
        better asked with the count, the others without: the favourite gets eight times the work.
        """
        budget, spent = FIRST_BUDGET, {True: 0, False: 0}
        tree_like = triggers == states - 1
        counted_first = tree_like or (self.objective == "triggers" and not self.acyclic)
        while True:
            for turn, counted in enumerate((counted_first, not counted_first)):
                if not counted and not self._row_may_fall(states):
                    continue
                work = budget if turn else FAVOUR * budget
                if self.effort is not None:
                    work = min(work, self.effort - spent[counted])
                if work > 0:
                    self._check_effort()
                    verdict = self._ask(states, triggers if counted else None, work)
                    if verdict is Verdict.INFEASIBLE or (counted and verdict is Verdict.FEASIBLE) or self._settled():
                        return
                spent[counted] += work
            if self.effort is not None and spent[True] >= self.effort:
                self._guess = self._guess.without(states, triggers)  # left open
                return
            budget *= 2

    def _check_effort(self) -> None:
        """Many open questions are a reason to stop as well."""
        if self.effort is not None and self._work > OPEN_QUESTIONS * self.effort:
            raise Stop

    def _row_may_fall(self, states: int) -> bool:
        """Whether it is open if ``states`` states suffice with any number of triggers.

        With cycles and unlimited triggers a few states explain almost anything, which is hard to refute: where only the
        number of triggers matters first, that question is not worth asking.
        """
        if self.objective == "triggers" and not self.acyclic:
            return False
        return self.best is None or states < size(self.best)[0]

    def _ask(self, states: int, triggers: int | None, work: int | None) -> Verdict:
        """Puts one question to the engine until it has an answer that holds for all the data."""
        self._phase, self._asked = "searching", (states, triggers)
        exemplars = self._counted
        if triggers is None:
            exemplars = self._uncounted
            exemplars.learn_from(self._counted, self.tree)
        left = work
        while True:
            limits = replace(self.limits, work=left, pulse=self._pulse)
            limits.check()
            answer = exemplars.session.decide(states, triggers, limits)
            self._work += answer.work
            if answer.verdict is Verdict.INFEASIBLE:
                return self._believe_infeasible(exemplars, states, triggers)
            if answer.verdict is not Verdict.FEASIBLE:
                if work is None or not answer.work:
                    raise Stop  # not out of counted work: the engine gave up
                return Verdict.UNKNOWN
            if self._try(exemplars, answer, states, triggers):
                if answer.least is not None:
                    self._believe_least(states, answer.least)
                return Verdict.FEASIBLE
            if left is not None:
                left = max(1, left - answer.work)
                if self.effort is not None:  # machines that fail on the data cost as well
                    left -= min(left - 1, FAILURE)
                    self._work += FAILURE
                    if left == 1:
                        return Verdict.UNKNOWN

    def _try(self, exemplars: Exemplars, answer: Answer, states: int, triggers: int | None) -> bool:
        """Replays a claimed machine on everything; what it fails on joins the exemplars."""
        witness = check_witness(
            answer.delta, states=states, triggers=triggers, labels=self.tree.n_labels, acyclic=self.acyclic
        )
        pairs = self.judge.violations(witness)
        if not len(pairs):
            self._offer(self.judge.prune(witness))
            if triggers is None:  # nobody asked for few triggers
                limits = replace(self.limits, pulse=self._pulse)
                self._offer(shrink(witness, self.judge, acyclic=self.acyclic, limits=limits))
            return True
        if not exemplars.add(self.tree, pairs[: MORE_PAIRS if triggers is None else PAIRS]):
            raise EngineError("the engine's machine contradicts the very exemplars it was given")
        return False

    def _believe_infeasible(self, exemplars: Exemplars, states: int, triggers: int | None) -> Verdict:
        """Enters a claimed infeasibility in the books, after what checks there are."""
        if self.best is not None:
            k, z = size(self.best)
            if k == states and (triggers is None or z <= triggers):
                raise EngineError(f"the engine calls {states} states infeasible, but a machine with {k} is known")
        if exemplars.audit is not None:
            second = exemplars.audit.decide(states, triggers, replace(self.limits, pulse=self._pulse))
            if second.verdict is Verdict.FEASIBLE:
                raise EngineError(
                    f"the engine calls {states} states and {triggers} triggers infeasible on the exemplars, "
                    f"but {self.auditor.name if self.auditor else ''} found such a machine"
                )
            if second.verdict is Verdict.UNKNOWN:
                raise Stop
        self._exclude(states, triggers)
        return Verdict.INFEASIBLE

    def _believe_least(self, states: int, least: int) -> None:
        if self.best is not None and size(self.best)[0] == states and size(self.best)[1] < least:
            raise EngineError(f"the engine calls fewer than {least} triggers impossible, but such a machine is known")
        if self.auditor is None and least - 1 >= self.proven.floors.at(states):
            self._exclude(states, least - 1)

    def _exclude(self, states: int, triggers: int | None) -> None:
        self.proven = self.proven.with_infeasible(states, triggers)
        self._guess = self._guess.without(states, triggers)

    # --- the best machine so far -----------------------------------------------------------------------------------

    def _offer(self, delta: Delta | None) -> None:
        if delta is not None and (self.best is None or self._order(delta) < self._order(self.best)):
            self.best = delta

    def _order(self, delta: Delta) -> tuple[int, int]:
        return in_order(self.objective, size(delta))

    def _proven(self) -> bool:
        return self.best is not None and self.proven.floors.prove(self.objective, size(self.best))

    def _settled(self) -> bool:
        """Whether nothing better is left to be asked for; without an effort, the same as proven."""
        return self.best is not None and self._guess.prove(self.objective, size(self.best))

    def _check_minimal(self) -> None:
        """A machine that shrinks by hand was never minimal: then some infeasibility was a lie."""
        if self.best is not None:
            limits = replace(self.limits, pulse=self._pulse)
            smaller = shrink(self.best, self.judge, acyclic=self.acyclic, limits=limits)
            if self._order(smaller) < self._order(self.best):
                self.best = smaller
                raise EngineError("the engine's proofs are wrong: dropping triggers or merging states still fits")

    def _pulse(self) -> None:
        if self.on_progress is not None:
            best = None if self.best is None else size(self.best)
            self.on_progress(Progress(self._phase, *self._asked, self.bounds(), best, self.exemplars))

    @property
    def exemplar_nodes(self) -> Ints:
        """The nodes that end the exemplars."""
        return np.array(list({**self._counted.nodes, **self._uncounted.nodes}), np.int32)
