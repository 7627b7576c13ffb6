"""The default engine: Boolean satisfiability on the prefix tree of the exemplars, solved by Glucose.

The encoding follows SAT identification of automata (one state variable for each tree node) with three additions that
make the counted proofs short:

* *Numbering.* Every state but the initial one has a first trigger into it, the least (source, label) among those from
  smaller states. States are numbered so that these first triggers increase, which leaves one of many equal numberings.
* *Counting.* K states need K-1 first triggers: where z = K-1, in a tree machine, there are no others, and nothing is
  counted. Else all triggers are, state by state and label by label in the order in which the exemplars meet them. So
  what the counter adds up first are triggers on a piece of a way, which is what proofs argue with. Counting only
  triggers that are not first ones, with labels in any order, takes three to eight times as long with cycles. But its
  counter stays small where there are many states and triggers, so that is done there.
* *Apartness.* Two nodes with a common continuation that ends in different outcomes cannot share a state.

A reward label that determines its trigger label (all built-in kinds do) fixes u' once u is known, so its outcome is
keyed by u alone; others are keyed by (u, u').
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from markovize.episodes.traces import Ints
from markovize.learning.engines.base import Answer, Delta, Rules, Verdict
from markovize.learning.engines.exemplar_tree import ELSEWHERE, ExemplarTree
from markovize.learning.engines.history_graph import HistoryGraph, merge_histories
from markovize.learning.engines.levels import Levels
from markovize.learning.limits import Limits
from markovize.learning.native import run_aside, run_cancellable
from markovize.learning.outlier_count import OutlierCount
from markovize.learning.prefix_tree import PrefixTree

SLICE = 2_000  # conflicts between two looks at the clock; fixed, since a solver that was stopped takes another way
LARGE = 20_000  # variables, from which on even a slice may take long: it runs in a thread that can be cancelled
LONG_SECONDS = 0.1  # a slice that took longer is a reason for that, too
MOST_COUNTED = 12  # triggers that are all counted: the counter grows with the square of this
CUTS = (2, 4, 8)  # labels, in the order in which exemplars meet them, where a question is cut into cubes
CLAUSES = 2_000  # or so, between two looks at the clock while a formula is written


class SatEngine:
    """Exact, incremental, interruptible; the default."""

    name = "sat"

    def __init__(self, solver: str = "glucose4") -> None:
        self.solver = solver

    def open(self, rules: Rules) -> SatSession:
        """A fresh session."""
        return SatSession(self.solver, rules.acyclic)


@dataclass(frozen=True)
class Cube:
    """Some of the machines: those that leave the first state on none of some labels, but on one of some others.

    Of all labels in a fixed order, the first on which a machine leaves its first state is in one cube, whatever the
    numbers of the other states. The last cube names no others: it has all that those before it leave.
    """

    stays: tuple[int, ...] = ()
    leaves: tuple[int, ...] = ()


class SatSession:
    """Keeps one warm solver for each size asked about; new exemplars only add clauses."""

    def __init__(self, solver: str, acyclic: bool) -> None:
        self._solver = solver
        self._acyclic = acyclic
        self._exemplars = ExemplarTree()
        self._labels: list[int] = []
        self._cube = Cube()
        self._formulas: dict[tuple[int, int | None], Formula] = {}
        self._blocked: list[Delta] = []
        self._graph: HistoryGraph | None = None  # of all histories, where there are exemplars for them all
        self._has_all = False
        self._wholes: dict[int, Formula] = {}

    def wants_all(self, tree: PrefixTree) -> bool:
        from markovize.learning.engines.whole import MOST_LABELS, MOST_NODES

        is_small = len(tree) <= MOST_NODES and len(tree.alphabet) <= MOST_LABELS
        return is_small and not self._acyclic and tree.allowance.exact

    def block(self, delta: Delta) -> None:
        self._blocked.append(delta)

    def cube(self, number: int) -> SatSession | None:
        labels = [label for label in self._exemplars.as_met(self._labels) if label != ELSEWHERE]
        cuts = [0, *(cut for cut in CUTS if cut < len(labels)), len(labels)]
        if number >= len(cuts) - 1:
            return None
        twin = SatSession(self._solver, self._acyclic)
        twin._exemplars, twin._labels, twin._blocked = self._exemplars.copy(), [*self._labels], [*self._blocked]
        low, high = cuts[number], cuts[number + 1]
        twin._cube = Cube(tuple(labels[:low]), tuple(labels[low:high]) if high < len(labels) else ())
        return twin

    def extend(self, tree: PrefixTree, nodes: Ints) -> None:
        self._forget_whole()
        if self._exemplars.extend(tree, nodes):
            self._forget()  # a reward label no longer determines its trigger label: the clauses were too strong
        new = set(self._exemplars.alphabet) - set(self._labels)
        if new:
            self._labels += [label for label in self._exemplars.alphabet if label in new]
            self._forget()  # the numbering runs over the whole alphabet
        self._has_all = self.wants_all(tree) and len(self._exemplars.parent) == len(tree)

    def decide(self, states: int, triggers: int | None, limits: Limits) -> Answer:
        spare = None if triggers is None else triggers - (states - 1)
        if spare is not None and spare < 0:
            return Answer(Verdict.INFEASIBLE)  # each of the other states needs a trigger into it
        if triggers is None and self._has_all and not self._blocked:
            return self._decide_whole(states, limits)
        formula = self._formulas.get((states, spare))
        if formula is None:
            for key in [k for k in self._formulas if k[0] + 1 < states]:
                self._formulas.pop(key).close()
            # without a counter or cycles that order is of no use: Breakfast c, all rewards, took 1.4 times as long
            labels = self._exemplars.as_met(self._labels) if spare or not self._acyclic else self._labels
            formula = Formula(self._solver, states, spare, labels, self._acyclic, limits)
            formula.restrict(self._cube)
            self._formulas[states, spare] = formula
        formula.catch_up(self._exemplars, limits)
        formula.block(self._blocked)
        return formula.solve(limits)

    def _decide_whole(self, states: int, limits: Limits) -> Answer:
        from markovize.learning.engines.whole import WholeFormula

        self._graph = self._graph or merge_histories(self._exemplars)
        if states < self._graph.clique:
            return Answer(Verdict.INFEASIBLE)
        if states not in self._wholes:
            self._wholes[states] = WholeFormula(self._solver, states, self._graph, limits)
        return self._wholes[states].solve(limits)

    def _forget(self) -> None:
        for formula in self._formulas.values():
            formula.close()
        self._formulas.clear()

    def _forget_whole(self) -> None:
        for formula in self._wholes.values():
            formula.close()
        self._wholes.clear()
        self._graph, self._has_all = None, False


class Formula:
    """One size's clauses. The only place where integers that the solver knows meet their meanings.

    ``moves[x][i][j]``: δ(i, x) = j. ``at[v][k]``: node v is reached in state k.
    """

    def __init__(
        self, solver: str, states: int, spare: int | None, labels: list[int], acyclic: bool, limits: Limits
    ) -> None:
        from pysat.solvers import Solver

        self._solver = Solver(name=solver)
        self._add = self._solver.solver.add_clause  # without the detour by the wrapper: there are many
        self._top = 0
        self._states, self._acyclic = states, acyclic
        self._moves: dict[int, list[list[int]]] = {}
        self._at: list[list[int]] = []
        self._outcomes: defaultdict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        self._levels: dict[tuple[int, ...], Levels] = {}  # with a tolerance, in place of outcomes
        self._outliers = OutlierCount(self._new, self._add)
        self._marks_done = 0
        self._apart_done = 0
        self._blocked_done = 0
        self._slow = False
        self._looked = 0  # how many variables there were at the last look at the clock
        for label in labels:
            self._look(limits)
            self._moves[label] = self._function()
        if states > 1:
            counts_all = bool(spare) and spare is not None and spare + states - 1 <= MOST_COUNTED
            firsts, others = self._first_triggers(labels, limits, others=spare is not None and not counts_all)
            self._number_states(firsts, labels)
            if counts_all and spare is not None:
                self._count([-self._moves[x][i][i] for i in range(states) for x in labels], spare + states - 1)
            elif spare is not None:
                self._count(others, spare)
        stay = [row[i] for rows in self._moves.values() for i, row in enumerate(rows)]
        if spare is not None:
            self._solver.set_phases(stay)  # try "no trigger" first: machines come out small

    def restrict(self, cube: Cube) -> None:
        """Only machines of this cube."""
        for label in cube.stays:
            self._add([self._moves[label][0][0]])
        if cube.leaves:
            self._add([-self._moves[label][0][0] for label in cube.leaves])

    def close(self) -> None:
        self._solver.delete()

    # --- clauses ---------------------------------------------------------------------------------------------------

    def _function(self) -> list[list[int]]:
        """δ(·, x) is a function; acyclic machines only go to larger states (the paper's j ≥ i). 0: impossible."""
        rows = []
        for i in range(self._states):
            row = [0 if self._acyclic and j < i else self._new() for j in range(self._states)]
            self._exactly_one([v for v in row if v])
            rows.append(row)
        return rows

    def _first_triggers(
        self, labels: list[int], limits: Limits, *, others: bool
    ) -> tuple[list[dict[tuple[int, int], int]], list[int]]:
        """For each state j and (i, x), i < j: "some trigger from at most (i, x) leads to j"; and all other triggers.

        The latter only where ``others`` are asked for.
        """
        firsts: list[dict[tuple[int, int], int]] = [{}]
        rest: list[int] = []
        for j in range(1, self._states):
            chain: dict[tuple[int, int], int] = {}
            before = 0
            for i in range(j):
                self._look(limits)
                for x in labels:
                    move, upto = self._moves[x][i][j], self._new()
                    self._add([-move, upto])
                    if not before:
                        self._add([-upto, move])
                    else:
                        self._add([-before, upto])
                        self._add([-upto, before, move])
                        if others:
                            rest.append(self._new())
                            self._add([-before, -move, rest[-1]])
                    chain[i, x] = before = upto
            self._add([before])  # every state is entered
            firsts.append(chain)
        if others and not self._acyclic:
            rest += [self._moves[x][i][j] for i in range(self._states) for j in range(i) for x in labels]
        return firsts, rest

    def _number_states(self, firsts: list[dict[tuple[int, int], int]], labels: list[int]) -> None:
        """First triggers increase with the state; an acyclic machine may break that only by an edge j → j+1."""
        for j in range(1, self._states - 1):
            edge = []
            if self._acyclic:
                edge = [self._new()]
                moves = [self._moves[x][j][j + 1] for x in labels]
                self._add([-edge[0], *moves])
                for move in moves:
                    self._add([-move, edge[0]])
            for (i, x), upto in firsts[j + 1].items():
                if i < j:
                    self._add([-upto, firsts[j][i, x], *edge])

    def _count(self, triggers: list[int], most: int) -> None:
        """At most so many of them, by a totalizer that counts no further (``CardEnc`` would count them all)."""
        from pysat.card import ITotalizer

        if most >= len(triggers):
            return
        if most == 0:
            for trigger in triggers:
                self._add([-trigger])
            return
        with run_aside(lambda: ITotalizer(triggers, ubound=most, top_id=self._top)) as counter:
            for clause in counter.cnf.clauses:
                self._add(clause)
            self._add([-counter.rhs[most]])
            self._top = max(self._top, counter.top_id)

    def catch_up(self, tree: ExemplarTree, limits: Limits) -> None:
        """Adds the clauses of exemplars that came since the last call; may stop between two of them and go on later."""
        if not self._at:
            root = [self._new() for _ in range(self._states)]
            self._add([root[0]])
            for k in range(1, self._states):
                self._add([-root[k]])
            self._at.append(root)
        for v in range(len(self._at), len(tree.parent)):
            self._look(limits)
            self._node(tree.parent[v], tree.label[v])
        every = max(1, CLAUSES // (1 + tree.outliers))  # a mark that is counted has as many clauses
        for number, (node, label, outcome) in enumerate(tree.marks[self._marks_done :], self._marks_done):
            if number % every == 0:
                self._marks_done = number
                limits.check()
            self._mark(tree, node, label, outcome)
        self._marks_done = len(tree.marks)
        for number, (a, b) in enumerate(tree.apart[self._apart_done :], self._apart_done):
            if number % CLAUSES == 0:
                self._apart_done = number
                limits.check()
            for k in range(self._states):
                self._add([-self._at[a][k], -self._at[b][k]])
        self._apart_done = len(tree.apart)

    def block(self, machines: Sequence[Delta]) -> None:
        """Some trigger of each is missing: of all machines of its size, that is not so for the machine itself alone."""
        for delta in machines[self._blocked_done :]:
            self._add([-self._moves[x][i][j] for (i, x), j in delta.items()])
        self._blocked_done = len(machines)

    def _node(self, parent: int, label: int) -> None:
        """A node's state follows from its parent's by δ."""
        before, moves = self._at[parent], self._moves[label]
        here = [self._new() for _ in range(self._states)]
        self._exactly_one(here)
        for i in range(self._states):
            for j in range(self._states):
                move = moves[i][j]
                if move:
                    self._add([-before[i], -move, here[j]])
            if self._acyclic:
                self._add([-before[i], *here[i:]])
                self._add([-here[i], *before[: i + 1]])
        self._at.append(here)

    def _mark(self, tree: ExemplarTree, node: int, label: int, outcome: int) -> None:
        """Equal (u, reward label, u') have equal outcomes."""
        before, here = self._at[tree.parent[node]], self._at[node]
        unless = [self._outliers.outlier(tree.counts[node, label, outcome], tree.outliers)] if tree.outliers else []
        for i in range(self._states):
            if label not in tree.ambiguous:
                for true in self._pays((i, label), outcome, tree):
                    self._add([-before[i], true, *unless])
            else:
                for j in range(i if self._acyclic else 0, self._states):
                    for true in self._pays((i, label, j), outcome, tree):
                        self._add([-before[i], -here[j], true, *unless])

    def _pays(self, key: tuple[int, ...], outcome: int, tree: ExemplarTree) -> tuple[int, ...]:
        """What is true if this key has this outcome."""
        if tree.width is None:
            return (self._outcome(key, outcome, tree.clash),)
        levels = self._levels.get(key)
        if levels is None:
            levels = self._levels[key] = Levels(tree.width, self._new, self._add)
        return levels.have(*tree.level(outcome))

    def _outcome(self, key: tuple[int, ...], outcome: int, clash: Callable[[int, int], bool]) -> int:
        """ "This key has this outcome", and so no other."""
        known = self._outcomes[key]
        if outcome not in known:
            new = self._new()
            for other, its in known.items():
                if clash(other, outcome):
                    self._add([-new, -its])
            known[outcome] = new
        return known[outcome]

    # --- solving ---------------------------------------------------------------------------------------------------

    def solve(self, limits: Limits) -> Answer:
        """In slices of counted work, so that the clock, Ctrl-C and the display get their turn."""
        start = self._conflicts()
        while True:
            limits.check()
            spent = self._conflicts() - start
            if limits.work is not None and spent >= limits.work:
                return Answer(Verdict.UNKNOWN, work=spent)
            self._solver.conf_budget(SLICE if limits.work is None else min(SLICE, limits.work - spent))
            found = self._solve_slice(limits)
            if found is not None:
                break
        work = self._conflicts() - start
        if not found:
            return Answer(Verdict.INFEASIBLE, work=work)
        return Answer(Verdict.FEASIBLE, self._delta(self._solver.get_model()), work)

    def _solve_slice(self, limits: Limits) -> bool | None:
        """One slice; a small formula's is over so soon that nobody need be able to cancel it."""
        if self._slow or self._top > LARGE:
            try:
                return run_cancellable(self._solve, self._solver.interrupt, limits)
            finally:
                self._solver.clear_interrupt()
        start = perf_counter()
        found = self._solve()
        self._slow = perf_counter() - start > LONG_SECONDS
        return found

    def _solve(self) -> bool | None:
        found: bool | None = self._solver.solve_limited(expect_interrupt=True)
        return found

    def _delta(self, model: list[int]) -> Delta:
        return {
            (i, x): j
            for x, rows in self._moves.items()
            if x != ELSEWHERE
            for i, row in enumerate(rows)
            for j, move in enumerate(row)
            if move and j != i and model[move - 1] > 0
        }

    def _conflicts(self) -> int:
        stats: dict[str, Any] = self._solver.accum_stats()
        return int(stats["conflicts"])

    def _look(self, limits: Limits) -> None:
        """At the clock, from time to time: a variable has about as many clauses as there are states."""
        if (self._top - self._looked) * self._states >= CLAUSES:
            self._looked = self._top
            limits.check()

    def _new(self) -> int:
        self._top += 1
        return self._top

    def _exactly_one(self, literals: list[int]) -> None:
        self._add(literals)
        for a, first in enumerate(literals):
            for second in literals[:a]:
                self._add([-first, -second])
