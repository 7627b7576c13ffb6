"""The state of a simulator, taken out of an environment, and put back at another time."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from markovize.auditing.labels import label_of
from markovize.episodes.values import jsonable

if TYPE_CHECKING:
    import gymnasium

Floats: TypeAlias = npt.NDArray[np.float64]

# what a step of MuJoCo starts from, the time aside: a clock is no part of the state
MUJOCO_FIELDS: Final = ("qpos", "qvel", "act", "qacc_warmstart", "mocap_pos", "mocap_quat", "userdata")
PHYSICS: Final = ("qpos", "qvel")
ITSELF: Final = object()  # stands for the environment in copies of attributes that know it


@dataclass(frozen=True)
class MujocoData:
    """The fields of an ``MjData`` from which the next step follows."""

    fields: Mapping[str, npt.NDArray[Any]]

    @classmethod
    def of(cls, data: Any) -> MujocoData:
        return cls({name: np.array(getattr(data, name)) for name in MUJOCO_FIELDS if hasattr(data, name)})

    def put(self, data: Any) -> None:
        import mujoco

        for _ in range(2):  # the second time, because mj_forward may touch what the solver starts from
            for name, value in self.fields.items():
                getattr(data, name)[...] = value
            if _ == 0:
                mujoco.mj_forward(data.model, data)


@dataclass(frozen=True)
class Snapshot:
    """Some attributes of ``env.unwrapped``, as they were.

    >>> import gymnasium
    >>> env = gymnasium.make("MountainCar-v0")
    >>> _ = env.reset(seed=0)
    >>> start = Snapshot.of(env, ["state"])
    >>> first = env.step(2)[0]
    >>> start.put(env)
    >>> bool((env.step(2)[0] == first).all())
    True
    """

    values: Mapping[str, Any]

    @classmethod
    def of(cls, env: gymnasium.Env[Any, Any], names: Iterable[str]) -> Snapshot:
        memo: dict[int, Any] = {
            id(env.unwrapped): ITSELF
        }  # one for all attributes: what they share, their copies share
        attributes = vars(env.unwrapped)
        return cls({name: _saved(attributes[name], memo) for name in names if name in attributes})

    def put(self, env: gymnasium.Env[Any, Any]) -> None:
        """Back into the environment; wrappers around it notice nothing."""
        target = env.unwrapped
        memo: dict[int, Any] = {id(ITSELF): target}
        for name, value in self.values.items():
            if isinstance(value, MujocoData):
                value.put(getattr(target, name))
            else:
                setattr(target, name, copy.deepcopy(value, memo))

    @cached_property
    def vector(self) -> Floats:
        """All floating-point numbers in it, in order."""
        return np.array([number for _, value in self._numeric() for number in _numbers(value)], np.float64)

    @property
    def free(self) -> bool:
        """Whether its numbers may be chosen; those of MuJoCo (quaternions, bodies that touch) hang together."""
        return bool(len(self.vector)) and not any(isinstance(value, MujocoData) for value in self.values.values())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What to call the numbers of :attr:`vector`."""
        out = []
        for name, value in self._numeric():
            size = len(_numbers(value))
            out += [name] if np.ndim(value) == 0 else [f"{name}[{n}]" for n in range(size)]
        return tuple(out)

    def moved(self, vector: Floats) -> Snapshot:
        """The same with other numbers."""
        values, at = dict(self.values), 0
        for name, value in self._numeric():
            size = len(_numbers(value))
            part, at = vector[at : at + size], at + size
            owner, _, field = name.partition(".")
            if field:
                fields = dict(values[owner].fields) | {field: part.reshape(value.shape)}
                values[owner] = replace(values[owner], fields=fields)
            else:
                values[name] = _like(value, part)
        return Snapshot(values)

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, value in self.values.items():
            if isinstance(value, MujocoData):
                out[name] = {field: np.ravel(array).tolist() for field, array in value.fields.items() if array.size}
            else:
                out[name] = jsonable(label_of(value))
        return out

    def _numeric(self) -> Iterable[tuple[str, Any]]:
        for name, value in self.values.items():
            if isinstance(value, MujocoData):
                yield from ((f"{name}.{field}", value.fields[field]) for field in PHYSICS)
            elif _is_numeric(value):
                yield name, value


def _saved(value: Any, memo: dict[int, Any]) -> Any:
    return MujocoData.of(value) if is_mujoco(value) else copy.deepcopy(value, memo)


def is_mujoco(value: Any) -> bool:
    """Whether this is the state of MuJoCo, which is no optional import for that question."""
    kind = type(value)
    return kind.__name__ == "MjData" and kind.__module__.startswith("mujoco")


def _is_numeric(value: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return True
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "f")
    return (
        isinstance(value, (tuple, list)) and len(value) > 0 and all(isinstance(v, (float, np.floating)) for v in value)
    )


def _numbers(value: Any) -> Floats:
    return np.ravel(np.asarray(value, np.float64))


def _like(value: Any, numbers: Floats) -> Any:
    if isinstance(value, np.ndarray):
        return numbers.reshape(value.shape).astype(value.dtype)
    if isinstance(value, (tuple, list)):
        return type(value)(numbers.tolist())
    return float(numbers[0])
