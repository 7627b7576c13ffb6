"""Columns of many episodes: what may stand in them is checked here, once, at the edge."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from markovize.episodes.record import Record
from markovize.episodes.values import Interner, Value, canonical
from markovize.errors import InputError

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]


class CheckedColumns:
    """Episodes added one at a time, each checked; ``where`` names its origin in errors."""

    def __init__(self, *, reward_decimals: int | None = None) -> None:
        self._states, self._actions = Interner(), Interner()
        self._observation_ids, self._action_ids = array("i"), array("i")
        self._rewards = array("d")
        self._offsets = array("q", [0])
        self._terminated, self._truncated = bytearray(), bytearray()
        self._decimals = reward_decimals
        self._names: list[str] | None = None  # of the parts of observations, where they are objects

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
        values = self._finite_rewards(rewards, where)
        if not len(self._states) and all([isinstance(raw, (Mapping, Record)) for raw in observations]):
            self._states, self._names = Interner(objects=True), sorted(map(str, observations[0].keys()))
        if self._names is not None:
            self._check_names(observations, where)
        states = self._ids(self._states, observations, "observations", where)
        moves = self._ids(self._actions, actions, "actions", where)
        self._observation_ids.extend(states)
        self._action_ids.extend(moves)
        self._rewards.extend(values)
        self._offsets.append(len(self._action_ids))
        self._terminated.append(bool(terminated))
        self._truncated.append(bool(truncated))

    def columns(self) -> tuple[list[Value], list[Value], Ints, Ints, Floats, Longs, Bools, Bools]:
        """All that was added, in the order of the fields of :class:`~markovize.Traces`."""
        return (
            self._states.values,
            self._actions.values,
            np.frombuffer(self._observation_ids, np.int32) if self._observation_ids else np.zeros(0, np.int32),
            np.frombuffer(self._action_ids, np.int32) if self._action_ids else np.zeros(0, np.int32),
            np.frombuffer(self._rewards, np.float64) if self._rewards else np.zeros(0, np.float64),
            np.frombuffer(self._offsets, np.int64),
            np.array(self._terminated, np.uint8).astype(np.bool_),
            np.array(self._truncated, np.uint8).astype(np.bool_),
        )

    def _check_names(self, observations: list[Any], where: str) -> None:
        for number, raw in enumerate(observations):
            if not isinstance(raw, (Mapping, Record)) or sorted(map(str, raw.keys())) != self._names:
                raise InputError(
                    f'field "observations"[{number}] is not an object with the names of the first, '
                    f"{_brief(self._names)}",
                    where=where,
                )

    def _finite_rewards(self, rewards: list[Any], where: str) -> list[float]:
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
                    canonical(raw, objects=table.objects)
                except InputError as error:
                    raise InputError(f'field "{name}"[{number}]: {error}', where=where) from None
            raise


def _reward(raw: object, number: int, where: str) -> float:
    if isinstance(raw, (bool, np.bool_)) or not isinstance(raw, (int, float, np.integer, np.floating)):
        raise InputError(f'field "rewards"[{number}] must be a number, not {_brief(raw)}', where=where)
    try:
        value = float(raw)
    except OverflowError:
        raise InputError(f'field "rewards"[{number}] is too large for a float', where=where) from None
    if not math.isfinite(value):
        raise InputError(f'field "rewards"[{number}] is {value}; rewards must be finite', where=where)
    return value


def _as_list(raw: object, name: str, where: str) -> list[Any]:
    if isinstance(raw, list):
        return raw
    if isinstance(raw, np.ndarray) and raw.ndim > 0:
        return list(raw.tolist())
    if isinstance(raw, Sequence) and not isinstance(raw, (str, bytes)):
        return list(raw)
    raise InputError(f'field "{name}" must be a list, not {_brief(raw)}', where=where)


def _brief(raw: object) -> str:
    try:
        text = "null" if raw is None else repr(raw)
    except (RecursionError, ValueError):  # absurdly nested lists, integers of thousands of digits
        text = f"a {type(raw).__name__}"
    return text if len(text) <= 40 else text[:37] + "..."
