"""The paper's integer program (Appendix A), one function per equation, and the engine that has it solved.

The program is written over exemplar traces τ_m with steps n, exactly as the paper has it: nothing is merged,
nothing is clever. It is the engine to read and to check the others against, not the fast one. A trace is a
path of trigger labels x; a step may carry marks (y, r): reward label y was seen there with outcome r. Indices
count from 0 here, from 1 in the paper; u_1 is state 0.

    O[m,n,i,j]  step n of trace m goes from state i to state j
    I[x,i,j]    some step labelled x goes from i to j; a *hidden trigger* where i ≠ j
    I[y,r,i,j]  some step from i to j with reward label y has outcome r

Solvers are behind :class:`Model`: see :mod:`markovize.learning.engines.highs` and
:mod:`markovize.learning.engines.gurobi`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from markovize.episodes.traces import Bools, Floats, Ints
from markovize.errors import EngineError, UnsupportedError
from markovize.learning.engines.base import Answer, Rules, Verdict
from markovize.learning.limits import Limits, Stop
from markovize.learning.prefix_tree import PrefixTree

Backend: TypeAlias = Literal["highs", "gurobi"]
Mark: TypeAlias = tuple[int, int]
Prefix: TypeAlias = tuple[int, ...]

TOLERANCE: Final = 1e-5
ROWS: Final = 10_000  # of a program that is being written, between two looks at the clock


class Exemplar(NamedTuple):
    """One trace τ_m: the trigger label of each step, and the marks (reward label, outcome) of each step."""

    labels: Prefix
    marks: tuple[tuple[Mark, ...], ...]


class Row(NamedTuple):
    """``lower ≤ Σ coefficient · column ≤ upper``."""

    columns: list[int]
    coefficients: list[float]
    lower: float
    upper: float


@dataclass(frozen=True)
class Model:
    """A minimisation problem in which every column lies in [0, 1].

    Row k has the entries ``starts[k]`` to ``starts[k + 1]`` of ``columns`` and ``coefficients``.
    """

    objective: Floats
    integer: Bools
    starts: Ints = field(repr=False)
    columns: Ints = field(repr=False)
    coefficients: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)


@dataclass(frozen=True)
class Solution:
    """What a back end found: ``values`` come with ``FEASIBLE`` only; ``optimal`` says that none is better."""

    verdict: Verdict
    values: Floats | None = None
    optimal: bool = False
    work: int = 0


class Program:
    """Which column is which variable: the only place where column numbers meet their meaning.

    ``acyclic`` is the paper's j ≥ i (Appendix B): below the diagonal there are simply no variables.

    >>> program = Program([Exemplar((7, 7), ((), ()))], states=2, acyclic=True)
    >>> program.pairs, program.size
    ([(0, 0), (0, 1), (1, 1)], 9)
    """

    def __init__(self, exemplars: list[Exemplar], states: int, *, acyclic: bool) -> None:
        self.exemplars, self.states = exemplars, states
        self.pairs = [(i, j) for i in range(states) for j in range(states) if j >= i or not acyclic]
        self.steps = [(m, n) for m, trace in enumerate(exemplars) for n in range(len(trace.labels))]
        self.labels = sorted({x for trace in exemplars for x in trace.labels})
        outcomes: dict[int, set[int]] = defaultdict(set)
        for mark in (mark for trace in exemplars for marks in trace.marks for mark in marks):
            outcomes[mark[0]].add(mark[1])
        # A reward label with one outcome cannot conflict: its equation (6) says I ≤ 1.
        self.outcomes = {y: sorted(outcomes[y]) for y in sorted(outcomes) if len(outcomes[y]) > 1}
        # Columns come in blocks of one for each pair (i, j): first the steps, then labels, then marks.
        marks = [(y, r) for y, rs in self.outcomes.items() for r in rs]
        self._pair = {pair: at for at, pair in enumerate(self.pairs)}
        self._step = {step: at for at, step in enumerate(self.steps)}
        self._label = {x: at for at, x in enumerate(self.labels, len(self.steps))}
        self._mark = {mark: at for at, mark in enumerate(marks, len(self.steps) + len(self.labels))}
        self.size = (len(self._step) + len(self._label) + len(self._mark)) * len(self.pairs)

    def into(self, j: int) -> list[int]:
        """The states i for which (i, j) has variables."""
        return [i for i in range(self.states) if (i, j) in self._pair]

    def out_of(self, i: int) -> list[int]:
        """The states j for which (i, j) has variables."""
        return [j for j in range(self.states) if (i, j) in self._pair]

    def O(self, m: int, n: int, i: int, j: int) -> int:  # noqa: E743, N802 - the paper's name
        """The column of O[m,n,i,j]."""
        return self._step[m, n] * len(self.pairs) + self._pair[i, j]

    def I_x(self, x: int, i: int, j: int) -> int:  # noqa: N802
        """The column of I[x,i,j]."""
        return self._label[x] * len(self.pairs) + self._pair[i, j]

    def I_yr(self, y: int, r: int, i: int, j: int) -> int:  # noqa: N802
        """The column of I[y,r,i,j]."""
        return self._mark[y, r] * len(self.pairs) + self._pair[i, j]

    def triggers(self, values: Floats) -> dict[tuple[int, int], int]:
        """The machine in a solution: (i, x) → j for every step that leaves its state."""
        return {
            (i, self.exemplars[m].labels[n]): j
            for m, n in self.steps
            for i, j in self.pairs
            if i != j and values[self.O(m, n, i, j)] > 0.5
        }


def objective_1(p: Program) -> list[int]:
    """(1) min z = Σ_x Σ_i Σ_{j≠i} I[x,i,j]: the columns that cost 1, the hidden triggers."""
    return [p.I_x(x, i, j) for x in p.labels for i, j in p.pairs if i != j]


def one_mapping_2(p: Program) -> Iterator[Row]:
    """(2) Σ_i Σ_j O[m,n,i,j] = 1: every step is mapped to one pair of states."""
    for m, n in p.steps:
        yield _sum([p.O(m, n, i, j) for i, j in p.pairs], 1, 1)


def initial_3(p: Program) -> Iterator[Row]:
    """(3) Σ_j O[m,1,1,j] = 1: every trace starts in the initial state."""
    for m, n in p.steps:
        if n == 0:
            yield _sum([p.O(m, 0, 0, j) for j in p.out_of(0)], 1, 1)


def continuity_4(p: Program) -> Iterator[Row]:
    """(4) Σ_i O[m,n,i,j] = Σ_j' O[m,n+1,j,j']: a step starts where the one before it ended."""
    for m, n in p.steps:
        if n + 1 < len(p.exemplars[m].labels):
            for j in range(p.states):
                ends = [p.O(m, n, i, j) for i in p.into(j)]
                starts = [p.O(m, n + 1, j, k) for k in p.out_of(j)]
                yield Row(ends + starts, [1.0] * len(ends) + [-1.0] * len(starts), 0, 0)


def deterministic_triggers_5(p: Program) -> Iterator[Row]:
    """(5) Σ_j I[x,i,j] ≤ 1: from one state, one label leads to one state."""
    for x in p.labels:
        for i in range(p.states):
            yield _sum([p.I_x(x, i, j) for j in p.out_of(i)], -inf, 1)


def deterministic_rewards_6(p: Program) -> Iterator[Row]:
    """(6) Σ_r I[y,r,i,j] ≤ 1: one reward label between the same states has one outcome."""
    for y, outcomes in p.outcomes.items():
        for i, j in p.pairs:
            yield _sum([p.I_yr(y, r, i, j) for r in outcomes], -inf, 1)


def indicators_7(p: Program) -> Iterator[Row]:
    """(7) I[x,i,j] = [Σ O[m,n,i,j] ≥ 1 over the steps labelled x], as rows O[m,n,i,j] ≤ I[x,i,j].

    The rows say one half: I is 1 if any O is. The other half, I is 0 if no O is, needs no big-M row: I is
    elsewhere only in rows Σ I ≤ … (equation 5, and the bound on z) and in the objective, which is minimised.
    Lowering every I to the largest of its O's therefore keeps a solution feasible and makes z no larger.
    """
    for m, n in p.steps:
        x = p.exemplars[m].labels[n]
        for i, j in p.pairs:
            yield Row([p.O(m, n, i, j), p.I_x(x, i, j)], [1.0, -1.0], -inf, 0)


def indicators_8(p: Program) -> Iterator[Row]:
    """(8) I[y,r,i,j] = [Σ O[m,n,i,j] ≥ 1 over the steps marked (y, r)], as rows O[m,n,i,j] ≤ I[y,r,i,j].

    One half suffices as in (7): these I appear elsewhere only in (6), which bounds them from above.
    """
    for m, n in p.steps:
        for y, r in p.exemplars[m].marks[n]:
            if y in p.outcomes:
                for i, j in p.pairs:
                    yield Row([p.O(m, n, i, j), p.I_yr(y, r, i, j)], [1.0, -1.0], -inf, 0)


def binary_9(p: Program) -> Bools:
    """(9) O[m,n,i,j] ∈ {0, 1}: which columns must be whole. Here all of them, as the I of (7) and (8) are 0 or 1.

    Whole O would be enough: the least I that (7) and (8) then allow is the largest of some O's. But solvers may
    branch on whole columns, and branching on a trigger says more than branching on a step: HiGHS is up to twice
    as fast with both.
    """
    return np.ones(p.size, np.bool_)


def at_most(p: Program, triggers: int) -> Row:
    """z ≤ triggers: not in the paper, which only minimises z; it lets a question name its bound."""
    return _sum(objective_1(p), -inf, triggers)


def build(p: Program, triggers: int | None = None, look: Callable[[], None] = lambda: None) -> Model:
    """The whole program, equations (1) to (9), in sparse form. ``look`` is called often, and may raise."""
    equations = chain(
        one_mapping_2(p),
        initial_3(p),
        continuity_4(p),
        deterministic_triggers_5(p),
        deterministic_rewards_6(p),
        indicators_7(p),
        indicators_8(p),
    )
    rows = []
    for number, row in enumerate(equations):
        if number % ROWS == 0:
            look()
        rows.append(row)
    if triggers is not None:
        rows.append(at_most(p, triggers))
    objective = np.zeros(p.size)
    objective[objective_1(p)] = 1.0
    return Model(
        objective,
        binary_9(p),
        np.cumsum([0, *(len(row.columns) for row in rows)], dtype=np.int32),
        np.fromiter(chain.from_iterable(row.columns for row in rows), np.int32),
        np.fromiter(chain.from_iterable(row.coefficients for row in rows), np.float64),
        np.array([row.lower for row in rows], np.float64),
        np.array([row.upper for row in rows], np.float64),
    )


def whole(model: Model, values: Floats) -> Floats | None:
    """The values with integer columns rounded, or None if one of them is not near a whole number."""
    rounded = np.where(model.integer, np.round(values), values)
    return rounded if np.abs(rounded - values).max(initial=0.0) <= TOLERANCE else None


def explains(delta: dict[tuple[int, int], int], exemplars: list[Exemplar]) -> bool:
    """Whether replaying the exemplars never needs two outcomes for one (u, reward label, u')."""
    seen: dict[tuple[int, int, int], int] = {}
    for trace in exemplars:
        u = 0
        for x, marks in zip(trace.labels, trace.marks, strict=True):
            v = delta.get((u, x), u)
            if any(seen.setdefault((u, y, v), r) != r for y, r in marks):
                return False
            u = v
    return True


class IlpSession:
    """Exemplars for the integer program, kept by their labels: node numbers belong to one tree only."""

    def __init__(self, solve: Callable[[Model, Limits], Solution], *, acyclic: bool) -> None:
        self._solve, self._acyclic = solve, acyclic
        self._marks: dict[Prefix, set[Mark]] = {}

    def extend(self, tree: PrefixTree, nodes: Ints) -> None:
        """More exemplars: these nodes of the tree, with their ancestors and all marks on them."""
        part = tree.restrict(nodes)
        prefixes: list[Prefix] = [()]
        for parent, label in zip(part.parent[1:].tolist(), part.label[1:].tolist(), strict=True):
            prefixes.append((*prefixes[parent], label))
            self._marks.setdefault(prefixes[-1], set())
        labels = part.reward_labels[part.mark_label].tolist()
        for node, y, r in zip(part.mark_node.tolist(), labels, part.mark_outcome.tolist(), strict=True):
            self._marks[prefixes[node]].add((y, r))

    def exemplars(self) -> list[Exemplar]:
        """The traces: paths from the root to the leaves."""
        paths = sorted(self._marks)  # what continues a path comes right after it
        leaves = [path for path, after in pairwise([*paths, ()]) if after[: len(path)] != path]
        return [
            Exemplar(leaf, tuple(tuple(sorted(self._marks[leaf[: n + 1]])) for n in range(len(leaf))))
            for leaf in leaves
        ]

    def decide(self, states: int, triggers: int | None, limits: Limits) -> Answer:
        """Solves the program with K = ``states``. States may stay unused: infeasible covers fewer states too.

        ``least`` is set when the solver proved that its machine has the fewest triggers. A machine found
        before time ran out still answers the question: it is its own proof.
        """
        if triggers is not None and triggers < 0:
            return Answer(Verdict.INFEASIBLE)
        if limits.remaining() == 0:
            return Answer(Verdict.UNKNOWN)
        exemplars = self.exemplars()
        if not exemplars:
            return Answer(Verdict.FEASIBLE, {}, least=0)
        program = Program(exemplars, states, acyclic=self._acyclic)
        try:
            model = build(program, triggers, limits.check)
        except Stop:
            return Answer(Verdict.UNKNOWN)
        solution = self._solve(model, limits)
        if solution.values is None:
            return Answer(solution.verdict, work=solution.work)
        delta = program.triggers(solution.values)
        if not explains(delta, exemplars) or (triggers is not None and len(delta) > triggers):
            raise EngineError(f"the solver's machine fails its exemplars: {delta}")
        least = len(delta) if solution.optimal else None
        return Answer(Verdict.FEASIBLE, _pack(delta), solution.work, least)


@dataclass(frozen=True)
class IlpEngine:
    """The paper's integer program, on HiGHS, or on Gurobi where there is a licence."""

    backend: Backend = "highs"

    @property
    def name(self) -> str:
        """How users choose it."""
        return "ilp" if self.backend == "highs" else f"ilp-{self.backend}"

    def open(self, rules: Rules) -> IlpSession:
        """A fresh session."""
        if self.backend == "highs":
            from markovize.learning.engines import highs

            return IlpSession(highs.solve, acyclic=rules.acyclic)
        if self.backend == "gurobi":
            from markovize.learning.engines import gurobi

            return IlpSession(gurobi.solve, acyclic=rules.acyclic)
        raise UnsupportedError(f"the integer program runs on 'highs' or 'gurobi', not {self.backend!r}")


def gurobi_engine() -> IlpEngine:
    """The integer program on Gurobi.

    >>> gurobi_engine().name
    'ilp-gurobi'
    """
    return IlpEngine("gurobi")


def _sum(columns: list[int], lower: float, upper: float) -> Row:
    return Row(columns, [1.0] * len(columns), lower, upper)


def _pack(delta: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    """The same machine without the states that it never enters; the order, hence j ≥ i, stays."""
    used = sorted({0, *delta.values(), *(u for u, _ in delta)})
    number = {state: at for at, state in enumerate(used)}
    return {(number[u], x): number[v] for (u, x), v in sorted(delta.items())}
