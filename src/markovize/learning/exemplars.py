"""The exemplars of a search: which histories the engine's sessions were given, followed through trees that grow."""

from __future__ import annotations

from copy import copy

import numpy as np

from markovize.episodes.traces import Ints, Longs
from markovize.learning.engines.base import CubedSession, Engine, Rules, Session, WholeSession
from markovize.learning.prefix_tree import PrefixTree


class Exemplars:
    """A session of the engine, of the auditor if there is one, and the nodes of the tree that both were given."""

    def __init__(self, engine: Engine, auditor: Engine | None, acyclic: bool) -> None:
        self.session: Session = engine.open(Rules(acyclic=acyclic))
        self.audit: Session | None = None if auditor is None else auditor.open(Rules(acyclic=acyclic))
        self.nodes: dict[int, None] = {}  # a set that remembers its order

    def cube(self, number: int) -> Exemplars | None:
        """The same exemplars with a session that looks among some of all machines; None where there are no more."""
        if self.audit is not None or not isinstance(self.session, CubedSession):
            return None  # or nobody else could decide the same question
        session = self.session.cube(number)
        if session is None:
            return None
        twin = copy(self)
        twin.session, twin.nodes = session, {**self.nodes}
        return twin

    def learn_from(self, others: Exemplars, tree: PrefixTree) -> None:
        """What the other session was given joins as well."""
        self._extend(tree, list(others.nodes))

    def add(self, tree: PrefixTree, pairs: Ints) -> bool:
        """Violated pairs join; False if they were all there already."""
        return self._extend(tree, tree.mark_node[pairs.ravel()].tolist())

    def wants_all(self, tree: PrefixTree) -> bool:
        """Whether the session prefers all histories, and nobody has to decide everything once more."""
        return self.audit is None and isinstance(self.session, WholeSession) and self.session.wants_all(tree)

    def add_all(self, tree: PrefixTree) -> None:
        """All histories that end in a mark join."""
        self._extend(tree, tree.mark_node.tolist())

    def follow(self, first_step: Longs, tree: PrefixTree) -> None:
        """The same histories in a tree of more episodes; marks that are new on them reach the sessions.

        A node is known by the step that made it, which more episodes at the end do not change.
        """
        if self.nodes:
            there = np.searchsorted(tree.first_step, first_step[list(self.nodes)])
            self.nodes = {}
            self._extend(tree, there.tolist())

    def _extend(self, tree: PrefixTree, nodes: list[int]) -> bool:
        fresh = [v for v in dict.fromkeys(nodes) if v not in self.nodes]
        self.nodes.update(dict.fromkeys(fresh))
        if fresh:
            chosen = np.array(fresh, np.int32)
            self.session.extend(tree, chosen)
            if self.audit is not None:
                self.audit.extend(tree, chosen)
        return bool(fresh)


class ExemplarSets:
    """Questions with and without a count have exemplars of their own.

    What refutes a machine with dozens of triggers are long episodes, a burden to the proofs about machines with few.
    """

    def __init__(self, engine: Engine, auditor: Engine | None = None, *, acyclic: bool = False) -> None:
        self.auditor = None if auditor is None else auditor.name
        self.counted = Exemplars(engine, auditor, acyclic)
        self.uncounted = Exemplars(engine, auditor, acyclic)
        self._first_step: Longs = np.zeros(0, np.int64)

    @property
    def can_cut(self) -> bool:
        """Whether questions with a count can be cut into cubes."""
        return self.auditor is None and isinstance(self.counted.session, CubedSession)

    @property
    def nodes(self) -> Ints:
        """The nodes that end the exemplars, of both kinds of questions."""
        return np.array(list({**self.counted.nodes, **self.uncounted.nodes}), np.int32)

    def cube(self, number: int) -> ExemplarSets | None:
        """The same for questions with a count; there are no others then. None where there are no more."""
        counted = self.counted.cube(number)
        if counted is None:
            return None
        twin = copy(self)
        twin.counted = twin.uncounted = counted
        return twin

    def follow(self, tree: PrefixTree) -> None:
        """From now on nodes are those of this tree, of the same episodes and perhaps more at the end."""
        for exemplars in (self.counted, self.uncounted):
            exemplars.follow(self._first_step, tree)
        self._first_step = tree.first_step
