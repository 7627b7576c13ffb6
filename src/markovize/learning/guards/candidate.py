"""A machine with guards in the search's own numbers: features by their place, values by their rank or code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Side: TypeAlias = Literal["at_least", "below", "is"]


class Bound(NamedTuple):
    """One literal: the code of a feature is at least this, below this, or this."""

    feature: int
    side: Side
    code: int


Box: TypeAlias = tuple[Bound, ...]
"""One guard: all its bounds must hold."""


class Size(NamedTuple):
    """What is minimised, in this order; of machines that are equal in the first three, the one with few triggers."""

    guards: int
    literals: int
    states: int
    triggers: int


class Move(NamedTuple):
    """A trigger: in state ``source`` a step inside ``box`` leads to ``target``."""

    source: int
    box: Box
    target: int


@dataclass(frozen=True)
class Candidate:
    """Triggers and reward guards.

    >>> Candidate((Move(0, (Bound(0, "is", 3),), 1),), ((Bound(0, "is", 5),),)).size
    Size(guards=2, literals=2, states=2, triggers=1)
    """

    moves: tuple[Move, ...] = ()
    reward_boxes: tuple[Box, ...] = ()

    @property
    def states(self) -> int:
        return 1 + max((max(move.source, move.target) for move in self.moves), default=0)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The guards of the triggers, then the reward guards."""
        return (*(move.box for move in self.moves), *self.reward_boxes)

    @property
    def size(self) -> Size:
        boxes = self.boxes
        return Size(len(boxes), sum(map(len, boxes)), self.states, len(self.moves))

    @property
    def split(self) -> tuple[int, int, int]:
        """States, triggers and reward guards."""
        return self.states, len(self.moves), len(self.reward_boxes)

    def with_boxes(self, boxes: Iterable[Box]) -> Candidate:
        """The same triggers and reward guards, with other bounds."""
        every = tuple(boxes)
        moves = tuple(move._replace(box=box) for move, box in zip(self.moves, every, strict=False))
        return Candidate(moves, every[len(moves) :])
