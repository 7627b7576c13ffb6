"""Logs that are read a few episodes at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from markovize.episodes.stream import EpisodeStream
from markovize.episodes.traces import Traces


class Pieces(EpisodeStream):
    """Episodes in memory, as chunks of a few."""

    def __init__(self, traces: Traces, size: int) -> None:
        self.traces, self.size = traces, size

    def chunks(self) -> Iterator[Traces]:
        t = self.traces
        for at in range(0, len(t), self.size):
            to = min(len(t), at + self.size)
            start, end = int(t.offsets[at]), int(t.offsets[to])
            yield Traces(
                t.observation_values,
                t.action_values,
                t.observations[start + at : end + to],
                t.actions[start:end],
                t.rewards[start:end],
                t.offsets[at : to + 1] - start,
                t.terminated[at:to],
                t.truncated[at:to],
            )


def noisy(seed: int) -> Traces:
    """Few states and actions, many rewards and episodes without steps."""
    rng = np.random.default_rng(seed)
    return Traces.of(
        (rng.integers(3, size=n + 1), rng.integers(2, size=n), rng.integers(3, size=n) / 4, bool(rng.integers(2)))
        for n in rng.integers(6, size=20)
    )
