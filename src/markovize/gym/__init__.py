"""Gymnasium environments: the paper's worlds, and grids of one's own.

- :class:`~markovize.gym.world_env.WorldEnv` makes an environment of any world;
- :class:`~markovize.gym.grid_world.GridWorld` makes one of a map drawn as text and a reward machine;
- :class:`~markovize.gym.paper_worlds.OfficeWorld`, :class:`~markovize.gym.paper_worlds.BreakfastWorld` and
  :class:`~markovize.gym.paper_worlds.BeachWorld` are the paper's, as ``markovize/OfficeWorld-v0`` and so on.

>>> import gymnasium, markovize
>>> env = gymnasium.make("markovize/OfficeWorld-v0", task="b")
>>> env.reset(seed=0)[0].tolist(), env.step(1)[0].tolist()
([2, 1], [3, 1])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markovize.gym.grid_world import GridWorld
    from markovize.gym.paper_worlds import BeachWorld, BreakfastWorld, OfficeWorld
    from markovize.gym.world_env import WorldEnv

__all__ = ["BeachWorld", "BreakfastWorld", "GridWorld", "OfficeWorld", "WorldEnv"]

_HOMES = {
    "BeachWorld": "paper_worlds",
    "BreakfastWorld": "paper_worlds",
    "OfficeWorld": "paper_worlds",
    "GridWorld": "grid_world",
    "WorldEnv": "world_env",
}


def __getattr__(name: str) -> Any:
    """Loads a class when it is first used: registering the environments stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'markovize.gym' has no attribute {name!r}")
    value = getattr(import_module(f"markovize.gym.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
