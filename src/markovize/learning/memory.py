"""What a learner remembers between two calls: facts with the identity of their episodes, and warm solvers.

Each pair of labels has facts and solvers of its own: what is infeasible under one may be feasible under another.

Facts are values: a call reads them and makes new ones, which take their place when it has ended. Solvers are lent to a
call, and come back with its facts. A call that never ends, by an exception or a second Ctrl-C, leaves the facts as they
were and the solvers gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from markovize.learning.engines.base import Delta
from markovize.learning.enumeration import Enumeration
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.floors import Proven
from markovize.learning.identity import Identity
from markovize.learning.judge import size

FAR_BETTER: Final = 4 / 3  # times the triggers
MOST_GUESSED: Final = 40  # states of the last machine: above, it spells out the episodes, and no engine has the room
RECONSIDER: Final = 4  # calls, after which a search asks again what it left open


@dataclass(frozen=True)
class Experience:
    """How the searches for these episodes went so far; it steers those whose effort is limited, and proves nothing."""

    calls: int = 0
    size: tuple[int, int] | None = None  # of the last machine
    look_size: tuple[int, int] | None = None  # of the machine of the last first look
    look_triggers: int = 0  # the most that a first look needed
    looks_in_vain: int = 0  # in a row: the search found a far better machine
    looks_open: int = 0  # in a row: it left a question open
    searches_in_vain: int = 0  # in a row: the search found nothing far better than the first look

    def guess(self, last: tuple[int, int] | None) -> tuple[int, int] | None:
        """Where a search that leaves questions open starts: at the last size, but at times from what is proven."""
        is_guess = last is not None and 1 < last[0] <= MOST_GUESSED
        return last if is_guess and self.calls % RECONSIDER else None

    def after_look(self, best: Delta | None, proven: bool) -> Experience:
        """With what a first look found. What keeps growing may be an unrolled cycle: then the search is due again."""
        here = replace(self, looks_open=0 if proven else self.looks_open + 1)
        if best is None:
            return replace(here, look_size=None)
        states, triggers = size(best)
        if triggers <= self.look_triggers:
            return replace(here, look_size=(states, triggers))
        return replace(here, look_size=(states, triggers), look_triggers=triggers, searches_in_vain=0)

    def after_search(self, first: Delta | None, best: Delta | None, proven: bool) -> Experience:
        """With what a search found. Of look and search, the one that did not lead to the machine may take less."""
        here = replace(self, calls=self.calls + 1, size=None if best is None else size(best))
        if first is None:
            return replace(here, looks_in_vain=0)
        far_better = FAR_BETTER * (0 if best is None else size(best)[1]) <= size(first)[1]
        return replace(
            here,
            looks_in_vain=self.looks_in_vain + 1 if far_better else 0,
            searches_in_vain=0 if far_better or proven else self.searches_in_vain + 1,
        )


@dataclass(frozen=True)
class Facts:
    """What is known about some episodes: it stays true of them and more, and is believed of nothing else."""

    identity: Identity | None = None
    proven: Proven = field(default_factory=Proven)
    proven_by_look: Proven = field(default_factory=Proven)
    experience: Experience = Experience()


@dataclass
class Solvers:
    """The sessions of engines that searches for these episodes have opened, with the exemplars they were given."""

    search: ExemplarSets | None = None
    look: ExemplarSets | None = None
    all: Enumeration | None = None  # of machines as small as the best


@dataclass
class Known:
    """What is known under one pair of labels: facts, and solvers unless a call has borrowed them."""

    facts: Facts = field(default_factory=Facts)
    solvers: Solvers = field(default_factory=Solvers)

    def lend(self) -> Solvers:
        """The solvers; here are none from now on."""
        lent, self.solvers = self.solvers, Solvers()
        return lent


@dataclass
class Memory:
    """What is known under each pair of labels, by its number."""

    refuted: dict[int, Identity] = field(default_factory=dict)  # pairs by which episodes contradict each other
    chosen: int = 0  # the pair of the last result
    known: dict[int, Known] = field(default_factory=dict)

    @property
    def facts(self) -> Facts:
        """About the labels of the last result."""
        return self.known.get(self.chosen, Known()).facts
