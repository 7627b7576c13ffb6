"""Episodes, validated once, at the edge, and kept in columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from markovize.episodes.values import Interner, Value, canonical, jsonable
from markovize.errors import InputError

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Episode:
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
            "observations": [jsonable(canonical(o)) for o in self.observations],
            "actions": [jsonable(canonical(a)) for a in self.actions],
            "rewards": [float(r) for r in self.rewards],
            "terminated": bool(self.terminated),
            "truncated": bool(self.truncated),
        }


@dataclass(frozen=True, eq=False)
class Traces:
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

    def __post_init__(self) -> None:
        # -0.0 becomes 0.0: they are one number, and one text in every file
        object.__setattr__(self, "rewards", self.rewards + 0.0)

    @classmethod
    def of(cls, episodes: Iterable[Episode | Mapping[str, Any] | Sequence[Any]]) -> Traces:
        """From episodes, dicts in the JSONL form, or ``(observations, actions, rewards[, terminated])`` tuples."""
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
        return Traces.of(self.episode(number) for number in numbers)

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

    def locate(self, step: int) -> tuple[int, int]:
        """(episode, step within it) of a step counted over all episodes."""
        episode = int(np.searchsorted(self.offsets, step, side="right")) - 1
        return episode, step - int(self.offsets[episode])

    def _first_observations(self) -> Longs:
        return self.offsets[:-1] + np.arange(len(self))

    def _last_observations(self) -> Longs:
        return self.offsets[1:] + np.arange(len(self))


Episodes: TypeAlias = Traces | Iterable[Episode | Mapping[str, Any] | Sequence[Any]]


def as_traces(episodes: Episodes) -> Traces:
    """Traces as they are, anything else through :meth:`Traces.of`.

    >>> as_traces([([0, 1], ["go"], [0.5])]).steps
    1
    """
    return episodes if isinstance(episodes, Traces) else Traces.of(episodes)


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


class TracesBuilder:
    """Collects episodes one at a time, checking each; ``where`` names its origin in errors."""

    def __init__(self, *, reward_decimals: int | None = None) -> None:
        self._states, self._actions = Interner(), Interner()
        self._observation_ids, self._action_ids = array("i"), array("i")
        self._rewards = array("d")
        self._offsets = array("q", [0])
        self._terminated, self._truncated = bytearray(), bytearray()
        self._decimals = reward_decimals

    def add_json(self, fields: Mapping[str, Any], *, where: str) -> None:
        """One episode in the JSONL form."""
        missing = [name for name in ("observations", "actions", "rewards") if name not in fields]
        if missing:
            raise InputError(f'field "{missing[0]}" is missing', where=where)
        flags = []
        for name in ("terminated", "truncated"):
            flag = fields.get(name, False)
            if not isinstance(flag, (bool, np.bool_)):
                raise InputError(f'field "{name}" must be true or false, not {_brief(flag)}', where=where)
            flags.append(bool(flag))
        self.add(fields["observations"], fields["actions"], fields["rewards"], *flags, where=where)

    def add(
        self,
        observations: Any,
        actions: Any,
        rewards: Any,
        terminated: bool = False,
        truncated: bool = False,
        *,
        where: str,
    ) -> None:
        """One episode; no step is kept of one that is refused."""
        columns = [
            _as_list(c, n, where)
            for c, n in ((observations, "observations"), (actions, "actions"), (rewards, "rewards"))
        ]
        observations, actions, rewards = columns
        steps = len(actions)
        if len(rewards) != steps:
            raise InputError(f'field "rewards" has {len(rewards)} entries for {steps} actions', where=where)
        if len(observations) != steps + 1 and not (steps == 0 and not observations):
            raise InputError(
                f'field "observations" has {len(observations)} entries; {steps} actions need {steps + 1}', where=where
            )
        if not observations:
            raise InputError('field "observations" is empty; even an episode without steps has o0', where=where)
        values = self._checked_rewards(rewards, where)
        states = self._ids(self._states, observations, "observations", where)
        moves = self._ids(self._actions, actions, "actions", where)
        self._observation_ids.extend(states)
        self._action_ids.extend(moves)
        self._rewards.extend(values)
        self._offsets.append(len(self._action_ids))
        self._terminated.append(bool(terminated))
        self._truncated.append(bool(truncated))

    def build(self) -> Traces:
        """All that was added."""
        return Traces(
            self._states.values,
            self._actions.values,
            np.frombuffer(self._observation_ids, np.int32) if self._observation_ids else np.zeros(0, np.int32),
            np.frombuffer(self._action_ids, np.int32) if self._action_ids else np.zeros(0, np.int32),
            np.frombuffer(self._rewards, np.float64) if self._rewards else np.zeros(0, np.float64),
            np.frombuffer(self._offsets, np.int64),
            np.array(self._terminated, np.uint8).astype(np.bool_),
            np.array(self._truncated, np.uint8).astype(np.bool_),
        )

    def _checked_rewards(self, rewards: list[Any], where: str) -> list[float]:
        try:
            if all([type(r) is float for r in rewards]) and math.isfinite(math.fsum(rewards)):
                values = rewards
            else:
                values = [_reward(r, n, where) for n, r in enumerate(rewards)]
        except (OverflowError, ValueError):  # fsum of infinities, or of numbers near the largest float
            values = [_reward(r, n, where) for n, r in enumerate(rewards)]
        return values if self._decimals is None else [round(r, self._decimals) + 0.0 for r in values]

    @staticmethod
    def _ids(table: Interner, raws: list[Any], name: str, where: str) -> list[int]:
        try:
            return table.ids(raws)
        except InputError:
            for number, raw in enumerate(raws):
                try:
                    canonical(raw)
                except InputError as error:
                    raise InputError(f'field "{name}"[{number}]: {error}', where=where) from None
            raise


def _reward(raw: Any, number: int, where: str) -> float:
    if isinstance(raw, (bool, np.bool_)) or not isinstance(raw, (int, float, np.integer, np.floating)):
        raise InputError(f'field "rewards"[{number}] must be a number, not {_brief(raw)}', where=where)
    try:
        value = float(raw)
    except OverflowError:
        raise InputError(f'field "rewards"[{number}] is too large for a float', where=where) from None
    if not math.isfinite(value):
        raise InputError(f'field "rewards"[{number}] is {value}; rewards must be finite', where=where)
    return value


def _as_list(raw: Any, name: str, where: str) -> list[Any]:
    if isinstance(raw, list):
        return raw
    if isinstance(raw, np.ndarray) and raw.ndim > 0:
        return list(raw.tolist())
    if isinstance(raw, Sequence) and not isinstance(raw, (str, bytes)):
        return list(raw)
    raise InputError(f'field "{name}" must be a list, not {_brief(raw)}', where=where)


def _brief(raw: Any) -> str:
    try:
        text = "null" if raw is None else repr(raw)
    except (RecursionError, ValueError):  # absurdly nested lists, integers of thousands of digits
        text = f"a {type(raw).__name__}"
    return text if len(text) <= 40 else text[:37] + "..."
