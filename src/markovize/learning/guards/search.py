"""From a problem to the machine with the fewest guards, then literals, then states: which questions, in which order.

A *question* is a split (states, triggers, reward guards) with a bound on the literals, or without. It is put to the
formula of the split, which knows some exemplars; a candidate that comes out is run over all the data, and where it
fails the steps that tell against it become exemplars. So a question ends with a machine that explains everything, or
with a proof that there is none. Work is counted, not timed; questions take turns of growing work, level by level (the
number of guards), so that a machine is found soon, while the levels below it are refuted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from markovize.errors import EngineError
from markovize.learning.guards.candidate import Candidate, Size
from markovize.learning.guards.formula import Formula, Split
from markovize.learning.guards.growth import first_machine
from markovize.learning.guards.levels import Levels, Question
from markovize.learning.guards.memory import Proven
from markovize.learning.guards.noisy_judge import judge_of
from markovize.learning.guards.polish import drop_literals
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.guards.relevance import rank_features
from markovize.learning.guards.shares import Share, Shares, share_out
from markovize.learning.limits import Limits, Stop
from markovize.learning.search import Progress

FIRST_WORK: Final = 2_000  # conflicts of the first turns
AGAIN_WORK: Final = 8_000  # for a machine of a size below which nothing is left to refute
ROUND_WORK: Final = 20  # counted for each candidate, so that many cheap ones end a turn, too
FIRST_EXEMPLARS: Final = 40  # of each outcome but the commonest
MORE_EXEMPLARS: Final = 4  # of each kind of violation
UNCOUNTED: Final = 4  # as much less work, in all, without a bound on literals where there is a bound
AHEAD: Final = 4  # turns after which the next level above is looked at, too
MANY_FEATURES: Final = 5  # numeric ones, above which a machine is looked for with few of them first
FEW_FEATURES: Final = (2, 3, 5)
LOOK_WORK: Final = 20_000  # counted work of such a look: some seconds
LOOK_GUARDS: Final = 3  # where so many with few features do not do, other features are wanted and not more guards
MOST_GUARDS: Final = 12  # levels above this are not looked at


class GuardSearch:
    """One search. ``run`` ends with a proof or, by the limits, early."""

    def __init__(
        self,
        problem: GuardProblem,
        limits: Limits,
        *,
        acyclic: bool = False,
        effort: int | None = None,
        most_guards: int = MOST_GUARDS,
        exemplars: list[int] | None = None,
        proven: Proven | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        first: Candidate | None = None,
        grows: bool = True,
    ) -> None:
        self._first, self._grows = first, grows
        self._excused = 0 if problem.pays is None else problem.pays.allowance.outliers
        self.problem, self.judge = problem, judge_of(problem)
        self.exemplars: list[int] = []  # steps, each with its episode up to it
        self._known: set[int] = set()
        self._acyclic, self._effort, self._most_guards = acyclic, effort, most_guards
        self._asked: tuple[Split, int | Share | None] = (Split(1, 0, 0), None)
        self._on_progress = on_progress
        self._pulse_outside = limits.pulse
        self.limits = replace(limits, pulse=self._pulse)
        self.best: Candidate | None = None
        self.work = 0
        self.proven = proven  # by an earlier call, of the first of these episodes
        self._levels = Levels(problem, proven)
        self.refutations = 0 if proven is None else proven.refutations  # questions proven to have no answer
        self.lower = 0 if proven is None else proven.size.guards  # proven: guards that are needed at least
        self.is_proven = False
        self._add(exemplars or [])

    @property
    def size(self) -> Size | None:
        return None if self.best is None else self.best.size

    @property
    def literals_lower(self) -> int:
        """Proven: with as few guards as are proven to be needed, at least so many literals."""
        open_ = [q.floor for q in self._levels.at(self.lower) if not q.refuted]
        return min(open_, default=0)

    def run(self) -> None:
        """Until the best machine is proven, or the limits stop it."""
        try:
            self._offer(Candidate())
            self._add(self._first_exemplars())
            self._begin_with_a_machine()
            self._ask_for_the_proven_size()
            self._look_with_few_features()
            turns = Counter[int]()  # of each level: one that comes up later begins with little work, too
            while not self._is_settled():
                lowest = self.lower
                for level in range(lowest, self._last_level(turns[lowest] // AHEAD) + 1):
                    turns[level] += 1
                    self._take_turns(level, FIRST_WORK * 2 ** (turns[level] - 1))
                    if self._is_settled() or (self.size is not None and self.size.guards <= level):
                        break
                if self._effort is not None and self.work > self._effort:
                    return
            self.is_proven = True
        except Stop:
            return
        finally:
            self._levels.close()

    def _begin_with_a_machine(self) -> None:
        """The one that is given; with outliers, one that is grown by hand, since formulas tell little there."""
        first = self._first
        if first is None and self._grows and self.size is None and self._excused:
            first = first_machine(self.problem, self.judge, self.limits, acyclic=self._acyclic)
        if first is not None:
            self._offer(first)

    def ask_once(self, split: Split, literals: int | None, work: int) -> Candidate | None:
        """A machine of this split with at most so many literals, if one is found with so much work."""
        question = Question(split)
        self._add(self._first_exemplars())
        try:
            self._ask(question, literals, work)
        except Stop:
            pass
        finally:
            question.close()
        return self.best

    def _ask_for_the_proven_size(self) -> None:
        """Episodes that came since the last call mostly move its thresholds."""
        if self.proven is not None and self.size is None:
            guards, literals, states, triggers = self.proven.size
            split = Split(states, triggers, guards - triggers)
            for question in self._levels.at(guards):
                if question.split == split:
                    self._ask(question, literals, AGAIN_WORK)

    def _look_with_few_features(self) -> None:
        """Where there are many features, a machine soon: with the most promising ones, then with more of them.

        Names of things ask for no such look: they have few values, and all of them are soon in the formula.
        """
        problem = self.problem
        if self.size is not None or sum(problem.numeric) <= MANY_FEATURES:
            return
        order = rank_features(problem)
        for few in FEW_FEATURES:
            places = sorted(order[:few])
            part = problem.select(places)
            if not part.is_realisable:  # no number of guards would do, and every one more costs more
                continue
            look = GuardSearch(part, self.limits, acyclic=self._acyclic, effort=LOOK_WORK, most_guards=LOOK_GUARDS)
            look.run()
            if look.best is not None:
                self._offer(_with_features(look.best, places))
                for question in look._levels.at(look.best.size.guards):
                    if question.machine is not None:
                        self._levels.question(question.split).machine = _with_features(question.machine, places)
                return
            self.limits.check()

    # --- levels ------------------------------------------------------------------------------------------------------

    def _last_level(self, ahead: int) -> int:
        most = self.lower + ahead
        return most if self.size is None else min(most, self.size.guards)

    def _is_settled(self) -> bool:
        """Raises the lower bound as far as levels are refuted; whether the best machine is proven."""
        while self.size is None or self.size.guards > self.lower:
            if not all(question.refuted for question in self._levels.at(self.lower)):
                return False
            self.lower += 1
            if self.lower > self._most_guards:
                raise Stop
        return all(question.is_closed(self.size) for question in self._levels.at(self.lower))

    def _take_turns(self, level: int, work: int) -> None:
        """Each open question of a level: first whether there is any machine, then with few literals."""
        any_work = work if any(self.problem.numeric) else work // UNCOUNTED  # names of things take few literals
        for question in self._levels.at(level):
            if not question.is_closed(self._best_of(level)):
                if self._best_of(level) is None:
                    self._ask(question, None, any_work)
                else:
                    self._close(question, level, work)
        self._climb(level, work)
        for question in self._levels.at(level):
            if not question.is_closed(self._best_of(level)):
                self._close(question, level, work)

    def _climb(self, level: int, work: int) -> None:
        """With as few literals as are not refuted, the least first, until there is a machine or the work is spent."""
        left = {question.split: work for question in self._levels.at(level)}
        while self._best_of(level) is None:
            open_ = [q for q in self._levels.at(level) if not q.refuted and left[q.split] > 0]
            if not open_:
                return
            question = min(open_, key=lambda q: q.floor)
            before = self.work
            self._ask(question, question.floor, left[question.split])
            left[question.split] -= self.work - before

    def _close(self, question: Question, level: int, work: int) -> None:
        """Better than the best of its level, or a proof that it is not."""
        best = self._best_of(level)
        more = work // UNCOUNTED - question.any_work
        if question.machine is None and self._ask(question, None, more) is False:
            return  # what has no answer at all is often refuted sooner without a count
        best = self._best_of(level)
        while best is not None and not question.is_closed(best):
            if self._ask_below(question, question.target(best), work) is None:
                return
            best = self._best_of(level)

    def _ask_below(self, question: Question, literals: int, work: int) -> bool | None:
        """With at most so many literals, shared out among groups of sides in every way."""
        shares = self._share_out(question, literals)
        if shares is None:
            return self._ask(question, literals, work)
        evenly = (literals // len(shares.groups),) * len(shares.groups)
        near = shares.share_of(question.machine) if question.machine else evenly
        for share in shares.left(literals, near):
            if not shares.is_refuted(share):  # by now
                found = self._ask(question, share, work)
                if found is not False:
                    return found
        self._refute(question, literals)
        return False

    def _share_out(self, question: Question, literals: int) -> Shares | None:
        """How literals are shared out for a question; the same ever after, since refutations are by group."""
        if question.shares is None and literals and self.best is not None:
            near = {bound.feature for box in self.best.boxes for bound in box}
            question.shares = share_out(literals, self.problem.numeric, question.split.guards, near)
            if question.shares is not None:
                self._formula(question).group(question.shares.groups)
        return question.shares if literals else None

    def _best_of(self, level: int) -> Size | None:
        return self.size if self.size is not None and self.size.guards <= level else None

    # --- questions ---------------------------------------------------------------------------------------------------

    def _ask(self, question: Question, literals: int | Share | None, work: int) -> bool | None:
        """True if a machine came out that explains everything, False if there is none, None if the work is spent."""
        self._asked = question.split, literals
        formula, left = self._formula(question), work
        while left > 0:
            self._teach(formula)
            before = formula.conflicts
            found = formula.solve(literals, left, self.limits)
            spent = formula.conflicts - before + ROUND_WORK
            left, self.work = left - spent, self.work + spent
            question.any_work += spent if literals is None else 0
            if found is None:
                return None
            if found is False:
                if isinstance(literals, tuple):
                    assert question.shares is not None
                    question.shares.refute(formula.core)
                else:
                    self._refute(question, literals)
                return False
            assert isinstance(found, Candidate)
            if formula.is_blurred and not self.judge.explains(found):
                formula.sharpen()
                continue
            smaller = self._offer(found)
            if smaller is not None:
                question.machine = smaller if smaller.split == found.split else found
                return True
        return None

    def _formula(self, question: Question) -> Formula:
        if question.formula is None:
            question.formula = Formula(self.problem, question.split, acyclic=self._acyclic)
        return question.formula

    def _refute(self, question: Question, literals: int | None) -> None:
        self.refutations += 1
        if literals is None or literals >= self._most_literals(question.split):
            question.refuted = True
            question.close()
        else:
            question.floor = max(question.floor, literals + 1)

    def _most_literals(self, split: Split) -> int:
        """As many as the guards of a split can have."""
        return split.guards * sum(2 if numeric else 1 for numeric in self.problem.numeric)

    def _offer(self, candidate: Candidate) -> Candidate | None:
        """Keeps a candidate that explains everything; from another one learns what tells against it.

        Returns it without what it can do without; None if it does not explain everything.
        """
        more = self.judge.object_to(candidate, self._known, max(MORE_EXEMPLARS, self._excused + 1))
        if more is not None:
            if not more and candidate.boxes:  # the empty one comes from no formula, and exemplars may be remembered
                raise EngineError("a candidate fails on what it was made for; this is a bug, please report it")
            self._add(more)
            return None
        smaller = drop_literals(candidate, self.judge, self.limits)
        if self.size is None or smaller.size < self.size:
            self.best = smaller
        return smaller

    # --- exemplars ---------------------------------------------------------------------------------------------------

    def _first_exemplars(self) -> list[int]:
        """The shallowest steps of each outcome but the commonest: those that are paid, as a rule."""
        problem, out = self.problem, []
        most = max(FIRST_EXEMPLARS, 2 * self._excused)  # fewer than are excused would tell nothing
        counts = np.bincount(problem.kinds[problem.matters], minlength=1)
        for outcome in np.argsort(counts, kind="stable")[:-1].tolist():
            steps = np.flatnonzero((problem.kinds == outcome) & problem.matters)
            out += steps[np.argsort(problem.depth[steps], kind="stable")][:most].tolist()
        return out

    def _add(self, steps: list[int]) -> None:
        for step in steps:
            if step not in self._known:
                self._known.add(step)
                self.exemplars.append(step)

    def _teach(self, formula: Formula) -> None:
        """The exemplars that it does not know."""
        while formula.exemplars < len(self.exemplars):
            self.limits.check()
            formula.add_exemplar(self.exemplars[formula.exemplars])
            formula.exemplars += 1

    def _pulse(self) -> None:
        self._pulse_outside()
        if self._on_progress is not None:
            split, literals = self._asked
            most = sum(literals) if isinstance(literals, tuple) else literals
            bound = "" if most is None else f" with at most {most} literals"
            asked = f"guards: {split.triggers} for triggers, {split.reward_guards} for rewards{bound}"
            best = None if self.size is None else (self.size.states, self.size.triggers)
            guards = None if self.size is None else (self.size.guards, self.size.literals)
            phase, seen = f"{asked} · proven: at least {self.lower}", len(self.exemplars)
            self._on_progress(Progress(phase, split.states, split.triggers, (1, 0), best, seen, guards=guards))


def _with_features(candidate: Candidate, places: Sequence[int]) -> Candidate:
    """The same over other features, of which its own are those at these places."""
    return candidate.with_boxes(
        tuple(bound._replace(feature=places[bound.feature]) for bound in box) for box in candidate.boxes
    )
