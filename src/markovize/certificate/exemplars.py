"""Which histories a certificate needs: those of the search, what else was seen on them, and what more it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, TypeAlias

from markovize.certificate.reading import Episodes, Step

Position: TypeAlias = tuple[int, int]
"""(episode, step)"""

PAIRS: Final = 4  # violated pairs that join at a time


class ExemplarList:
    """Positions in the order in which they came. Those of questions that count triggers come first."""

    def __init__(self, episodes: Episodes, explain_ends: bool) -> None:
        self._episodes, self._explain_ends = episodes, explain_ends
        self._counted: list[Position] = []
        self._others: list[Position] = []

    @property
    def positions(self) -> list[Position]:
        """All of them."""
        return self._counted + self._others

    @property
    def counted(self) -> int:
        """How many are there for questions that count triggers."""
        return len(self._counted)

    def add(self, positions: Iterable[Position], *, counted: bool) -> None:
        """Positions join, with all that was seen on the histories up to them."""
        mine = self._counted if counted else self._others
        known = dict.fromkeys((*mine, *positions))
        there = list(dict.fromkeys([*known, *self._seen_on(list(known))]))
        mine[:] = _longest(there)

    def violations(self, delta: Mapping[tuple[int, int], int]) -> list[Position]:
        """The first steps, by their depth, that a machine does not explain, with those that they contradict."""
        steps, states = self._episodes.steps, [0] * len(self._episodes.steps)
        seen: dict[tuple[int, int, int], tuple[object, Position]] = {}
        found: list[Position] = []
        for episode, t in self._by_depth:
            step, u = steps[episode][t], states[episode]
            v = states[episode] = delta.get((u, step.trigger), u)
            outcome = self._outcome(step)
            before, where = seen.setdefault((u, step.reward_label, v), (outcome, (episode, t)))
            if before != outcome:
                found += [where, (episode, t)]
                if len(found) >= 2 * PAIRS:
                    break
        return found

    @cached_property
    def _by_depth(self) -> list[Position]:
        """All steps, the shallowest first."""
        every = [(t, episode) for episode, steps in enumerate(self._episodes.steps) for t in range(len(steps))]
        return [(episode, t) for t, episode in sorted(every)]

    def _outcome(self, step: Step) -> tuple[float, bool]:
        return step.reward, self._explain_ends and step.ends

    def _seen_on(self, positions: list[Position]) -> list[Position]:
        """For each history up to these, and each reward label seen with it in any episode, the first such step."""
        children: dict[tuple[int, int], int] = {}
        for episode, t in positions:
            node = 0
            for step in self._episodes.steps[episode][: t + 1]:
                node = children.setdefault((node, step.trigger), len(children) + 1)
        seen: dict[tuple[int, int], Position] = {}
        for episode, steps in enumerate(self._episodes.steps):
            node = 0
            for t, step in enumerate(steps):
                found = children.get((node, step.trigger))
                if found is None:
                    break
                node = found
                seen.setdefault((node, step.reward_label), (episode, t))
        shown = set()
        for episode, t in positions:
            node = 0
            for step in self._episodes.steps[episode][: t + 1]:
                node = children[node, step.trigger]
                shown.add((node, step.reward_label))
        return [position for mark, position in seen.items() if mark not in shown]


def _longest(positions: list[Position]) -> list[Position]:
    """Of several positions of one episode only the last one, which has the others on its way.

    >>> _longest([(3, 1), (0, 2), (3, 4)])
    [(3, 4), (0, 2)]
    """
    last: dict[int, int] = {}
    for episode, t in positions:
        last[episode] = max(t, last.get(episode, -1))
    return list(last.items())
