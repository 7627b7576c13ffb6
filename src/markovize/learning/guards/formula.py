"""Is there a machine with so many states, triggers and reward guards that explains the exemplars? As clauses, grown.

Each of the K states but the first has a trigger of its own that enters it from a state with a smaller number; the other
triggers are free. ``at[node][u]``: the machine is in state u after the steps that lead to the node, where nodes are the
beginnings of exemplars, equal ones merged. Each *cell* (u, label, valuation of the reward guards, u') has one outcome
(see :mod:`markovize.learning.guards.cells`), and each step of an exemplar says of all cells: if it is there, its
outcome is the cell's, unless it is one of the outliers that are allowed for. That is linear in the steps, where pairs
of steps would be quadratic.

Where very many outcomes are told apart, an exemplar's own step says exactly what it was paid, and those on the way
to it only roughly: what is left out can only make a formula satisfiable, and the judge has the last word.

Reward guards may be exchanged, so they are ordered by where they hold on the first steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from time import perf_counter
from typing import Any, Final, NamedTuple

import numpy as np

from markovize.errors import EngineError
from markovize.learning.guards.candidate import Candidate, Move
from markovize.learning.guards.cells import BitCells, Cells, WindowCells
from markovize.learning.guards.problem import GuardProblem
from markovize.learning.guards.shares import Place, Share
from markovize.learning.guards.sides import Clauses
from markovize.learning.guards.slots import Blur, Slot
from markovize.learning.limits import Limits
from markovize.learning.native import run_aside, run_cancellable
from markovize.learning.outlier_count import OutlierCount

SLICE: Final = 1_000  # conflicts between two looks at the clock
LARGE: Final = 20_000  # variables, from which on even a slice may take long: it runs in a thread that can be cancelled
LONG_SECONDS: Final = 0.1  # a slice that took longer is a reason for that, too
FIRST_CUTS: Final = 16  # of each numeric feature, in each guard
ORDERED: Final = 30  # steps by which reward guards are ordered


class Split(NamedTuple):
    """How the guards of a machine are spent, and on how many states."""

    states: int
    triggers: int
    reward_guards: int

    @property
    def guards(self) -> int:
        return self.triggers + self.reward_guards


class Formula:
    """The clauses of one split. The only place where integers that the solver knows meet their meanings."""

    def __init__(self, problem: GuardProblem, split: Split, *, acyclic: bool) -> None:
        from pysat.solvers import Solver

        self._problem, self._split = problem, split
        self._solver = Solver(name="glucose4")
        self._clauses = Clauses(self._solver.solver.add_clause)  # without the detour by the wrapper: there are many
        cuts = _first_cuts(problem)
        self._slots = [Slot(self._clauses, problem.numeric, cuts) for _ in range(split.guards)]
        self._true = self._clauses.new()
        self._clauses.add([self._true])
        self._sources: list[dict[int, int]] = []
        self._targets: list[dict[int, int]] = []
        self._place_triggers(acyclic)
        self._between = self._steps_between()
        self._at = [[self._true if u == 0 else -self._true for u in range(split.states)]]
        self._nodes: dict[tuple[int, int], int] = {}
        self._marked: set[tuple[int, int, int, int, bool]] = set()
        self._cells, self._roughly = self._choose_cells()
        self._outliers = OutlierCount(self._clauses.new, self._clauses.add)
        self._excuses: dict[tuple[int, int, int, int], int] = {}
        self._equal_so_far = [0] * split.reward_guards
        self._ordered = 0
        self._most: list[int] = []
        self._most_of: list[list[int]] = []  # the same for each group of sides
        self._bounds: dict[int, tuple[int, int]] = {}  # of an assumption: which group, and how many literals
        self._slow = False
        self._blurs: list[Blur] = []  # of each guard of the last candidate
        self.exemplars = 0  # how many of the exemplars it knows

    def close(self) -> None:
        """Frees the solver."""
        self._solver.delete()

    # --- clauses -----------------------------------------------------------------------------------------------------

    def _choose_cells(self) -> tuple[Cells, bool]:
        """What cells pay, and whether steps on the way to an exemplar say it only roughly."""
        pays, clauses = self._problem.pays, self._clauses
        if pays is None or pays.is_partition:
            return BitCells(clauses, self._problem.n_outcomes), False
        return WindowCells(clauses, pays), len(pays.grid) < len(pays.levels)

    def _place_triggers(self, acyclic: bool) -> None:
        clauses, states = self._clauses, self._split.states
        for number in range(self._split.triggers):
            if number < states - 1:  # enters the next state, from one with a smaller number
                source = {0: self._true} if number == 0 else {u: clauses.new() for u in range(number + 1)}
                target = {number + 1: self._true}
            else:
                source = {u: clauses.new() for u in range(states)}
                target = {u: clauses.new() for u in range(states)}
                clauses.exactly_one(list(target.values()))
                for u, v in product(source, target):
                    if u == v or (acyclic and u > v):
                        clauses.add([-source[u], -target[v]])
            if len(source) > 1:
                clauses.exactly_one(list(source.values()))
            self._sources.append(source)
            self._targets.append(target)

    def add_exemplar(self, step: int) -> None:
        """The episode of this step, from its beginning to the step: all its steps must be explained."""
        problem, node = self._problem, 0
        for n in range(int(problem.offsets[problem.episode_of[step]]), step + 1):
            number, row = int(problem.row_of[n]), problem.row(n)
            after = self._go(node, number, row)
            if problem.matters[n]:
                self._mark(node, after, number, row, n, roughly=self._roughly and n < step)
            node = after

    def _go(self, node: int, number: int, row: tuple[int, ...]) -> int:
        """The node after a step with these features."""
        known = self._nodes.get((node, number))
        if known is not None:
            return known
        after = self._nodes[node, number] = len(self._at)
        states, triggers = self._split.states, self._split.triggers
        if not triggers:
            self._at.append(self._at[0])
            return after
        clauses, before = self._clauses, self._at[node]
        here = [clauses.new() for _ in range(states)]
        self._at.append(here)
        clauses.exactly_one(here)
        fires = [self._fires(g, before, here, number, row) for g in range(triggers)]
        for u in range(states):
            clauses.add([-before[u], here[u], *fires])
        return after

    def _fires(self, trigger: int, before: list[int], after: list[int], number: int, row: tuple[int, ...]) -> int:
        """The variable "this trigger fires at the step"; it leads to its target then."""
        clauses = self._clauses
        holds, fires = self._slots[trigger].holds(number, row), clauses.new()
        clauses.add([-fires, holds])
        for u, is_source in self._sources[trigger].items():
            clauses.add([-is_source, -before[u], -holds, fires])
            clauses.add([-is_source, before[u], -fires])
        for v, is_target in self._targets[trigger].items():
            clauses.add([-fires, -is_target, after[v]])
        return fires

    def _mark(self, node: int, after: int, number: int, row: tuple[int, ...], step: int, *, roughly: bool) -> None:
        """The step's outcome is that of its cell, whichever that is."""
        label, outcome = int(self._problem.labels[step]), int(self._problem.outcomes[step])
        if (node, number, label, outcome, roughly) in self._marked:
            return
        self._marked.add((node, number, label, outcome, roughly))
        split, clauses = self._split, self._clauses
        valued = [slot.holds(number, row) for slot in self._slots[split.triggers :]]
        before, behind = self._at[node], self._at[after]
        excuse = self._excuse(step, (node, number, label, outcome))
        for u, v in self._between:
            place = [-before[u], -behind[v], *excuse] if split.triggers else excuse
            for valuation in product((False, True), repeat=len(valued)):
                unless = place + [-holds if wanted else holds for holds, wanted in zip(valued, valuation, strict=True)]
                for required in self._cells.require((u, label, valuation, v), outcome, roughly=roughly):
                    clauses.add([*unless, required])
        if self._ordered < ORDERED:
            self._ordered += 1
            self._order_reward_guards(valued)

    def _excuse(self, step: int, mark: tuple[int, int, int, int]) -> list[int]:
        """Where outliers are allowed for, the variable "this mark's steps are outliers"."""
        pays = self._problem.pays
        if pays is None or not pays.allowance.outliers:
            return []
        if mark not in self._excuses:
            copies = int(self._problem.copies[step])
            self._excuses[mark] = self._outliers.outlier(copies, pays.allowance.outliers)
        return [self._excuses[mark]]

    def _steps_between(self) -> list[tuple[int, int]]:
        """The pairs (u, u') that a step may have."""
        states = range(self._split.states)
        ways = list(zip(self._sources, self._targets, strict=True))
        return [
            (u, v)
            for u, v in product(states, states)
            if u == v or any(u in source and v in target for source, target in ways)
        ]

    def _order_reward_guards(self, valued: list[int]) -> None:
        """Of two neighbours, the first one holds at the first of these steps at which they differ."""
        clauses = self._clauses
        for pair, (one, other) in enumerate(pairwise(valued)):
            unless = [-self._equal_so_far[pair]] if self._equal_so_far[pair] else []
            equal = clauses.new()
            clauses.add([*unless, one, -other])
            clauses.add([*unless, one, other, equal])
            clauses.add([*unless, -one, -other, equal])
            self._equal_so_far[pair] = equal

    # --- questions ---------------------------------------------------------------------------------------------------

    @property
    def conflicts(self) -> int:
        """Counted work so far."""
        stats: dict[str, Any] = self._solver.accum_stats()
        return int(stats["conflicts"])

    @property
    def core(self) -> tuple[int | None, ...]:
        """After a share that has no answer: the bounds that are the reason; None for groups whose bound is not."""
        bounds: dict[int, int] = dict(self._bounds[literal] for literal in self._solver.get_core() or [])
        return tuple(bounds.get(group) for group in range(len(self._most_of)))

    def group(self, groups: Sequence[Sequence[Place]]) -> None:
        """Literals are shared out among these groups of sides."""
        used = [dict(zip(slot.places, slot.used, strict=True)) for slot in self._slots]
        self._most_of = [
            self._count([used[guard][feature, side] for guard, feature, side in group]) for group in groups
        ]

    def solve(self, literals: int | Share | None, work: int, limits: Limits) -> Candidate | bool | None:
        """A candidate with at most so many literals; False if there is none, a proof; None if the work is spent.

        ``literals``: in all, or for each group.
        """
        assumptions = self._assume_share(literals) if isinstance(literals, tuple) else self._at_most(literals)
        self._solver.set_phases(self._clauses.likely)  # without literals first: guards come out wide
        start = self.conflicts
        while True:
            limits.check()
            spent = self.conflicts - start
            if spent >= work:
                return None
            self._solver.conf_budget(min(SLICE, work - spent))
            found = self._solve_slice(assumptions, limits)
            if found is not None:
                return self._read(self._solver.get_model()) if found else False

    def _at_most(self, literals: int | None) -> list[int]:
        """What to assume."""
        used = [variable for slot in self._slots for variable in slot.used]
        if literals is None or literals >= len(used):  # the search knows that this is no bound
            return []
        if literals == 0:
            return [-variable for variable in used]
        if not self._most:
            self._most = self._count(used)
        return [-self._most[literals]]

    def _assume_share(self, share: Share) -> list[int]:
        """What to assume so that each group has at most so many literals."""
        out = []
        for group, (most, literals) in enumerate(zip(self._most_of, share, strict=True)):
            if literals < len(most):
                out.append(-most[literals])
                self._bounds[out[-1]] = group, literals
        return out

    def _count(self, used: list[int]) -> list[int]:
        """Variables "more than 0, 1, … of these"."""
        from pysat.card import ITotalizer

        if len(used) == 1:
            return list(used)
        counter = run_aside(lambda: ITotalizer(used, ubound=len(used) - 1, top_id=self._clauses.top))
        self._clauses.top = counter.top_id
        for clause in counter.cnf.clauses:
            self._clauses.add(clause)
        counted = list(counter.rhs)
        counter.delete()
        return counted

    def _solve_slice(self, assumptions: list[int], limits: Limits) -> bool | None:
        def solve() -> bool | None:
            found: bool | None = self._solver.solve_limited(assumptions=assumptions, expect_interrupt=True)
            return found

        if self._slow or self._clauses.top > LARGE:
            try:
                return run_cancellable(solve, self._solver.interrupt, limits)
            finally:
                self._solver.clear_interrupt()
        start = perf_counter()
        found = solve()
        self._slow = perf_counter() - start > LONG_SECONDS
        return found

    def _read(self, model: list[int]) -> Candidate:
        truth = np.zeros(self._clauses.top + 1, np.bool_)
        truth[1 : len(model) + 1] = np.array(model) > 0

        def chosen(options: dict[int, int]) -> int:
            return next(u for u, variable in options.items() if truth[variable])

        read = [slot.read(truth) for slot in self._slots]
        self._blurs = [blur for _, blur in read]
        boxes, triggers = [box for box, _ in read], self._split.triggers
        moves = [
            Move(chosen(source), box, chosen(target))
            for source, box, target in zip(self._sources, boxes[:triggers], self._targets, strict=True)
        ]
        return Candidate(tuple(moves), tuple(boxes[triggers:]))

    @property
    def is_blurred(self) -> bool:
        """Whether the last candidate differs from the model that it was read from."""
        return any(blur.cuts or blur.rows for blur in self._blurs)

    def sharpen(self) -> None:
        """Looks more closely where the last candidate differs from its model: that model is no other's, either."""
        told = [slot.sharpen(blur) for slot, blur in zip(self._slots, self._blurs, strict=True)]
        if not any(told):
            raise EngineError("a candidate differs from its model for no reason; this is a bug, please report it")


def _first_cuts(problem: GuardProblem) -> list[list[int]]:
    """Of each numeric feature some values, evenly among all; the others are told apart where it matters."""
    cuts: list[list[int]] = []
    for codes, numeric in zip(problem.codes, problem.numeric, strict=True):
        last = int(codes.max(initial=0))
        cuts.append(np.unique(np.linspace(0, last, FIRST_CUTS).astype(np.int64)).tolist() if numeric else [])
    return cuts
