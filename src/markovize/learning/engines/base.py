"""What an engine is: something that decides whether a machine of a given size explains the exemplars.

An engine is opened with the rules of the problem and gives a session. The session is given exemplars, nodes of the
prefix tree of all episodes, and asked questions of one form: *is there a machine with exactly K states, all of them
entered, and at most z triggers?* It answers feasible, with the machine; infeasible, a proof; or unknown. Anything that
is not a proof is unknown. :class:`~markovize.learning.judge.Judge` replays every machine by code that shares nothing
with the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:  # the registry shows names of engines on a command line: nothing slow is loaded for that
    from markovize.episodes.traces import Ints
    from markovize.learning.limits import Limits
    from markovize.learning.prefix_tree import PrefixTree

Delta: TypeAlias = Mapping[tuple[int, int], int]
"""The triggers of a machine: (state, trigger label id) → state; everything else is a self-loop."""


class Verdict(Enum):
    """What an engine says to a question."""

    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Answer:
    """An engine's answer; ``delta`` is the witness of ``FEASIBLE``, ``work`` counts effort, not seconds.

    ``least``, if given, is proven: no machine with this many states has fewer triggers.
    """

    verdict: Verdict
    delta: Delta | None = None
    work: int = 0
    least: int | None = None


@dataclass(frozen=True)
class Rules:
    """What every machine of a problem must obey, beside explaining the episodes. Later rules join here, with a default.

    >>> Rules().acyclic
    False
    """

    acyclic: bool = False  # no state is entered again once it was left


class Session(Protocol):
    """One problem in an engine's hands; exemplars only ever grow."""

    def extend(self, tree: PrefixTree, nodes: Ints) -> None:
        """More exemplars: these nodes of the tree, with their ancestors and all marks on them."""
        ...

    def decide(self, states: int, triggers: int | None, limits: Limits) -> Answer:
        """Is there a machine with exactly ``states`` states and at most ``triggers`` triggers (None: any number)?

        A smaller machine is welcome as an answer. ``INFEASIBLE`` is a proof that none of exactly this size exists.
        """
        ...


@runtime_checkable
class WholeSession(Session, Protocol):
    """A session that may prefer all histories to a few exemplars."""

    def wants_all(self, tree: PrefixTree) -> bool:
        """Whether all of this tree as exemplars make questions without a count easier."""
        ...


@runtime_checkable
class CubedSession(Session, Protocol):
    """A session whose questions can be cut into cubes, for several sessions that share nothing."""

    def cube(self, number: int) -> CubedSession | None:
        """A session with the same exemplars that looks among some of all machines; None where there are no more.

        Each machine is in one cube at least: what is infeasible in all of them is infeasible. Cubes stay what they are
        when they are given more exemplars, each on its own.
        """
        ...


@runtime_checkable
class BlockingSession(Session, Protocol):
    """A session that can be asked for other machines than those that are known."""

    def block(self, delta: Delta) -> None:
        """From now on no machine with all of these triggers is an answer; ``delta`` was one of this session."""
        ...


class Engine(Protocol):
    """A way to solve the problem."""

    @property
    def name(self) -> str:
        """How users choose it."""
        ...

    def open(self, rules: Rules) -> Session:
        """A fresh session, without exemplars."""
        ...
