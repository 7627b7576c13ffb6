"""A log whose shards are read on a Ray cluster: each makes its part of an answer there, and the parts meet here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from markovize.clusters.ray_cluster import map_on_ray
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.traces import Traces
from markovize.errors import InputError, MarkovizeError, one_line

T = TypeVar("T")


@dataclass(frozen=True)
class RayStream(EpisodeStream):
    """The same log; the nodes of the cluster must see its files under the same names."""

    log: EpisodeStream
    address: str | None = None

    def chunks(self) -> Iterator[Traces]:
        return self.log.chunks()

    def map(self, function: Callable[[EpisodeStream], T]) -> Iterator[T]:
        something = False
        work = partial(_work, function, Path.cwd())
        for made in map_on_ray(work, self.log.shards(), self.address):
            if made.error is not None:
                raise made.error
            something |= made.something
            yield made.part
        if not something:
            self.read()  # says what is wrong


@dataclass(frozen=True)
class _Made:
    """What a task gives: its part of the answer, and whether there were episodes; or what went wrong."""

    part: Any = None
    something: bool = False
    error: MarkovizeError | None = None


@dataclass
class _Heard(EpisodeStream):
    """A shard, which may be empty, and whether it was not."""

    shard: EpisodeStream
    something: bool = False

    def chunks(self) -> Iterator[Traces]:
        for chunk in self.shard.chunks():
            self.something = True
            yield chunk


def _work(function: Callable[[EpisodeStream], Any], folder: Path, shard: EpisodeStream) -> _Made:
    """Runs on a node."""
    try:
        with chdir(folder):  # names of files mean the same as where the log was opened, also in messages
            heard = _Heard(shard)
            part = function(heard)
        return _Made(part, heard.something)
    except FileNotFoundError:
        return _Made(error=InputError("a node of the cluster has no such folder", where=one_line(folder)))
    except MarkovizeError as error:
        return _Made(error=error)
