"""From a tree of episodes to the smallest machine: which questions are asked, in which order, and when to stop.

:mod:`markovize.learning.inquiry` puts a question and knows what to believe; :mod:`markovize.learning.floors` holds what
is proven, and so which question is the smallest that is open.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from markovize.learning.beam import explain_in_beam
from markovize.learning.cubes import ask_in_cubes, count_cores
from markovize.learning.engines.base import Delta, Verdict
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.floors import Proven, Size, in_order
from markovize.learning.greedy import MOST_TRIGGERS, first_machine
from markovize.learning.inquiry import Goal, Inquiry
from markovize.learning.judge import size
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import PrefixTree
from markovize.learning.state_merging import merge_states

GRACE_SECONDS: Final = 0.25  # after the time is up, for a better machine than the tree itself
MOST_TABLE: Final = 20_000_000  # states × labels of a machine that spells out the tree: 80 MB
MOST_SPELLED: Final = 10_000  # its states: a third of a second to number them and to collect their rewards
FIRST_BUDGET: Final = 1_000  # counted work before another question gets its turn: about a tenth of a second
# turns for few triggers before a machine with few states: on 18 samples (Breakfast, words of automata) none or 8 took
# 1.2 and 1.05 of the time of 4
GLANCE: Final = 4
FAVOUR: Final = 8  # times that for the more promising question
OPEN_QUESTIONS: Final = 5  # times the effort of one, after which no more are asked
LAST_RESORT: Final = 20  # times the effort of a question, for any machine where there is none: about ten seconds
LEAST_LAST_RESORT: Final = 20_000  # counted work, where the effort is small: about two seconds
NEAR: Final = 4  # triggers above the smallest open question, where effort is limited, that are not halved
FAR: Final = 1.5  # times the smallest open question, from which on the best machine is a reason to look for another
CLIMB: Final = 20  # turns of work for a tree machine that has far fewer triggers than the best, or where there is none
MOST_TREE: Final = 9  # states of the largest: with more, a machine that loops or merges is the better guess
GROWTH: Final = 10_000  # counted work of a machine that grows: about a second
CUT: Final = 8_000  # counted work of a question, after which it is cut into cubes
LEAST_CUT: Final = 100_000  # the effort of a question, where it is limited, for that: others are to be short
STROLL: Final = 2  # turns of work for one that has only somewhat fewer


CHOOSING: Final = "comparing machines with allowances for noise"  # before the search that proves what is smallest


@dataclass(frozen=True)
class Progress:
    """What a long solve is doing."""

    phase: str
    states: int
    triggers: int | None
    lower: Size
    best: Size | None
    exemplars: int
    labels: str = ""  # (trigger/reward) where those of several are compared
    guards: tuple[int, int] | None = None  # and literals of the best machine, where triggers are guards
    hint: str = ""  # what may be the reason where a search is long

    def sentence(self, seconds: float) -> str:
        """One line: phase, the size in question, what is proven, the best machine, exemplars, time.

        >>> Progress("searching", 4, 5, (4, 5), (4, 6), 72).sentence(3.21)
        'searching K=4 z≤5 · proven K≥4 z≥5 · best K=4 z=6 · 72 exemplars · 3.2 s'
        >>> Progress(CHOOSING, 1, None, (1, 0), None, 0).sentence(3.21)
        'comparing machines with allowances for noise · 3.2 s'
        """
        parts = [*filter(None, [self.labels]), self.phase]
        if self.phase == "searching":
            parts[-1] += f" K={self.states}" + ("" if self.triggers is None else f" z≤{self.triggers}")
            parts.append(f"proven K≥{self.lower[0]} z≥{self.lower[1]}")
        if self.best is not None:
            guards = "" if self.guards is None else f", {self.guards[0]} guards, {self.guards[1]} literals"
            parts.append(f"best K={self.best[0]} z={self.best[1]}{guards}")
        if self.phase != CHOOSING:
            parts.append(f"{self.exemplars} exemplars")
        return " · ".join([*parts, f"{seconds:.1f} s"])


def _at_most(triggers: int | None) -> str:
    """
    >>> _at_most(None), _at_most(1), _at_most(2)
    ('any number of triggers', 'at most 1 trigger', 'at most 2 triggers')
    """
    if triggers is None:
        return "any number of triggers"
    return f"at most {triggers} trigger{'' if triggers == 1 else 's'}"


def is_due(listener: Callable[[Progress], None]) -> bool:
    """Whether a listener wants to hear: one that has ``is_due`` says when, others hear of everything.

    What they hear takes a while to put together, and searches ask thousands of times a second.
    """
    says_when: Callable[[], bool] | None = getattr(listener, "is_due", None)
    return says_when is None or says_when()


Look: TypeAlias = Callable[[Limits, Callable[[Delta | None], None]], None]
"""A search that takes less. It offers machines that explain the data but need not be the smallest."""


@dataclass(frozen=True)
class Plan:
    """How a search begins, how much it may take, and how it ends."""

    effort: int | None = None  # counted work after which a question is left open and the next one asked
    guess: Size | None = None  # with an effort only: the optimum may be there; where to start, proven or not
    first: Delta | None = None  # a machine to begin with
    last_resort: bool = True  # whether any machine is better than none
    turn: int = FIRST_BUDGET  # counted work before another question gets its turn
    asks: bool = True  # whether anything smaller than the first machine is looked for, other than by shrinking it
    gives_up: bool = False  # at the first question that is left open: then nothing is proven
    look: Look | None = None  # where the search proves to be long
    cores: int | None = None  # that long questions may use; by default all there are


def _never(_search: Deepening) -> bool:
    return False


class Deepening:
    """One search for the smallest machine. ``run`` returns whether it ended with a proof."""

    def __init__(
        self,
        tree: PrefixTree,
        exemplars: ExemplarSets,
        goal: Goal,
        limits: Limits | None = None,
        *,
        plan: Plan | None = None,
        proven: Proven | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.inquiry = Inquiry(tree, exemplars, goal, proven or Proven())
        self._plan = plan or Plan()
        self._on_progress = on_progress
        limits = limits or Limits()
        self._pulse_outside = limits.pulse
        self.limits = replace(limits, pulse=self._pulse)
        self._started = time.monotonic()
        self._asked: tuple[str, int, int | None] = ("first machine", 1, None)
        self._questions = self._search()
        self._has_looked = False  # for a good machine, whatever is proven
        self._may_pause: Callable[[Deepening], bool] = _never
        self.is_proven = False  # whether it ended with a proof
        if self._plan.effort is not None:
            self.inquiry.takes_all = False  # a few exemplars stay where they are, whatever comes next
        if self._plan.effort is not None and self._plan.guess is not None:
            self.inquiry.assumed = self.inquiry.assumed.without_better_than(goal.objective, self._plan.guess)

    @property
    def best(self) -> Delta | None:
        """The best machine so far; it explains all the data."""
        return self.inquiry.best

    def run(self) -> bool:
        """Searches until the floors prove the best machine, or the limits stop it."""
        self._may_pause = _never
        for _ in self._questions:
            pass
        return self.is_proven

    def run_unless(
        self, hopeless: Callable[[Deepening], bool], ever: Callable[[Deepening], bool] | None = None
    ) -> bool:
        """As :meth:`run`, but pauses before a question if ``hopeless``; False if it has. More of it goes on there.

        ``ever`` says whether that may still come, by default always: then no batch of long questions is begun, which
        would not pause.
        """
        self._may_pause = ever or (lambda _search: True)
        return all(not hopeless(self) for _ in self._questions)

    def _search(self) -> Iterator[None]:
        """Gives way before each question."""
        inquiry, plan = self.inquiry, self._plan
        try:
            if plan.first is None:
                self._build_first(self.limits, MOST_TRIGGERS)
            else:
                inquiry.shrink(plan.first, self._shrinking)
            if inquiry.best is None and inquiry.takes_all:
                yield from self._try_few_triggers()
            if inquiry.best is None and inquiry.takes_all:
                yield from self._find_few_states()
            while not inquiry.is_settled and (plan.asks or inquiry.best is None):
                yield from self._settle(*self._next_question())
            if inquiry.is_proven:
                inquiry.check_minimal(self.limits)
                self.is_proven = True
        except Stop:
            if inquiry.best is None and plan.last_resort:
                self._last_resort()

    def begin_listing(self) -> Limits:
        """The limits of who looks for other machines as small as the best; progress says so."""
        if self.best is not None:
            self._asked = ("listing machines of this size", *size(self.best))
        return self.limits

    @property
    def _shrinking(self) -> Limits:
        """With a tolerance replays take long: where effort is limited they share it."""
        is_exact = self.inquiry.judge.tree.allowance.exact
        return self.limits if is_exact else replace(self.limits, work=self._plan.effort)

    def proof(self) -> str:
        """In one line, what excludes anything smaller."""
        if self.best is None:
            return ""
        k, questions, exemplars = size(self.best)[0], self.inquiry.proven.questions, self.inquiry.exemplars
        further = "the second state needs" if k == 2 else f"each of the {k - 1} further states needs"
        if not questions:
            return f"one state cannot explain the conflict, and {further} a trigger"
        shown = "; ".join(f"{states} states with {_at_most(triggers)}" for states, triggers in questions[-3:])
        one = len(questions) == 1
        proofs = f"{len(questions)} infeasibility proof{'' if one else 's'} on {len(exemplars.nodes)} exemplars"
        return (
            f"{further} a trigger, and {proofs} exclude{'s' if one else ''} every smaller machine, the last: {shown}"
        ) + ("" if exemplars.auditor is None else f"; {exemplars.auditor} confirmed each of them")

    # --- questions -------------------------------------------------------------------------------------------------

    def _next_question(self) -> Size:
        """The smallest that is open; but where effort is limited and the best machine is far above it, half-way there.

        Many triggers less are soon found, and a machine with far too many explains little of what comes next.
        """
        objective, best = self.inquiry.goal.objective, self.best
        states, triggers = self.inquiry.assumed.next_question(objective)
        if self._plan.effort is not None and objective == "states" and best is not None:
            k, z = size(best)
            if k == states and z - triggers > NEAR:
                return states, (triggers + z) // 2
        return states, triggers

    def _settle(self, states: int, triggers: int) -> Iterator[None]:
        """Decides the question (K, z), in turns of growing counted work with the question without a count.

        Where the latter is infeasible the whole row of K states is done. Tree machines (z = K-1) and cyclic ones are
        better asked with the count, the others without, and so is what is put to all the data: the favourite gets eight
        times the work.
        """
        goal, effort = self.inquiry.goal, self._plan.effort
        budget, spent = self._plan.turn, {True: 0, False: 0}
        tree_like = triggers == states - 1
        counted_first = (tree_like and not self.inquiry.takes_all) or (
            goal.objective == "triggers" and not goal.acyclic
        )
        while True:
            if self._should_look():
                yield from self._look_for_good()
                if self.inquiry.is_settled or self.inquiry.assumed.at(states) > triggers:
                    return
            if spent[True] >= CUT and self._can_cut(states):
                yield
                self._settle_in_cubes(states, triggers)
                return
            for turn, counted in enumerate((counted_first, not counted_first)):
                if not counted and not self._row_may_fall(states):
                    continue
                work = budget if turn else FAVOUR * budget
                if effort is not None:
                    work = min(work, effort - spent[counted])
                if work > 0:
                    yield
                    before = self.best
                    verdict = self._ask(states, triggers if counted else None, work)
                    # without a count a machine answers nothing; but a better one may change what is asked next
                    found = verdict is Verdict.FEASIBLE and (
                        counted or (effort is not None and self.best is not before)
                    )
                    answered = verdict is Verdict.INFEASIBLE or found
                    if answered or self.inquiry.is_settled:
                        return
                spent[counted] += work
            if effort is not None and spent[True] >= effort:
                if self._plan.gives_up:
                    raise Stop
                self.inquiry.leave_open(states, triggers)
                return
            budget *= 2

    def _ask(self, states: int, triggers: int | None, work: int) -> Verdict:
        """One question."""
        self._check_work()
        self._asked = ("searching", states, triggers)
        limits = replace(self.limits, work=work)
        return self.inquiry.ask(states, triggers, limits, failures_count=self._plan.effort is not None)

    def _check_work(self) -> None:
        """Many questions that were left open are a reason to stop as well."""
        effort = self._plan.effort
        if effort is not None and self.inquiry.work > OPEN_QUESTIONS * effort:
            raise Stop

    def _can_cut(self, states: int) -> bool:
        """Whether the question is worth cutting: where it is put without a count as well, that is the better chance."""
        effort = self._plan.effort
        is_long = not self._may_pause(self) and (effort is None or effort >= LEAST_CUT)
        return is_long and not self._row_may_fall(states) and self.inquiry.exemplars.can_cut

    def _settle_in_cubes(self, states: int, triggers: int) -> None:
        """Decides a long question, and with it all others that are open with as many triggers."""
        inquiry, plan = self.inquiry, self._plan
        questions = [(states, triggers)]
        if inquiry.goal.objective == "triggers":
            most = triggers + 1 if self.best is None or size(self.best)[1] > triggers else size(self.best)[0] - 1
            rows = (k for k in range(2, most + 1) if inquiry.assumed.at(k) == triggers and self._can_cut(k))
            questions = [(k, triggers) for k in rows]
        self._asked = ("searching", states, triggers)
        self._check_work()
        work = None if plan.effort is None else plan.effort // 2  # a cube is about a quarter of its question
        limits, cores = replace(self.limits, work=work), plan.cores or count_cores()
        left_open = ask_in_cubes(inquiry, questions, limits, cores=cores, failures_count=plan.effort is not None)
        if left_open is not None:
            if plan.gives_up:
                raise Stop
            inquiry.leave_open(*left_open)

    def _row_may_fall(self, states: int) -> bool:
        """Whether it is open if ``states`` states suffice with any number of triggers.

        With cycles and unlimited triggers a few states explain almost anything, which is hard to refute: where only the
        number of triggers matters first, that question is not worth asking.
        """
        goal = self.inquiry.goal
        if goal.objective == "triggers" and not goal.acyclic:
            return False
        return self.best is None or states < size(self.best)[0]

    def _try_few_triggers(self) -> Iterator[None]:
        """Where triggers are to be few, such a machine in a few turns: repairing conflicts may have missed it."""
        inquiry = self.inquiry
        while inquiry.best is None and (left := GLANCE * self._plan.turn - inquiry.work) > 0:
            states, triggers = self._next_question()
            if inquiry.goal.objective == "states" or triggers > MOST_TREE:
                return
            yield
            if self._ask(states, triggers, left) is Verdict.UNKNOWN:
                return

    def _find_few_states(self) -> Iterator[None]:
        """Where no few triggers do, a machine with few states: by merging histories, and if that is soon found, fewest.

        What is proven on the way holds whatever the objective.
        """
        inquiry, states = self.inquiry, 2
        inquiry.offer(merge_states(inquiry.judge, self.limits))
        while inquiry.best is None or states < size(inquiry.best)[0]:
            if inquiry.assumed.at(states) < math.inf:
                yield
                if self._ask(states, None, self._plan.turn) is not Verdict.INFEASIBLE:
                    return
            states += 1

    def _should_look(self) -> bool:
        """Whether the search is no short one, and the best machine is far above what is proven, or there is none.

        Who has one waits longer.
        """
        turn, effort = self._plan.turn, self._plan.effort
        patience = turn // 2 if effort is not None else turn // 4 if self.best is None else FAVOUR * turn
        return not self._has_looked and self.inquiry.spent > patience and self._is_far

    @property
    def _is_far(self) -> bool:
        """Whether the best machine is far above what is proven, or there is none."""
        goal, inquiry = self.inquiry.goal, self.inquiry
        if self.best is None:
            return True
        have, least = goal.order(self.best), in_order(goal.objective, inquiry.assumed.next_question(goal.objective))
        return have[0] > FAR * least[0]

    def _look_for_good(self) -> Iterator[None]:
        """A good machine before the long proofs: one that grows, or by a search that takes less, then by tree machines.

        In a tree machine each trigger enters a state of its own, and nothing is counted: it is soon found or excluded.
        Without cycles, and where states are to be few, the search itself soon has a machine.
        """
        inquiry, plan = self.inquiry, self._plan
        self._has_looked = True
        if inquiry.judge.tree.allowance.exact:
            self._grow()
            if not self._is_far:
                return
        if inquiry.goal.acyclic or inquiry.goal.objective == "states":
            return
        if plan.look is not None:
            self._asked = ("looking for a good machine", 1, None)
            plan.look(self.limits, inquiry.offer)
            if self.best is not None:
                inquiry.shrink(self.best, self._shrinking)
        states = 2
        while states <= MOST_TREE and (self.best is None or states - 1 < size(self.best)[1]):
            if inquiry.assumed.at(states) < states:
                yield
                far = self.best is None or size(self.best)[1] >= FAR * states
                work = (CLIMB if far else STROLL) * plan.turn
                work = work if plan.effort is None else min(work, plan.effort)
                if self._ask(states, states - 1, work) is Verdict.FEASIBLE:
                    return
            states += 1

    # --- machines by hand ------------------------------------------------------------------------------------------

    def _build_first(self, limits: Limits, most_triggers: int) -> None:
        """A machine to begin with, by repairing one conflict after another."""
        found = first_machine(self.inquiry.judge, limits=limits, most_triggers=most_triggers)
        self._take(found, limits)

    def _grow(self) -> None:
        """A machine that grows along several ways at a time; where few triggers do, it is soon found."""
        self._asked = ("growing a machine", 1, None)
        inquiry, effort = self.inquiry, self._plan.effort
        work = GROWTH if effort is None else min(GROWTH, effort // 2)
        found = explain_in_beam(inquiry.judge, self.limits, acyclic=inquiry.goal.acyclic, work=work)
        self._take(found, self.limits)

    def _take(self, found: Delta | None, limits: Limits) -> None:
        """A machine that explains the data, as it is and then as small as it gets by hand."""
        if found is not None:
            self.inquiry.offer(self.inquiry.judge.prune(found))
            self.inquiry.shrink(found, limits)

    def _last_resort(self) -> None:
        """Time or effort is spent and there is no machine: the tree itself is one, and a little more may find a better.

        Where only the effort is spent, that is counted as well: the clock may end a search, never steer it.
        """
        now, tree, effort = time.monotonic(), self.inquiry.judge.tree, self._plan.effort
        if len(tree) <= MOST_SPELLED and len(tree) * tree.n_labels <= MOST_TABLE:
            self.inquiry.offer({(int(tree.parent[v]), int(tree.label[v])): v for v in range(1, len(tree))})
        if self.limits.interrupt.requested or self.limits.remaining() == 0:
            little = Limits(now + min(GRACE_SECONDS, now - self._started))
        elif effort is None:  # any machine is better than none
            little = self.limits
        elif self.best is None:
            little = replace(self.limits, work=max(LAST_RESORT * effort, LEAST_LAST_RESORT))
        else:
            little = replace(self.limits, work=OPEN_QUESTIONS * effort)
        self._asked = ("last resort, repairing one conflict after another", 1, None)
        with contextlib.suppress(Stop):
            self._build_first(little, len(tree))

    def _pulse(self) -> None:
        self._pulse_outside()
        if self._on_progress is not None and is_due(self._on_progress):
            best = None if self.best is None else size(self.best)
            exemplars = len(self.inquiry.exemplars.nodes)
            self._on_progress(Progress(*self._asked, self.inquiry.bounds(), best, exemplars))
