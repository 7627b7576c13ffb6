"""Episodes, validated once, at the edge, and kept in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from markovize.episodes.brief import BriefRepr
from markovize.episodes.columns import Bools, CheckedColumns, Floats, Ints, Longs
from markovize.episodes.values import Value, canonical, jsonable
from markovize.errors import InputError

__all__ = [  # with the types of the columns
    "Bools",
    "Episode",
    "Episodes",
    "Floats",
    "Frame",
    "Ints",
    "Longs",
    "Traces",
    "TracesBuilder",
    "as_traces",
    "by_first_use",
    "draw_episodes",
]


class Frame(Protocol):
    """A data frame of any library that hands out its columns through Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


@dataclass(frozen=True)
class Episode(BriefRepr):
    """One episode: observations o0…oT, actions a0…aT-1, rewards r1…rT, and how it ended.

    >>> Episode([0, 1, 2], ["go", "go"], [0.0, 1.0], terminated=True).steps
    2
    """

    observations: Sequence[Any]
    actions: Sequence[Any]
    rewards: Sequence[float]
    terminated: bool = False
    truncated: bool = False

    @property
    def steps(self) -> int:
        return len(self.actions)

    def to_json(self) -> dict[str, Any]:
        """The episode as a line of the JSONL format holds it."""
        return {
            "observations": [jsonable(canonical(o, objects=True)) for o in self.observations],
            "actions": [jsonable(canonical(a)) for a in self.actions],
            "rewards": [float(r) + 0.0 for r in self.rewards],  # -0.0 becomes 0.0
            "terminated": bool(self.terminated),
            "truncated": bool(self.truncated),
        }


@dataclass(frozen=True, eq=False)
class Traces(BriefRepr):
    """Many episodes in columns: the form in which all of markovize reads them.

    Make one with :meth:`of` (from Python values) or :func:`markovize.read_episodes` (from a file).

    >>> traces = Traces.of([Episode([0, 1], ["go"], [0.5], terminated=True)])
    >>> len(traces), traces.steps, traces.episode(0).rewards
    (1, 1, [0.5])
    """

    observation_values: list[Value]
    action_values: list[Value]
    observations: Ints = field(repr=False)  # one more than steps in each episode
    actions: Ints = field(repr=False)
    rewards: Floats = field(repr=False)
    offsets: Longs = field(repr=False)  # of each episode's first step, and the end
    terminated: Bools = field(repr=False)
    truncated: Bools = field(repr=False)
    # what the entries of observations and actions that are lists are called, where columns of a table had names
    observation_names: tuple[str, ...] = field(default=(), repr=False, kw_only=True)
    action_names: tuple[str, ...] = field(default=(), repr=False, kw_only=True)

    def __post_init__(self) -> None:
        # -0.0 becomes 0.0: they are one number, and one text in every file
        object.__setattr__(self, "rewards", self.rewards + 0.0)

    @classmethod
    def of(cls, episodes: Frame | Iterable[Episode | Mapping[str, Any] | Sequence[Any]]) -> Traces:
        """From episodes, dicts in the JSONL form, or ``(observations, actions, rewards[, terminated])`` tuples.

        A data frame (pandas, polars, an Arrow table; extra ``data``) has a step in each row, in the columns of CSV.
        """
        if hasattr(episodes, "__arrow_c_stream__"):
            from markovize.episodes.arrow.frames import read_frame  # needs what is defined here

            return read_frame(episodes)
        builder = TracesBuilder()
        for number, episode in enumerate(episodes):
            where = f"episode {number}"
            if isinstance(episode, Episode):
                builder.add(
                    episode.observations,
                    episode.actions,
                    episode.rewards,
                    episode.terminated,
                    episode.truncated,
                    where=where,
                )
            elif isinstance(episode, Mapping):
                builder.add_json(episode, where=where)
            else:
                if not isinstance(episode, Sequence) or isinstance(episode, str) or not 3 <= len(episode) <= 5:
                    raise InputError("needs (observations, actions, rewards[, terminated[, truncated]])", where=where)
                names = ("observations", "actions", "rewards", "terminated", "truncated")
                builder.add_json(dict(zip(names, episode, strict=False)), where=where)
        return builder.build()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def steps(self) -> int:
        return len(self.actions)

    def episode(self, number: int) -> Episode:
        """One episode, back as Python values."""
        number = range(len(self))[number]  # counts from the end if negative, as lists do
        start, end = int(self.offsets[number]), int(self.offsets[number + 1])
        first = start + number
        return Episode(
            [self.observation_values[i] for i in self.observations[first : first + end - start + 1]],
            [self.action_values[i] for i in self.actions[start:end]],
            [float(r) for r in self.rewards[start:end]],
            bool(self.terminated[number]),
            bool(self.truncated[number]),
        )

    def __iter__(self) -> Iterator[Episode]:
        return (self.episode(number) for number in range(len(self)))

    def select(self, numbers: Iterable[int]) -> Traces:
        """Only the episodes with these numbers, in this order."""
        chosen = Traces.of(self.episode(number) for number in numbers)
        return replace(chosen, observation_names=self.observation_names, action_names=self.action_names)

    def split(self, share: float, seed: int = 0) -> tuple[Traces, Traces]:
        """Two parts: episodes to learn from, and this share of them, drawn at random, to try the machine on.

        Each part has at least one episode, in the order of the whole.

        >>> learned, held_out = Traces.of([([0, n], ["go"], [n]) for n in range(10)]).split(0.2)
        >>> len(learned), len(held_out)
        (8, 2)
        """
        drawn = draw_episodes(len(self), share, seed)
        return self.select(np.flatnonzero(~drawn).tolist()), self.select(np.flatnonzero(drawn).tolist())

    def states_before(self) -> Ints:
        """Ids of s for every step."""
        return np.delete(self.observations, self._last_observations())

    def states_after(self) -> Ints:
        """Ids of s' for every step."""
        return np.delete(self.observations, self._first_observations())

    def ends(self) -> Bools:
        """For every step, whether it ended its episode by ``terminated``."""
        out = np.zeros(self.steps, np.bool_)
        closed = self.terminated & (np.diff(self.offsets) > 0)
        out[self.offsets[1:][closed] - 1] = True
        return out

    def depths(self) -> Longs:
        """For every step, how many steps of its episode came before it."""
        return np.arange(self.steps) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    @property
    def recorded(self) -> tuple[int, int]:
        """How many episodes and steps were recorded; more than stand here where equal ones are merged."""
        return len(self), self.steps

    def starts(self) -> Ints:
        """For each episode, the step after which it goes on: -1, at the beginning, but where equal ones are merged."""
        return np.full(len(self), -1, np.int32)

    def weights(self) -> Ints | None:
        """For how many recorded steps each step stands; None if each is one."""
        return None

    def locate(self, step: int) -> tuple[int, int]:
        """(episode, step within it) of a step counted over all episodes."""
        episode = int(np.searchsorted(self.offsets, step, side="right")) - 1
        return episode, step - int(self.offsets[episode])

    def _first_observations(self) -> Longs:
        return self.offsets[:-1] + np.arange(len(self))

    def _last_observations(self) -> Longs:
        return self.offsets[1:] + np.arange(len(self))


Episodes: TypeAlias = Traces | Frame | Iterable[Episode | Mapping[str, Any] | Sequence[Any]]


def as_traces(episodes: Episodes) -> Traces:
    """Traces as they are, anything else through :meth:`Traces.of`.

    >>> as_traces([([0, 1], ["go"], [0.5])]).steps
    1
    """
    return episodes if isinstance(episodes, Traces) else Traces.of(episodes)


def draw_episodes(episodes: int, share: float, seed: int) -> Bools:
    """For each of so many episodes, whether it is held out: this share of them, but at least one, and not all.

    >>> draw_episodes(10, 0.2, seed=0).sum()
    np.int64(2)
    """
    if not 0 < share < 1:
        raise InputError(f"the share of episodes to hold out must be between 0 and 1, not {share}")
    if episodes < 2:
        raise InputError(f"to hold out some, there must be at least 2 episodes, not {episodes}")
    drawn = np.zeros(episodes, np.bool_)
    many = min(episodes - 1, max(1, round(share * episodes)))
    drawn[np.random.default_rng(seed).permutation(episodes)[:many]] = True
    return drawn


def by_first_use(ids: Ints, values: Sequence[Value]) -> tuple[Ints, list[Value]]:
    """Renumbers ids in order of first appearance.

    >>> by_first_use(np.array([2, 0, 2], np.int32), "abc")
    (array([0, 1, 0], dtype=int32), ['c', 'a'])
    """
    first = np.full(len(values), len(ids), np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(ids))]
    number = np.zeros(len(values), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return number[ids], [values[index] for index in order.tolist()]


class TracesBuilder(CheckedColumns):
    """Collects episodes one at a time, checking each; ``where`` names its origin in errors."""

    def build(self) -> Traces:
        """All that was added."""
        return Traces(*self.columns())
