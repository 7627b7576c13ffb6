"""All steps of an audit in columns of small integers, and the question which of them determine the reward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from markovize.auditing.labels import label_of
from markovize.auditing.rewards import RewardScale
from markovize.episodes.open_episode import OpenEpisode
from markovize.episodes.rewards import reward_number
from markovize.episodes.traces import Episode
from markovize.episodes.values import Interner, Value

Longs: TypeAlias = npt.NDArray[np.int64]

# what a reward may be a function of, the smallest first, by the names of the contract
BASES: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("next_state",),
    ("state", "action"),
    ("state", "action", "next_state"),
)
TRANSITION: Final = BASES[-1]


@dataclass(frozen=True)
class LoggedEpisode:
    """One episode as it was played; ``seed`` is None for episodes of a file."""

    seed: int | None
    actions: Sequence[Any]  # elements of the action space
    episode: Episode  # with labels, for people and for ``learn``


class Logbook:
    """Grows episode by episode; :meth:`columns` shows all of it."""

    def __init__(self) -> None:
        self.observations, self.actions = Interner(), Interner()
        self.episodes: list[LoggedEpisode] = []
        self.scale = RewardScale()
        self._histories: dict[tuple[int, int, int], int] = {}
        self._rows: list[tuple[int, int, int, int, int, int]] = []  # s, a, s', time, history, episode
        self._rewards: list[float] = []

    @property
    def steps(self) -> int:
        return len(self._rewards)

    def start(self, observation: Any, *, seed: int | None = None) -> int:
        """An episode begins; the number of its first observation."""
        self._seed = seed
        self._raw: list[Any] = []
        self._open = OpenEpisode(label_of(observation))
        self._state = self.observations.id(self._open.observations[0])
        self._history = self._find_history(-1, -1, self._state)
        return self._state

    def step(self, action: Any, reward: Any, observation: Any) -> int:
        """One more step; the number of the observation to which it led."""
        done, seen, paid = label_of(action), label_of(observation), reward_number(reward, len(self._open.actions))
        self.scale.see(reward)
        a, t = self.actions.id(done), self.observations.id(seen)
        self._history = self._find_history(self._history, a, t)
        self._rows.append((self._state, a, t, len(self._open.actions), self._history, len(self.episodes)))
        self._rewards.append(paid)
        self._raw.append(action)
        self._open.step(done, paid, seen)
        self._state = t
        return t

    def finish(self, *, terminated: bool = False, truncated: bool = False) -> LoggedEpisode:
        """The episode is over."""
        closed = self._open.close(terminated=terminated, truncated=truncated)
        self.episodes.append(LoggedEpisode(self._seed, self._raw, closed))
        return self.episodes[-1]

    def add(self, episode: Episode) -> None:
        """An episode of a file."""
        self.start(episode.observations[0])
        for action, reward, observation in zip(episode.actions, episode.rewards, episode.observations[1:], strict=True):
            self.step(action, reward, observation)
        self.finish(terminated=episode.terminated, truncated=episode.truncated)

    def _find_history(self, before: int, action: int, state: int) -> int:
        return self._histories.setdefault((before, action, state), len(self._histories))

    def columns(self) -> Columns:
        """All steps so far."""
        rows = np.array(self._rows, np.int64).reshape(-1, 6)
        rewards = np.array(self._rewards, np.float64)
        return Columns(rows, self.scale.codes(rewards), rewards)

    def label(self, columns: Columns, step: int) -> tuple[Value, Value, Value]:
        """(s, a, s') of a step."""
        s, a, t = columns.rows[step, :3].tolist()
        return self.observations.values[s], self.actions.values[a], self.observations.values[t]


NAMES: Final = {"state": 0, "action": 1, "next_state": 2, "time": 3, "history": 4, "episode": 5}


@dataclass(frozen=True)
class Columns:
    """Steps as rows (s, a, s', time, history, episode), the reward of each, and its code: equal for equal rewards."""

    rows: Longs
    codes: Longs
    rewards: npt.NDArray[np.float64]

    @cached_property
    def transition(self) -> Longs:
        return self.keys(TRANSITION)

    def keys(self, parts: Iterable[str]) -> Longs:
        """A number for each step, equal where all these parts are."""
        keys = np.zeros(len(self.rows), np.int64)
        for name in parts:
            column = self.rows[:, NAMES[name]]
            width = int(column.max(initial=0)) + 1
            keys = np.unique(keys * width + column, return_inverse=True)[1].astype(np.int64).ravel()
        return keys

    def conflicting(self, keys: Longs) -> npt.NDArray[np.bool_]:
        """Of each step, whether another step with its key paid another reward."""
        size = int(keys.max(initial=-1)) + 1
        low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
        np.minimum.at(low, keys, self.codes)
        np.maximum.at(high, keys, self.codes)
        out: npt.NDArray[np.bool_] = (low < high)[keys]
        return out

    def repeated(self, keys: Longs) -> npt.NDArray[np.bool_]:
        """Of each step, whether another step with its key came about in another way."""
        history = self.rows[:, NAMES["history"]]
        size = int(keys.max(initial=-1)) + 1
        low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
        np.minimum.at(low, keys, history)
        np.maximum.at(high, keys, history)
        out: npt.NDArray[np.bool_] = (low < high)[keys]
        return out

    def smallest_base(self, *more: str) -> tuple[str, ...] | None:
        """The first of :data:`BASES` that, with these parts, determines every reward; None if none does."""
        for base in BASES:
            if not self.conflicting(self.keys((*base, *more))).any():
                return base
        return None

    def pairs(self, keys: Longs, most: int = 20) -> list[tuple[int, int]]:
        """For keys with two rewards, the two earliest steps that paid differently; the earliest pairs first."""
        suspects = np.flatnonzero(self.conflicting(keys))
        depth = self.rows[suspects, NAMES["time"]]
        first: dict[tuple[int, int], int] = {}
        for step in suspects[np.lexsort((suspects, depth))].tolist():
            first.setdefault((int(keys[step]), int(self.codes[step])), step)
        by_key: dict[int, list[int]] = {}
        for (key, _), step in first.items():
            by_key.setdefault(key, []).append(step)
        found = [(steps[0], steps[1]) for steps in by_key.values()]
        found.sort(key=lambda pair: (int(self.rows[list(pair), NAMES["time"]].sum()), pair))
        return found[:most]
