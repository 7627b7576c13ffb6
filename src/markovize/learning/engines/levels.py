"""Rewards of one cell within a tolerance, as clauses: of many of them, a few for each, not one for each pair.

A cell (u, reward label, u') has one level where no two of its rewards are farther apart than the width. For each reward
there are the variables "some reward of the cell is at most this" and "some is at least this". Each follows from its
neighbour in the order of rewards, so only neighbours at the width's distance need exclude each other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable


class Levels:
    """The rewards of one cell so far, ascending; new ones find their place."""

    def __init__(self, width: float, new: Callable[[], int], add: Callable[[list[int]], object]) -> None:
        self._width, self._new, self._add = width, new, add
        self._rewards: list[float] = []
        self._up_to: list[int] = []  # "some reward is at most this"
        self._from: list[int] = []  # "some reward is at least this"
        self._ends: dict[int, int] = {}  # "some step ends its episode", "some does not"

    def have(self, reward: float, end: int | None) -> tuple[int, ...]:
        """What is true if the cell has this reward, of a step that ends its episode or not, if that is of interest."""
        at = bisect_left(self._rewards, reward)
        if at == len(self._rewards) or self._rewards[at] != reward:
            self._insert(at, reward)
        if end is None:
            return self._up_to[at], self._from[at]
        if end not in self._ends:
            self._ends[end] = self._new()
            if len(self._ends) == 2:
                self._add([-each for each in self._ends.values()])
        return self._up_to[at], self._from[at], self._ends[end]

    def _insert(self, at: int, reward: float) -> None:
        rewards, up_to, from_ = self._rewards, self._up_to, self._from
        up, down = self._new(), self._new()
        if at:
            self._add([-up_to[at - 1], up])
            self._add([-down, from_[at - 1]])
        if at < len(rewards):
            self._add([-up, up_to[at]])
            self._add([-from_[at], down])
        far = bisect_right(rewards, self._width, key=lambda other: other - reward)
        if far < len(rewards):  # the nearest above that is too far away
            self._add([-up, -from_[far]])
        far = bisect_left(rewards, -self._width, key=lambda other: other - reward)
        if far:  # the nearest below
            self._add([-down, -up_to[far - 1]])
        rewards.insert(at, reward)
        up_to.insert(at, up)
        from_.insert(at, down)
