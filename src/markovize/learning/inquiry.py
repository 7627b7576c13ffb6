"""Questions to an engine, and what may be believed of its answers.

An engine sees only *exemplars*: at first the shortest conflicting pairs, and whenever one of its machines fails on the
data, the shortest pairs it fails on join them. No machine is believed that :class:`~markovize.learning.judge.Judge` has
not replayed on all the data. An infeasibility on the exemplars holds for all the data, and is entered in what is proven
after what checks there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from markovize.errors import EngineError
from markovize.learning.engines.base import Answer, Delta, Verdict
from markovize.learning.exemplars import Exemplars, ExemplarSets
from markovize.learning.floors import Objective, Proven, Size, in_order
from markovize.learning.greedy import shrink
from markovize.learning.judge import Judge, check_witness, is_acyclic, size
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import PrefixTree

PAIRS: Final = 2  # violated pairs that join the exemplars at a time: few, since long exemplars slow down counted proofs
MORE_PAIRS: Final = 8  # or so many, where the number of triggers is not limited
FEW_NODES: Final = 500  # of a tree where some exemplars are soon all that is needed
FAILURE: Final = 100  # counted work of a machine that fails, where effort is limited: about what its replay takes


@dataclass(frozen=True)
class Goal:
    """What is the best machine, and whether it may return to a state."""

    objective: Objective = "triggers"
    acyclic: bool = False

    def order(self, delta: Delta) -> tuple[int, int]:
        """Smaller is better."""
        return in_order(self.objective, size(delta))


class Inquiry:
    """One tree's questions so far: the best machine, what is proven, and what was left open."""

    def __init__(self, tree: PrefixTree, exemplars: ExemplarSets, goal: Goal, proven: Proven) -> None:
        self.judge, self.exemplars, self.goal = Judge(tree), exemplars, goal
        self.best: Delta | None = None
        self.proven = proven  # about some of the episodes; in time, about them all
        self.assumed = proven.floors  # the same, and what was left open as if it were proven
        self.work = 0  # counted, of all questions
        self.failures = 0  # machines that failed on the data
        # whether questions without a count are put to all the data
        self.takes_all = len(tree) >= FEW_NODES and exemplars.uncounted.wants_all(tree)
        exemplars.follow(tree)
        start = self.judge.violations({})
        for each in (exemplars.counted, exemplars.uncounted):
            each.add(tree, start[:PAIRS])

    def ask(self, states: int, triggers: int | None, limits: Limits, *, failures_count: bool) -> Verdict:
        """Puts one question to the engine until it has an answer that holds for all the data.

        Where ``failures_count``, machines that fail on the data use up the limits' work as well.
        """
        exemplars, tree = self.exemplars.counted, self.judge.tree
        if triggers is None:
            exemplars = self.exemplars.uncounted
            if self.takes_all:
                exemplars.add_all(tree)
            else:
                exemplars.learn_from(self.exemplars.counted, tree)
        left = limits.work
        while True:
            limits.check()
            answer = exemplars.session.decide(states, triggers, replace(limits, work=left))
            self.work += answer.work
            if answer.verdict is Verdict.INFEASIBLE:
                smaller = self._audit_infeasible(exemplars, states, triggers, limits)
                if smaller is None:
                    self.exclude(states, triggers)
                    return Verdict.INFEASIBLE
                answer = smaller
            if answer.verdict is not Verdict.FEASIBLE:
                if limits.work is None or not answer.work:
                    raise Stop  # not out of counted work: the engine gave up
                return Verdict.UNKNOWN
            if self._try(exemplars, answer, states, triggers, limits):
                if answer.least is not None:
                    self._believe_least(states, answer.least)
                return Verdict.FEASIBLE
            self.failures += 1
            if left is not None:
                left = max(1, left - answer.work)
                if failures_count:
                    left -= min(left - 1, FAILURE)
                    self.work += FAILURE
                    if left == 1:
                        return Verdict.UNKNOWN

    def cube(self, number: int) -> Inquiry | None:
        """The same inquiry among some of all machines, with exemplars of its own; None where there are no more."""
        exemplars = self.exemplars.cube(number)
        if exemplars is None:
            return None
        twin = Inquiry(self.judge.tree, exemplars, self.goal, self.proven)
        twin.best = self.best
        return twin

    def join(self, cube: Inquiry) -> None:
        """What was found in a cube, the exemplars that it took and the work; not what is excluded there."""
        self.offer(cube.best)
        self.work, self.failures = self.work + cube.work, self.failures + cube.failures
        self.exemplars.counted.learn_from(cube.exemplars.counted, self.judge.tree)

    def exclude(self, states: int, triggers: int | None) -> None:
        """The question is answered: no."""
        self.proven = self.proven.with_infeasible(states, triggers)
        self.assumed = self.assumed.without(states, triggers)

    @property
    def spent(self) -> int:
        """The work of all questions, and of the replays that refuted machines."""
        return self.work + FAILURE * self.failures

    def offer(self, delta: Delta | None) -> None:
        """A machine that explains the data; the best is kept, but none with a cycle where there must not be one."""
        if delta is None or (self.best is not None and self.goal.order(delta) >= self.goal.order(self.best)):
            return
        if not self.goal.acyclic or is_acyclic(delta):
            self.best = delta

    def shrink(self, delta: Delta, limits: Limits) -> None:
        """Offers what is left of a machine after dropping triggers and merging states."""
        self.offer(shrink(delta, self.judge, acyclic=self.goal.acyclic, limits=limits))

    def leave_open(self, states: int, triggers: int) -> None:
        """From now on this question counts as answered, but not as proven."""
        self.assumed = self.assumed.without(states, triggers)

    @property
    def is_proven(self) -> bool:
        """Whether nothing is better than the best machine."""
        return self.best is not None and self.proven.floors.prove(self.goal.objective, size(self.best))

    @property
    def is_settled(self) -> bool:
        """Whether nothing better is left to be asked for; where no question was left open, the same as proven."""
        return self.best is not None and self.assumed.prove(self.goal.objective, size(self.best))

    def bounds(self) -> Size:
        """Proven lower bounds (states, triggers): of any machine, or of the optimum once it is proven."""
        if self.best is not None and self.is_proven:
            return size(self.best)
        floors = self.proven.floors
        return floors.next_question("states")[0], floors.next_question("triggers")[1]

    def check_minimal(self, limits: Limits) -> None:
        """A machine that shrinks by hand was never minimal: then some infeasibility was a lie."""
        if self.best is not None:
            smaller = shrink(self.best, self.judge, acyclic=self.goal.acyclic, limits=limits)
            if self.goal.order(smaller) < self.goal.order(self.best):
                self.best = smaller
                raise EngineError("the engine's proofs are wrong: dropping triggers or merging states still fits")

    # --- what is believed ------------------------------------------------------------------------------------------

    def _try(self, exemplars: Exemplars, answer: Answer, states: int, triggers: int | None, limits: Limits) -> bool:
        """Replays a claimed machine on everything; what it fails on joins the exemplars."""
        tree, witness = self.judge.tree, self._checked(answer, states, triggers)
        pairs = self.judge.violations(witness)
        if not len(pairs):
            self.offer(self.judge.prune(witness))
            if triggers is None:  # nobody asked for few triggers
                self.shrink(witness, replace(limits, work=None))
            return True
        few = (MORE_PAIRS if triggers is None else PAIRS) + tree.allowance.outliers
        if not exemplars.add(tree, pairs[:few]) and not self._add_evidence(exemplars, witness):
            raise EngineError("the engine's machine contradicts the very exemplars it was given")
        return False

    def _add_evidence(self, exemplars: Exemplars, witness: Delta) -> bool:
        """With outliers it takes many steps to speak against a machine: then all that do."""
        tree = self.judge.tree
        return bool(tree.allowance.outliers) and exemplars.add(tree, self.judge.evidence(witness))

    def _checked(self, answer: Answer, states: int, triggers: int | None) -> Delta:
        labels, acyclic = self.judge.tree.n_labels, self.goal.acyclic
        return check_witness(answer.delta, states=states, triggers=triggers, labels=labels, acyclic=acyclic)

    def _audit_infeasible(
        self, exemplars: Exemplars, states: int, triggers: int | None, limits: Limits
    ) -> Answer | None:
        """None if a claimed infeasibility may be believed; raises if a known machine or the auditor refutes it.

        An auditor may answer with a machine of fewer states, which refutes nothing: other exemplars may have excluded
        those. It is tried like any other, and what it fails on settles the question for both.
        """
        if self.best is not None:
            k, z = size(self.best)
            if k == states and (triggers is None or z <= triggers):
                raise EngineError(f"the engine calls {states} states infeasible, but a machine with {k} is known")
        if exemplars.audit is None:
            return None
        second = exemplars.audit.decide(states, triggers, replace(limits, work=None))
        if second.verdict is Verdict.UNKNOWN:
            raise Stop
        if second.verdict is Verdict.INFEASIBLE:
            return None
        if size(self._checked(second, states, triggers))[0] == states:
            raise EngineError(
                f"the engine calls {states} states and {triggers} triggers infeasible on the exemplars, "
                f"but {self.exemplars.auditor} found such a machine"
            )
        return replace(second, least=None)

    def _believe_least(self, states: int, least: int) -> None:
        """An engine's word that no machine with these states has fewer triggers; not that of one who is audited."""
        if self.best is not None and size(self.best)[0] == states and size(self.best)[1] < least:
            raise EngineError(f"the engine calls fewer than {least} triggers impossible, but such a machine is known")
        if self.exemplars.auditor is None and least - 1 >= self.proven.floors.at(states):
            self.exclude(states, least - 1)
