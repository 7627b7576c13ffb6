"""The way from observation to observation, as far as it is known: where to go to learn something."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Final

MOST_NODES: Final = 4_000  # looked at for one path; larger worlds are walked at random


class Map:
    """What each action was seen to do: the commonest successor, and how often it was tried.

    Paths avoid actions that were seen to end an episode; ``states`` are those that were left again.

    >>> known = Map(actions=2)
    >>> known.step(0, 1, 5), known.step(5, 0, 7)
    (None, None)
    >>> known.path(0, 7)
    [1, 0]
    >>> known.untried(0)  # action 0 was never taken there
    [0]
    """

    def __init__(self, actions: int) -> None:
        self.actions = actions
        self._ends: set[tuple[int, int]] = set()
        self._seen: dict[tuple[int, int], Counter[int]] = {}
        self._next: dict[int, dict[int, int]] = {}
        self._visits: Counter[int] = Counter()
        self._tried: Counter[int] = Counter()  # by action
        self._moved: Counter[int] = Counter()
        self.states: list[int] = []

    def step(self, s: int, a: int, t: int, *, ended: bool = False) -> None:
        """Takes note of a step."""
        if s not in self._next:
            self.states.append(s)
        self._visits[s] += 1
        self._tried[a] += 1
        self._moved[a] += s != t
        seen = self._seen.setdefault((s, a), Counter())
        seen[t] += 1
        if a not in self._next.setdefault(s, {}) or seen[t] >= seen[self._next[s][a]]:
            self._next[s][a] = t
        if ended:
            self._ends.add((s, a))

    def visits(self, s: int) -> int:
        """How often a state was left."""
        return self._visits[s]

    def changes(self, a: int) -> float:
        """The share of its tries, in any state, in which an action led to another one; 1 if it was never tried."""
        return 1.0 if not self._tried[a] else self._moved[a] / self._tried[a]

    def tries(self, s: int, a: int) -> int:
        seen = self._seen.get((s, a))
        return 0 if seen is None else seen.total()

    def path(self, start: int, goal: int) -> list[int] | None:
        """The fewest actions from one to the other."""
        return self._search(start, lambda s: [] if s == goal else None)

    def loop(self, start: int) -> list[int] | None:
        """The fewest actions that lead away from here, or nowhere, and back.

        >>> known = Map(actions=2)
        >>> known.step(0, 1, 5), known.step(5, 0, 0)
        (None, None)
        >>> known.loop(0)
        [1, 0]
        """
        best: list[int] | None = None
        for a, t in self._next.get(start, {}).items():
            if (start, a) in self._ends:
                continue
            back = [] if t == start else self.path(t, start)
            if back is not None and (best is None or len(back) + 1 < len(best)):
                best = [a, *back]
        return best

    def untried(self, start: int, most: int = 0) -> list[int] | None:
        """The fewest actions to one that was tried at most so often, that one included."""

        def rare(s: int) -> list[int] | None:
            return next(([a] for a in range(self.actions) if self.tries(s, a) <= most), None)

        return self._search(start, rare)

    def _search(self, start: int, last: Callable[[int], list[int] | None]) -> list[int] | None:
        came: dict[int, tuple[int, int] | None] = {start: None}
        queue = deque([start])
        while queue and len(came) < MOST_NODES:
            s = queue.popleft()
            end = last(s)
            if end is not None:
                way: list[int] = list(end)
                at = came[s]
                while at is not None:
                    way.insert(0, at[1])
                    at = came[at[0]]
                return way
            for a, t in self._next.get(s, {}).items():
                if t not in came and (s, a) not in self._ends:
                    came[t] = (s, a)
                    queue.append(t)
        return None
