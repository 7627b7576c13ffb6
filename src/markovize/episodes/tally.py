"""What was paid for each label, counted chunk by chunk: memory grows with what is distinct, not with the steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from markovize.episodes.traces import Bools, Ints, Traces
from markovize.episodes.values import Interner, Value


@dataclass
class Seen:
    """One reward of one label: at how many steps, and the shallowest of them as (step within its episode, episode)."""

    count: int
    first: tuple[int, int]


class Tally:
    """For each label, the rewards that its steps paid.

    >>> tally, traces = Tally(), Traces.of([([0, 1, 1], ["go", "go"], [0, 1])])
    >>> tally.add(np.array([0, 0]), ["here"], traces, episodes_before=5)
    >>> [(label, sorted(paid), paid[1.0]) for label, paid in tally.items()]
    [('here', [0.0, 1.0], Seen(count=1, first=(1, 5)))]
    """

    def __init__(self) -> None:
        self._labels = Interner()
        self._paid: list[dict[float, Seen]] = []

    def items(self) -> Iterator[tuple[Value, dict[float, Seen]]]:
        """Each label, and what it paid."""
        return zip(self._labels.values, self._paid, strict=True)

    def add(
        self, ids: Ints, values: list[Value], traces: Traces, *, episodes_before: int, only: Bools | None = None
    ) -> None:
        """Counts the steps of a chunk, or ``only`` some of them; ``ids`` number their labels among the ``values``."""
        depth = traces.depths()
        episode = np.repeat(np.arange(len(traces)), np.diff(traces.offsets)) + episodes_before
        rewards = traces.rewards
        if only is not None:
            ids, depth, episode, rewards = ids[only], depth[only], episode[only], rewards[only]
        if not len(ids):
            return
        levels, codes = np.unique(rewards, return_inverse=True)
        pairs, of_step, counts = np.unique(
            ids.astype(np.int64) * len(levels) + codes, return_inverse=True, return_counts=True
        )
        rank = depth * len(depth) + np.arange(len(depth))  # the shallowest step, and of these the first
        best = np.full(len(pairs), np.iinfo(np.int64).max)
        np.minimum.at(best, of_step, rank)
        at = best % len(depth)
        columns = (pairs // len(levels), levels[pairs % len(levels)], counts, depth[at], episode[at])
        for label, reward, count, step, number in zip(*(column.tolist() for column in columns), strict=True):
            place = self._labels.id(values[label])
            if place == len(self._paid):
                self._paid.append({})
            self._note(place, reward, Seen(count, (step, number)))

    def absorb(self, later: Tally, *, episodes_before: int) -> None:
        """Adds what was counted in a later part of the log, whose first episode has this number in the whole."""
        for label, paid in later.items():
            place = self._labels.id(label)
            if place == len(self._paid):
                self._paid.append({})
            for reward, seen in paid.items():
                step, episode = seen.first
                self._note(place, reward, Seen(seen.count, (step, episode + episodes_before)))

    def _note(self, place: int, reward: float, seen: Seen) -> None:
        known = self._paid[place].get(reward)
        if known is None:
            self._paid[place][reward] = seen
        else:
            known.count += seen.count
            known.first = min(known.first, seen.first)

    def count(self, label: Value, reward: float) -> int:
        """At how many steps this label paid this reward."""
        place = self._labels.find(label)
        found = None if place is None else self._paid[place].get(reward)
        return 0 if found is None else found.count


def usual_reward(paid: dict[float, Seen]) -> float:
    """The commonest reward; of equally common ones, the nearest to zero.

    >>> usual_reward({0.0: Seen(2, (0, 0)), 5.0: Seen(2, (0, 0)), 1.0: Seen(1, (0, 0))})
    0.0
    """
    return min(paid, key=lambda reward: (-paid[reward].count, abs(reward), reward))
