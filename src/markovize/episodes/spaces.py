"""What markovize needs to know of Gymnasium's spaces: which ones have labels, and which labels.

Labels are JSON values, so observations and actions must be discrete: ``Discrete``, ``MultiDiscrete``, ``MultiBinary``,
integer ``Box``, ``Text``, or a ``Tuple`` of these. Everything else is refused here, with the wrapper that helps, unless
functions make labels of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv

from markovize.episodes.values import Value, canonical
from markovize.errors import InputError, UnsupportedError

AnyEnv: TypeAlias = "gym.Env[Any, Any] | VectorEnv[Any, Any, Any]"
AnySpace: TypeAlias = "spaces.Space[Any]"

_NAMES: Final = {"observation": "observations", "action": "actions"}


def spaces_of(env: AnyEnv) -> tuple[AnySpace, AnySpace]:
    """The observation and action space of an environment, or of one of a vector environment's.

    >>> spaces_of(gym.make_vec("FrozenLake-v1", num_envs=3))
    (Discrete(16), Discrete(4))
    """
    if isinstance(env, VectorEnv):
        return env.single_observation_space, env.single_action_space
    return env.observation_space, env.action_space


def check_discrete(env: AnyEnv, instead: str = "") -> None:
    """Raises :class:`UnsupportedError`, with advice, unless observations and actions are discrete.

    ``instead`` is what else one can do.

    >>> check_discrete(gym.make("FrozenLake-v1"))
    >>> try:
    ...     check_discrete(gym.make("CartPole-v1"))
    ... except UnsupportedError as error:
    ...     print(str(error)[:60])
    the observations are continuous (Box of float32, shape (4,))
    """
    observation_space, action_space = spaces_of(env)
    try:
        check_space(observation_space, "observation")
        check_space(action_space, "action")
    except UnsupportedError as error:
        raise UnsupportedError(f"{error}; {instead}" if instead else str(error)) from None


def check_space(space: AnySpace, what: str = "observation") -> None:
    """The same for a single space; ``what`` is ``observation`` or ``action``.

    >>> check_space(spaces.MultiDiscrete([3, 4]))
    >>> check_space(spaces.Sequence(spaces.Discrete(2)), "action")
    Traceback (most recent call last):
    markovize.errors.UnsupportedError: the actions are of a Sequence space, which has no labels; use a TransformAction \
of your own that makes them integers or arrays of integers
    """
    if isinstance(space, spaces.Tuple):
        for part in space.spaces:
            check_space(part, what)
        return
    if isinstance(space, spaces.Text) or is_integer(space):
        return
    names = _NAMES[what]
    own = f"a Transform{what.capitalize()} of your own"
    if isinstance(space, spaces.Box):
        inside = ", or wrap the environment before its observations are flattened" if what == "observation" else ""
        raise UnsupportedError(
            f"the {names} are continuous (Box of {space.dtype}, shape {space.shape}); make them discrete first, with "
            f"gymnasium.wrappers.Discretize{what.capitalize()} (Gymnasium 1.2 or later) or {own}{inside}"
        )
    if isinstance(space, spaces.Dict) and what == "observation":
        raise UnsupportedError(
            "the observations are of a Dict space, which has no labels; use gymnasium.wrappers.FlattenObservation "
            f"(if all its parts are discrete) or {own} that makes them integers or arrays of integers"
        )
    raise UnsupportedError(
        f"the {names} are of a {type(space).__name__} space, which has no labels; use {own} that makes them integers "
        "or arrays of integers"
    )


def is_labelled(space: AnySpace) -> bool:
    """Whether elements are labels as they are: what :func:`check_space` lets pass.

    >>> is_labelled(spaces.Discrete(4)), is_labelled(spaces.Dict(door=spaces.Discrete(2)))
    (True, False)
    """
    try:
        check_space(space)
    except UnsupportedError:
        return False
    return True


def is_continuous(space: AnySpace) -> bool:
    """Whether elements hold numbers that need not repeat.

    >>> is_continuous(spaces.Dict(door=spaces.Discrete(2))), is_continuous(spaces.Dict(at=spaces.Box(0.0, 1.0)))
    (False, True)
    """
    if isinstance(space, spaces.Tuple):
        return any(map(is_continuous, space.spaces))
    if isinstance(space, spaces.Dict):
        return any(map(is_continuous, space.spaces.values()))
    return isinstance(space, spaces.Box) and not is_integer(space)


def value_of(raw: object, what: str = "observation", *, objects: bool = False) -> Value:
    """The canonical value of an observation or action, as labels hold it, or label functions get it: with ``objects``.

    >>> value_of(np.array([1, 2])), value_of(np.int64(3), "action")
    ((1, 2), 3)
    >>> value_of({"image": np.zeros((1, 2), int), "direction": 3}, objects=True)["image"]
    ((0, 0),)
    >>> value_of({"position": 1})
    Traceback (most recent call last):
    markovize.errors.InputError: this observation is no label: a dict is not a label; use a number, a string, \
true/false or a list of them
    """
    if type(raw) is int:
        return raw
    try:
        return canonical(raw, objects=objects)
    except InputError as error:
        raise InputError(f"this {what} is no label: {error}") from None


def values_of(space: AnySpace, batch: Any, what: str = "observation") -> list[Value]:
    """The canonical values of a vector environment's batch; ``space`` is the space of a single one.

    >>> values_of(spaces.MultiDiscrete([3, 3]), np.array([[0, 1], [2, 2]]))
    [(0, 1), (2, 2)]
    """
    if isinstance(space, spaces.Tuple) and isinstance(batch, tuple):  # a tuple of batches, not a batch of tuples
        columns = [values_of(part, column, what) for part, column in zip(space.spaces, batch, strict=True)]
        return list(zip(*columns, strict=True))
    if isinstance(space, spaces.Dict) and isinstance(batch, Mapping):
        parts = {name: values_of(part, batch[name], what) for name, part in space.spaces.items()}
        rows_of_parts = zip(*parts.values(), strict=True)
        objects = what == "observation"
        return [value_of(dict(zip(parts, row, strict=True)), what, objects=objects) for row in rows_of_parts]
    rows = batch.tolist() if isinstance(batch, np.ndarray) else batch
    return [value_of(row, what) for row in rows]


def fits(space: AnySpace, value: Value) -> bool:
    """Whether a label could be an element of this space.

    >>> fits(spaces.Discrete(4), 3), fits(spaces.Discrete(4), 4), fits(spaces.MultiDiscrete([2, 2]), (0, 1))
    (True, False, True)
    """
    if isinstance(space, spaces.Tuple):
        parts = space.spaces
        return isinstance(value, tuple) and len(value) == len(parts) and all(map(fits, parts, value))
    if isinstance(space, spaces.Text):
        return isinstance(value, str) and value in space
    if not is_integer(space):
        return True  # nothing is known of it
    flat = _flat(value, space.shape or ())
    kind = bool if dtype_of(space).kind == "b" else int
    return flat is not None and all(
        type(x) is kind and low <= x < low + count for x, (low, count) in zip(flat, ranges_of(space), strict=True)
    )


def dtype_of(space: AnySpace) -> np.dtype[Any]:
    """The type of the numbers in a space."""
    return np.dtype(space.dtype)


def is_integer(space: AnySpace) -> bool:
    """Whether elements are integers or arrays of integers (or of bits)."""
    if isinstance(space, spaces.Box):
        return dtype_of(space).kind in "iub"
    return isinstance(space, (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary))


def ranges_of(space: AnySpace) -> list[tuple[int, int]]:
    """(lowest value, number of values) of each coordinate of an integer space."""
    if isinstance(space, spaces.Discrete):
        return [(int(space.start), int(space.n))]
    if isinstance(space, spaces.MultiDiscrete):
        return list(zip(space.start.ravel().tolist(), space.nvec.ravel().tolist(), strict=True))
    if isinstance(space, spaces.MultiBinary):
        return [(0, 2)] * math.prod(space.shape)
    assert isinstance(space, spaces.Box)
    bounds = zip(space.low.ravel().tolist(), space.high.ravel().tolist(), strict=True)
    return [(int(low), int(high) - int(low) + 1) for low, high in bounds]


def _flat(value: Value, shape: tuple[int, ...]) -> list[Value] | None:
    """The entries of nested tuples of this shape, or None where the shape is another."""
    if not shape:
        return None if isinstance(value, tuple) else [value]
    if not isinstance(value, tuple) or len(value) != shape[0]:
        return None
    out: list[Value] = []
    for part in value:
        flat = _flat(part, shape[1:])
        if flat is None:
            return None
        out += flat
    return out
