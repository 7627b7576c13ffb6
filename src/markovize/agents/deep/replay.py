"""What agents remember of their episodes: single steps, or whole episodes. Full memories forget the oldest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from markovize.episodes.traces import Bools, Longs

if TYPE_CHECKING:
    from markovize.agents.deep.fast.arrays import Singles, Walk

AnyArray = npt.NDArray[Any]


class Steps(NamedTuple):
    """Some steps: views, actions, rewards, views after, and whether nothing followed by the rules of the world."""

    views: Longs
    actions: Longs
    rewards: Singles
    after: Longs
    ends: Bools


class Replay(ABC):
    """What both kinds can do, so that training can stop and go on."""

    @abstractmethod
    def add(self, walk: Walk) -> None:
        """One episode."""

    @abstractmethod
    def arrays(self) -> dict[str, AnyArray]:
        """All that is remembered."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Remembers what :meth:`arrays` gave."""


class StepReplay(Replay):
    """The last steps, to draw batches from."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.size, self._next = capacity, 0, 0
        self._views, self._actions, self._after = (np.zeros(capacity, np.int64) for _ in range(3))
        self._rewards, self._ends = np.zeros(capacity, np.float32), np.zeros(capacity, np.bool_)

    def add(self, walk: Walk) -> None:
        """All steps of an episode."""
        steps, ended = walk.outcome.tolist()
        at = np.arange(self._next, self._next + steps) % self.capacity
        self._views[at], self._after[at] = walk.views[:steps], walk.views[1 : steps + 1]
        self._actions[at], self._rewards[at] = walk.actions[:steps], walk.rewards[:steps]
        self._ends[at] = False
        self._ends[at[-1]] = bool(ended)
        self._next = (self._next + steps) % self.capacity
        self.size = min(self.size + steps, self.capacity)

    def sample(self, number: int, rng: np.random.Generator) -> Steps:
        """So many steps, drawn with replacement."""
        at = rng.integers(self.size, size=number)
        return Steps(self._views[at], self._actions[at], self._rewards[at], self._after[at], self._ends[at])

    @property
    def _columns(self) -> Steps:
        return Steps(self._views, self._actions, self._rewards, self._after, self._ends)

    def arrays(self) -> dict[str, AnyArray]:
        """All steps, and where the next one goes."""
        columns = {name: column[: self.size] for name, column in self._columns._asdict().items()}
        return columns | {"next": np.array([self._next])}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Remembers what :meth:`arrays` gave."""
        self.size, self._next = len(arrays["views"]), int(arrays["next"][0])
        for name, column in self._columns._asdict().items():
            column[: self.size] = arrays[name]


class EpisodeReplay(Replay):
    """The last episodes, to draw one from."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.size, self._next = capacity, 0, 0
        self._episodes: list[Steps] = []

    def add(self, walk: Walk) -> None:
        """One episode."""
        steps, ended = walk.outcome.tolist()
        ends = np.zeros(steps, np.bool_)
        ends[-1] = bool(ended)
        views = walk.views[: steps + 1].astype(np.int64)
        episode = Steps(views[:-1], walk.actions[:steps].astype(np.int64), walk.rewards[:steps].copy(), views[1:], ends)
        if self.size < self.capacity:
            self._episodes.append(episode)
        else:
            self._episodes[self._next] = episode
        self._next = (self._next + 1) % self.capacity
        self.size = len(self._episodes)

    def sample(self, rng: np.random.Generator) -> Steps:
        """A whole episode."""
        return self._episodes[int(rng.integers(self.size))]

    def arrays(self) -> dict[str, AnyArray]:
        """All steps, how many of them each episode has, and where the next one goes."""
        columns = (np.concatenate(column) for column in zip(*self._episodes, strict=True))
        lengths = np.array([len(episode.views) for episode in self._episodes], np.int64)
        return dict(zip(Steps._fields, columns, strict=False)) | {"lengths": lengths, "next": np.array([self._next])}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Remembers what :meth:`arrays` gave."""
        cuts = np.cumsum(arrays["lengths"])[:-1]
        columns = [np.split(arrays[name], cuts) if name in arrays else [] for name in Steps._fields]
        self._episodes = [Steps(*episode) for episode in zip(*columns, strict=True)]
        self.size, self._next = len(self._episodes), int(arrays["next"][0])
