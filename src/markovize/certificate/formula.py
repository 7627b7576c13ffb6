"""Second part of the checker: from histories to clauses that every machine of a given size satisfies.

*Tree.* Histories of trigger labels that begin alike share nodes. A machine is in one state at each node: the state at
the root is 0, and δ gives that of a child. A *mark* is a reward label with an outcome, seen at the step into a node.

*Apart.* Steps with one trigger label, one reward label and two outcomes cannot start in one state: δ would lead both to
one u', and (u, reward label, u') would have two outcomes. So the nodes before them are apart; and where two nodes that
are apart were entered by the same label, so are their parents, since δ leads one state by one label to one state.

*Formula.* Let a machine have exactly K states, each reached from state 0 by triggers on the labels of the alphabet, at
most z triggers, and no cycle where that is asked for; and let it explain the steps of the tree. Then its states can be
numbered such that every clause below is true, if the variables mean what is said beside them. So where the clauses
contradict each other there is no such machine. The numbering, where cycles are allowed, is that of breadth-first
search: let *first(j)* be the least (i, x) with δ(i, x) = j and i < j; states are numbered in the order in which the
search that takes (i, x) in order meets them, so that first(1) < first(2) < … . Without cycles states are numbered
topologically, δ(i, x) ≥ i, and of all such numberings by one whose row first(1), first(2), … is the least. Then
first(j) < first(j + 1) unless there is a trigger from j to j + 1: else j and j + 1 could be swapped, their first
triggers, which come from smaller states, would be swapped with them, and the row would be less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import combinations

from markovize.certificate.reading import Step, need

LARGEST = 5_000_000  # clauses, or pairs of histories that are apart: more than that is not checked
Outcome = tuple[float, bool]


class Tree:
    """The prefix tree of some histories; node 0 is the root. ``tick`` is called now and then, and may raise."""

    def __init__(self, histories: Iterable[Sequence[Step]], explain_ends: bool, tick: Callable[[], None]) -> None:
        self.parent, self.label = [-1], [-1]
        self.child: dict[tuple[int, int], int] = {}
        self.tick = tick
        marks: dict[tuple[int, int, Outcome], None] = {}  # (node, reward label, outcome)
        for steps in histories:
            node = 0
            tick()
            for step in steps:
                if (node, step.trigger) not in self.child:
                    self.child[node, step.trigger] = len(self.parent)
                    self.parent.append(node)
                    self.label.append(step.trigger)
                node = self.child[node, step.trigger]
                marks[node, step.reward_label, (step.reward, explain_ends and step.ends)] = None
        outcomes = defaultdict(set)
        for _, label, outcome in marks:
            outcomes[label].add(outcome)
        self.marks = [mark for mark in marks if len(outcomes[mark[1]]) > 1]  # others contradict nothing

    @cached_property
    def apart(self) -> set[tuple[int, int]]:
        """Pairs of nodes, the smaller first, that no machine sends to one state."""
        alike: defaultdict[tuple[int, int], list[tuple[int, Outcome]]] = defaultdict(list)
        found: set[tuple[int, int]] = set()
        for node, label, outcome in self.marks:
            self.tick()
            for other_node, other in alike[label, self.label[node]]:
                a, b = self.parent[node], self.parent[other_node]
                while outcome != other and a != b and (min(a, b), max(a, b)) not in found:
                    found.add((min(a, b), max(a, b)))
                    if self.label[a] != self.label[b]:
                        break
                    a, b = self.parent[a], self.parent[b]
            alike[label, self.label[node]].append((node, outcome))
            need(len(found) <= LARGEST, "too many histories are apart")
        return found

    def alphabet(self) -> list[int]:
        """The trigger labels as histories meet them: neighbours on a way stay together, which makes proofs short."""
        return list(dict.fromkeys(self.label[1:]))


class Formula:
    """The clauses for machines with ``states`` states and at most ``triggers`` triggers (None: any number)."""

    def __init__(self, tree: Tree, alphabet: list[int], states: int, triggers: int | None, acyclic: bool) -> None:
        self.variables = 0
        self.clauses: list[tuple[int, ...]] = []
        self.states, self.acyclic = states, acyclic
        # moves[x][i][j]: δ(i, x) = j; 0 where that cannot be, since without cycles no state is smaller than the last
        below = [i if acyclic else 0 for i in range(states)]
        self.moves = {x: [[0] * low + self._one_of(states - low) for low in below] for x in alphabet}
        self._number_and_count(alphabet, triggers)
        # at[v][k]: the state at node v is k
        self.at = [self._one_of(states)]
        self._add(self.at[0][0])
        for v in range(1, len(tree.parent)):
            self._follow(self.at[tree.parent[v]], self.moves[tree.label[v]])
        self._explain(tree)
        for v, w in sorted(tree.apart):
            for k in range(states):
                self._add(-self.at[v][k], -self.at[w][k])

    def dimacs(self) -> bytes:
        """The formula as a file."""
        lines = [f"p cnf {self.variables} {len(self.clauses)}"]
        lines += [" ".join(map(str, (*clause, 0))) for clause in self.clauses]
        return ("\n".join(lines) + "\n").encode("ascii")

    def _new(self) -> int:
        self.variables += 1
        return self.variables

    def _add(self, *clause: int) -> None:
        self.clauses.append(clause)
        need(len(self.clauses) <= LARGEST, "the formula is too large")

    def _one_of(self, many: int) -> list[int]:
        """New variables of which exactly one is true."""
        new = [self._new() for _ in range(many)]
        self._add(*new)
        for one, other in combinations(new, 2):
            self._add(-one, -other)
        return new

    def _number_and_count(self, alphabet: list[int], triggers: int | None) -> None:
        """States are numbered as said above. Each but 0 has a first trigger; where z = K-1 there are no others."""
        only_first = triggers == self.states - 1
        firsts: list[list[int]] = []  # for each j > 0 and (i, x) in order, i < j: "first(j) is at most (i, x)"
        for j in range(1, self.states):
            chain: list[int] = []
            for i in range(j):
                for x in alphabet:
                    move, upto = self.moves[x][i][j], self._new()
                    self._add(-move, upto)
                    self._add(-upto, *chain[-1:], move)
                    for before in chain[-1:]:
                        self._add(-before, upto)
                        if only_first:
                            self._add(-before, -move)
                    if only_first and not self.acyclic:
                        self._add(-self.moves[x][j][i])
                    chain.append(upto)
            self._add(*chain[-1:])
            firsts.append(chain)
        for j in range(1, self.states - 1):
            edge = [self.moves[x][j][j + 1] for x in alphabet] if self.acyclic else []
            self._number(firsts[j - 1], firsts[j], edge)
        if triggers is not None and not only_first:
            there = [-self.moves[x][i][i] for i in range(self.states) for x in alphabet]  # δ(i, x) is not i
            for most in self._count(there, triggers)[triggers:]:
                self._add(-most)

    def _number(self, lower: list[int], upper: list[int], edge: list[int]) -> None:
        """first(j) < first(j + 1), unless one of these triggers from j to j + 1 is there."""
        unless = [self._new()] if edge else []
        for there_is in unless:
            self._add(-there_is, *edge)
        for first_upto, next_upto in zip(lower, upper, strict=False):  # (i, x) with i < j; (j, x) is greater anyway
            self._add(-next_upto, first_upto, *unless)

    def _count(self, literals: list[int], most: int) -> list[int]:
        """Literals for "at least 1 of these", "at least 2", … up to ``most`` + 1, by adding two halves."""
        if len(literals) <= 1:
            return literals
        half = len(literals) // 2
        a, b = self._count(literals[:half], most), self._count(literals[half:], most)
        both = [self._new() for _ in range(min(len(a) + len(b), most + 1))]
        for i in range(len(a) + 1):
            for j in range(len(b) + 1):
                if 0 < i + j <= len(both):
                    self._add(*[-x for x in (*a[i - 1 : i], *b[j - 1 : j])], both[i + j - 1])
        return both

    def _follow(self, before: list[int], moves: list[list[int]]) -> None:
        """A node's state follows from its parent's by δ."""
        here = self._one_of(self.states)
        for i in range(self.states):
            for j in range(self.states):
                if moves[i][j]:
                    self._add(-before[i], -moves[i][j], here[j])
            if self.acyclic:
                self._add(-before[i], *here[i:])
                self._add(-here[i], *before[: i + 1])
        self.at.append(here)

    def _explain(self, tree: Tree) -> None:
        """Each (u, reward label, u') has one outcome.

        Where all steps with a reward label have one trigger label, u' follows from u, and (u, reward label) has one.
        """
        came_by = defaultdict(set)
        for node, label, _ in tree.marks:
            came_by[label].add(tree.label[node])
        pays: defaultdict[tuple[int, int, int], dict[Outcome, int]] = defaultdict(dict)
        for node, label, outcome in tree.marks:
            before, here = self.at[tree.parent[node]], self.at[node]
            for i in range(self.states):
                if len(came_by[label]) == 1:
                    self._add(-before[i], self._pays(pays[i, label, -1], outcome))
                else:
                    for j in range(i if self.acyclic else 0, self.states):
                        self._add(-before[i], -here[j], self._pays(pays[i, label, j], outcome))

    def _pays(self, known: dict[Outcome, int], outcome: Outcome) -> int:
        """The variable for "it has this outcome", and then no other."""
        if outcome not in known:
            new = self._new()
            for other in known.values():
                self._add(-new, -other)
            known[outcome] = new
        return known[outcome]
