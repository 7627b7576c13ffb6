"""The environment under audit, and how to get one that has no past."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from markovize.auditing.copies import without_last_words
from markovize.errors import InputError

if TYPE_CHECKING:
    import gymnasium

HARMLESS: Final = ("PassiveEnvChecker", "OrderEnforcing", "TimeLimit", "Inside", "Spy")  # show what they get


@dataclass(frozen=True)
class EnvSource:
    """An environment to walk in; ``make`` gives another one, as new, or is None where nobody can make one."""

    env: gymnasium.Env[Any, Any]
    make: Callable[[], gymnasium.Env[Any, Any]] | None
    name: str

    @contextmanager
    def fresh(self) -> Iterator[gymnasium.Env[Any, Any]]:
        """An environment without a past; where none can be made, the one that was given."""
        if self.make is None:
            yield self.env
            return
        env = self.make()
        try:
            yield env
        finally:
            env.close()

    @classmethod
    def made_by(cls, make: Callable[[], gymnasium.Env[Any, Any]], name: str = "") -> EnvSource:
        """From a function that makes environments."""
        env = _check_single(make())
        return cls(env, make, name or name_of(env))

    @classmethod
    def of(cls, env: Any) -> EnvSource:
        """From an environment: a copy of it, taken now, stands for a new one."""
        _check_single(env)  # a vector environment is refused
        with without_last_words():
            try:
                pristine = copy.deepcopy(env)
                copy.deepcopy(pristine).close()
            except Exception:  # C++ simulators, open files, locks: other people's classes raise anything here
                return cls(env, None, name_of(env))
        return cls(env, lambda: copy.deepcopy(pristine), name_of(env))


def name_of(env: gymnasium.Env[Any, Any]) -> str:
    """What to call an environment.

    >>> import gymnasium
    >>> name_of(gymnasium.make("CartPole-v1"))
    'CartPole-v1'
    """
    try:
        spec = env.spec
    except Exception:  # wrappers whose arguments cannot be copied
        spec = None
    return type(env.unwrapped).__name__ if spec is None else spec.id


def wrappers_of(env: gymnasium.Env[Any, Any]) -> list[str]:
    """The names of the wrappers around an environment that may remember or change something, the outermost first.

    >>> import gymnasium
    >>> wrappers_of(gymnasium.wrappers.FrameStackObservation(gymnasium.make("CartPole-v1"), 2))
    ['FrameStackObservation']
    """
    import gymnasium

    names: list[str] = []
    while isinstance(env, gymnasium.Wrapper):
        if type(env).__name__ not in HARMLESS:
            names.append(type(env).__name__)
        env = env.env
    return names


def is_continuous(env: gymnasium.Env[Any, Any]) -> bool:
    """Whether observations have floating-point numbers in them, which may never come back.

    >>> import gymnasium
    >>> is_continuous(gymnasium.make("CartPole-v1")), is_continuous(gymnasium.make("FrozenLake-v1"))
    (True, False)
    """
    return has_floats(env.observation_space)


def has_floats(space: Any) -> bool:
    """Whether there are floating-point numbers in the elements of a space."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        return any(has_floats(part) for part in space.values())
    if isinstance(space, spaces.Tuple):
        return any(has_floats(part) for part in space)
    return isinstance(space, spaces.Box) and np.dtype(space.dtype).kind == "f"


def _check_single(env: Any) -> gymnasium.Env[Any, Any]:
    import gymnasium

    if isinstance(env, gymnasium.Env):
        return env
    many = isinstance(env, gymnasium.vector.VectorEnv)
    what = "one environment, not a vector of them" if many else f"an environment, not a {type(env).__name__}"
    raise InputError(f"check_reward plays in {what}; use gymnasium.make")
