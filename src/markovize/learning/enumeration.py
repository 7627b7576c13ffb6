"""All machines of one size: found one after the other, each excluded from the next question, until none is left.

The size is the optimum, so that every trigger of such a machine fires on the data, and its states can be numbered by
the order in which the triggers reach them. Two machines are the same if they are equal under that numbering. The engine
sees exemplars only, as ever: what fails on the data adds to them, and when it has no more machine for the exemplars,
there is no other for all the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from markovize.episodes.traces import Longs
from markovize.errors import EngineError, InputError
from markovize.learning.engines import BlockingSession, Delta, Engine, Verdict
from markovize.learning.exemplars import Exemplars
from markovize.learning.floors import Size
from markovize.learning.inquiry import PAIRS
from markovize.learning.judge import Judge, check_witness, size
from markovize.learning.limits import Limits, Stop

Form: TypeAlias = tuple[tuple[int, int, int], ...]
"""The triggers (u, label, u') of a machine whose states are numbered in one way only."""


@dataclass(frozen=True)
class Listed:
    """Machines of one size; ``complete``: it is proven that there are no others. ``at_least`` counts one not listed."""

    machines: tuple[Delta, ...]
    complete: bool
    at_least: int
    stopped: bool = False  # by the limits


def canonical_form(delta: Delta) -> Form:
    """The same for machines that differ in the numbers of their states only.

    >>> canonical_form({(0, 7): 2, (2, 5): 1}) == canonical_form({(0, 7): 1, (1, 5): 2})
    True
    """
    moves: dict[int, list[tuple[int, int]]] = {}
    for (u, x), v in sorted(delta.items()):
        moves.setdefault(u, []).append((x, v))
    name, order, form = {0: 0}, [0], []
    for u in order:  # which grows
        for x, v in moves.get(u, ()):
            if v not in name:
                name[v] = len(order)
                order.append(v)
            form.append((name[u], x, name[v]))
    return tuple(form)


class Enumeration:
    """The machines of one size that are known, and a session of the engine that looks for others.

    More episodes leave it of use: machines that fail on them are dropped, the rest is not looked for again.
    """

    def __init__(self, engine: Engine, *, acyclic: bool) -> None:
        self._engine, self._acyclic = engine, acyclic
        self._first_step: Longs = np.zeros(0, np.int64)
        self._renew((1, 0))

    def collect(self, best: Delta, judge: Judge, exemplars: Exemplars | None, most: int, limits: Limits) -> Listed:
        """Up to ``most`` machines as small as ``best``, which is the first and is proven to be minimal.

        One more than these is looked for, to know whether there are more. It begins with the ``exemplars`` of a search,
        if there was one, else with the shortest conflicts.
        """
        if not best:
            return Listed((best,), complete=True, at_least=1)
        if size(best) != self._size:
            self._renew(size(best))
        tree = judge.tree
        self._exemplars.follow(self._first_step, tree)
        self._first_step = tree.first_step
        if exemplars is None:
            self._exemplars.add(tree, judge.violations({})[:PAIRS])
        else:
            self._exemplars.learn_from(exemplars, tree)
        found = {canonical_form(best): best} | {f: delta for f, delta in self._blocked.items() if judge.explains(delta)}
        complete = stopped = False
        try:
            while len(found) <= most and not complete:
                limits.check()
                complete = self._next(judge, limits, found)
        except Stop:
            stopped = True
        if complete and not found.keys() <= self._blocked.keys():
            raise EngineError("the engine calls complete what lacks a machine that is known")
        return Listed(tuple(found.values())[:most], complete, len(found), stopped)

    def _renew(self, of_size: Size) -> None:
        """Forgets everything, for machines of another size."""
        self._size = of_size
        self._exemplars = Exemplars(self._engine, None, self._acyclic)
        self._first_step = np.zeros(0, np.int64)
        self._blocked: dict[Form, Delta] = {}
        session = self._exemplars.session
        if not isinstance(session, BlockingSession):
            raise InputError(f"the engine {self._engine.name} finds one machine only; to list all, take engine sat")
        self._session: BlockingSession = session

    def _next(self, judge: Judge, limits: Limits, found: dict[Form, Delta]) -> bool:
        """Looks for one more machine; True if there is none. One that fails on the data adds to the exemplars."""
        states, triggers = self._size
        answer = self._session.decide(states, triggers, limits)
        if answer.verdict is Verdict.INFEASIBLE:
            return True
        if answer.verdict is Verdict.UNKNOWN:
            raise Stop
        witness = check_witness(
            answer.delta, states=states, triggers=triggers, labels=judge.tree.n_labels, acyclic=self._acyclic
        )
        pairs = judge.violations(witness)
        if len(pairs):
            if not self._exemplars.add(judge.tree, pairs[:PAIRS]):
                raise EngineError("the engine's machine contradicts the very exemplars it was given")
            return False
        if size(judge.prune(witness)) != self._size:
            raise EngineError("the engine's proofs are wrong: there is a machine smaller than the optimum")
        self._session.block(witness)
        form = canonical_form(witness)
        self._blocked[form] = witness
        found.setdefault(form, witness)
        return False
