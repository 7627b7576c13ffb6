"""What an engine is: something that decides whether a machine of a given size explains the exemplars.

An engine is opened on a tree and a rule (acyclic or not) and gives a session. The session is told which nodes of the
tree are exemplars, and asked questions of one form: *is there a machine with exactly K states, all of them entered,
and at most z triggers?* It answers feasible, with the machine; infeasible, a proof; or unknown. Anything that is not
a proof is unknown. :class:`~markovize.learning.judge.Judge` replays every machine by code that shares nothing with the
engine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from markovize.episodes.traces import Ints
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


class Stop(Exception):  # noqa: N818 - a signal, not an error
    """Raised inside an engine when time is up or the user pressed Ctrl-C."""


@dataclass
class Limits:
    """When to give up: ``deadline`` in seconds of :func:`time.monotonic`, ``work`` in the engine's own count.

    ``pulse`` is called often, to move the progress display. Only ``work`` may decide which way a search goes: the clock
    can end it, never steer it.
    """

    deadline: float | None = None
    work: int | None = None
    pulse: Callable[[], None] = field(default=lambda: None)

    def check(self) -> None:
        """Raises :class:`Stop` when the deadline has passed."""
        self.pulse()
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise Stop

    def remaining(self) -> float | None:
        """Seconds left, or None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


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


class Engine(Protocol):
    """A way to solve the problem."""

    @property
    def name(self) -> str:
        """How users choose it."""
        ...

    def open(self, *, acyclic: bool) -> Session:
        """A fresh session."""
        ...
