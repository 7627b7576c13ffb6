"""Episodes that do not fit into memory: read again, chunk by chunk, each time they are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from markovize.episodes.traces import Bools, Ints, Traces, by_first_use, draw_episodes
from markovize.episodes.values import Interner, Value

T = TypeVar("T")


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

    def shards(self) -> Sequence[EpisodeStream]:
        """Streams of parts of the log, in its order, that can be read on their own; here the whole is the only one."""
        return [self]

    def map(self, function: Callable[[EpisodeStream], T]) -> Iterator[T]:
        """What a function makes of each part of the log, in the order of the log. Here the whole is one part."""
        yield function(self)

    def read(self) -> Traces:
        """All episodes, in memory."""
        return join_chunks(self.chunks())

    def split(self, share: float, seed: int = 0) -> tuple[SomeEpisodes, SomeEpisodes]:
        """As :meth:`Traces.split <markovize.Traces.split>`, in two streams; reads the log once, to count its episodes.

        >>> class Few(EpisodeStream):
        ...     def chunks(self):
        ...         yield Traces.of([([0, n], ["go"], [n]) for n in range(10)])
        >>> [len(part.read()) for part in Few().split(0.2)]
        [8, 2]
        """
        drawn = draw_episodes(sum(len(chunk) for chunk in self.chunks()), share, seed)
        return SomeEpisodes(self, ~drawn), SomeEpisodes(self, drawn)


@dataclass(frozen=True)
class SomeEpisodes(EpisodeStream):
    """Those of the episodes of a stream that are chosen."""

    stream: EpisodeStream
    chosen: Bools

    def __len__(self) -> int:
        return int(self.chosen.sum())

    def chunks(self) -> Iterator[Traces]:
        observations, actions = Interner(), Interner()
        before = 0
        for chunk in self.stream.chunks():
            chosen = self.chosen[before : before + len(chunk)]
            before += len(chunk)
            lengths = np.diff(chunk.offsets)
            steps = np.repeat(chosen, lengths)
            yield Traces(
                observations.values,
                actions.values,
                renumbered(chunk.observations[np.repeat(chosen, lengths + 1)], chunk.observation_values, observations),
                renumbered(chunk.actions[steps], chunk.action_values, actions),
                chunk.rewards[steps],
                np.r_[0, np.cumsum(lengths[chosen])],
                chunk.terminated[chosen],
                chunk.truncated[chosen],
                observation_names=chunk.observation_names,
                action_names=chunk.action_names,
            )


def renumbered(ids: Ints, values: Sequence[Value | None], known: Interner) -> Ints:
    """The numbers that the values of these ids have, or get, in all chunks."""
    own, used = by_first_use(ids, values)  # type: ignore[arg-type]
    return np.array([known.id(value) for value in used], np.int32)[own] if used else own


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
        observation_names=parts[0].observation_names,
        action_names=parts[0].action_names,
    )
