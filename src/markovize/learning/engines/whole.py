"""The question without a count, asked of all histories at once: is there a machine with at most K states?

Where tree and alphabet are small and cycles are allowed, this is far easier than the same question of some exemplars.
Short histories are apart from most others, and with all of them the numbering of states leaves little to choose: on two
samples of words that a random automaton of 10 states has labelled, 1 to 22 conflicts with what is apart in the formula,
30,000 to 100,000 without.

Clauses beside those of :class:`~markovize.learning.engines.sat.Formula`, whose δ and numbering these are:

* ``at[v][k]`` holds for each state k that some history of the node v leads to; ``at[v][k]`` and δ(k, x) = j make
  ``at[w][j]`` hold for the node w that follows by x. It may hold for other states, which only restricts the machine.
* Nodes that are apart have no state in common. That follows from the others, in many steps.
* States need not be entered, but those that are have the smallest numbers. A state that only a label enters after which
  nothing follows can be left out of a machine, and so is not asked for: without one at most as large, none of exactly K
  states explains the histories.
"""

from __future__ import annotations

import operator
from typing import Final

from markovize.learning.engines.history_graph import HistoryGraph
from markovize.learning.engines.sat import CLAUSES, Formula
from markovize.learning.limits import Limits

MOST_NODES: Final = 5_000  # of a tree that is small
MOST_LABELS: Final = 16  # of it: with many, a few states explain nearly everything, which is hard to refute


class WholeFormula(Formula):
    """At most K states, any number of triggers, all histories of a graph."""

    def __init__(self, solver: str, states: int, graph: HistoryGraph, limits: Limits) -> None:
        self._entered = [0]  # of each state but the first, that it is
        super().__init__(solver, states, None, list(graph.labels), False, limits)
        at = [[self._new() for _ in range(states)] for _ in range(len(graph))]
        self._add([at[0][0]])
        for node in range(len(graph)):
            self._look(limits)
            self._add(at[node])
            self._follow(graph, at, node)
            self._explain(graph, at[node], node)
        for number, (a, b) in enumerate(graph.apart):
            if number % CLAUSES == 0:
                limits.check()
            for one, other in zip(at[a], at[b], strict=True):
                self._add([-one, -other])

    def _enter(self, state: int, entered: int) -> None:
        """Those that are entered have the smallest numbers."""
        if state > 1:
            self._add([-entered, self._entered[-1]])
        self._entered.append(entered)

    def _follow(self, graph: HistoryGraph, at: list[list[int]], node: int) -> None:
        """What follows is where δ leads; and where a history leads is entered."""
        for k, entered in enumerate(self._entered[1:], 1):
            self._add([-at[node][k], entered])
        for x, follower in graph.following[node].items():
            for here, moves in zip(at[node], self._moves[x], strict=True):
                for move, there in zip(moves, at[follower], strict=True):
                    self._add([-here, -move, there])

    def _explain(self, graph: HistoryGraph, here: list[int], node: int) -> None:
        """Equal (u, reward label, u') have equal outcomes."""
        for label, outcome in graph.marks[node]:
            for i, state in enumerate(here):
                self._add([-state, self._outcome((i, label), outcome, operator.ne)])
        for x, label, outcome in graph.labelled_marks[node]:
            for i, state in enumerate(here):
                for j, move in enumerate(self._moves[x][i]):
                    self._add([-state, -move, self._outcome((i, label, j), outcome, operator.ne)])
