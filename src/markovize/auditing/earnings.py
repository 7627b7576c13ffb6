"""What walks have earned so far, and where: the steps that are worth coming back to."""

from __future__ import annotations

from collections import Counter
from typing import Final, TypeAlias

from markovize.auditing.logbook import LoggedEpisode

RARE: Final = 0.05  # a reward that fewer steps paid is worth coming back to
PLACES: Final = 200  # (s, a) that are kept for one reward
WAYS: Final = 30  # episodes that are kept for one reward
DISPUTED: Final = 30  # steps that are kept because they paid something else at another time

Way: TypeAlias = tuple[LoggedEpisode, int]  # an episode, and the step in it


class Earnings:
    """Grows step by step; :meth:`finish` says to which episode the last ones belong.

    >>> earnings = Earnings()
    >>> earnings.step((0, 1, 2), 0.5), earnings.step((0, 1, 2), 0.0)
    (None, None)
    >>> earnings.levels(), earnings.places(0.5)
    ([0.5, 0.0], [(0, 1)])
    """

    def __init__(self) -> None:
        self._paid: Counter[float] = Counter()
        self._places: dict[float, list[tuple[int, int]]] = {}
        self._ways: dict[float, list[Way]] = {}
        self._first: dict[tuple[int, int, int], float] = {}  # what each (s, a, s') paid at first
        self._disputed: dict[tuple[int, int, int], Way] = {}
        self._open: list[tuple[tuple[int, int, int], float]] = []  # the steps of an episode that goes on

    def step(self, step: tuple[int, int, int], reward: float) -> None:
        """A step (s, a, s') paid this."""
        reward = round(float(reward), 9)
        self._paid[reward] += 1
        places = self._places.setdefault(reward, [])
        if len(places) < PLACES:
            places.append(step[:2])
        self._open.append((step, reward))

    def finish(self, episode: LoggedEpisode) -> None:
        """The episode is over."""
        for time, (step, reward) in enumerate(self._open):
            ways = self._ways.setdefault(reward, [])
            if len(ways) < WAYS and (not ways or ways[-1][0] is not episode):
                ways.append((episode, time))
            if self._first.setdefault(step, reward) != reward and len(self._disputed) < DISPUTED:
                self._disputed.setdefault(step, (episode, time))
        self._open.clear()

    def levels(self) -> list[float]:
        """All rewards so far."""
        return list(self._paid)

    def rare(self) -> list[float]:
        """Rewards that are worth coming back to."""
        total = self._paid.total()
        return [reward for reward, count in self._paid.items() if count < RARE * total] or self.levels()

    def places(self, reward: float) -> list[tuple[int, int]]:
        """Some (s, a) that earned it."""
        return self._places[reward]

    def ways(self, reward: float) -> list[Way]:
        """Some episodes that earned it, each up to the first step that did."""
        return self._ways.get(reward, [])

    def disputed(self) -> list[Way]:
        """Some steps that paid something else than an equal (s, a, s') before."""
        return list(self._disputed.values())
