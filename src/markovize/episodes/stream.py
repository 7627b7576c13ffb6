"""Episodes that do not fit into memory: read again, chunk by chunk, each time they are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from markovize.episodes.traces import Episodes, Traces, as_traces


class EpisodeStream(ABC):
    """A log as a stream, as :func:`markovize.stream_episodes` opens it.

    >>> class Twice(EpisodeStream):
    ...     def chunks(self):
    ...         yield from [Traces.of([([0, 1], ["go"], [0.5])])] * 2
    >>> len(Twice().read())
    2
    """

    @abstractmethod
    def chunks(self) -> Iterator[Traces]:
        """Whole episodes, a part of them at a time; each call begins at the start of the log.

        Labels have the same numbers in all chunks, by first appearance.
        """

    def read(self) -> Traces:
        """All episodes, in memory."""
        return join_chunks(self.chunks())


def chunks_of(episodes: Episodes | EpisodeStream) -> Iterable[Traces]:
    """A stream's chunks; anything else is one chunk.

    >>> [chunk.steps for chunk in chunks_of([([0, 1], ["go"], [0.5])])]
    [1]
    """
    return episodes.chunks() if isinstance(episodes, EpisodeStream) else [as_traces(episodes)]


def join_chunks(chunks: Iterable[Traces]) -> Traces:
    """Chunks that share the numbers of their labels, as one."""
    parts: Sequence[Traces] = list(chunks)
    if not parts:
        return Traces.of([])
    shifts = np.cumsum([0, *(part.steps for part in parts)])
    return Traces(
        parts[-1].observation_values,
        parts[-1].action_values,
        np.concatenate([part.observations for part in parts]),
        np.concatenate([part.actions for part in parts]),
        np.concatenate([part.rewards for part in parts]),
        np.concatenate([np.zeros(1, np.int64)] + [p.offsets[1:] + n for p, n in zip(parts, shifts, strict=False)]),
        np.concatenate([part.terminated for part in parts]),
        np.concatenate([part.truncated for part in parts]),
    )
