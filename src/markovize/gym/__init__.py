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

from typing import TYPE_CHECKING, Any

from markovize.extras import lazy_names
from markovize.worlds import FAMILIES, env_name

if TYPE_CHECKING:
    from markovize.gym.grid_world import GridWorld
    from markovize.gym.paper_worlds import BeachWorld, BreakfastWorld, OfficeWorld
    from markovize.gym.world_env import WorldEnv

__all__ = ["BeachWorld", "BreakfastWorld", "GridWorld", "OfficeWorld", "WorldEnv"]

_load_name, __dir__ = lazy_names(
    __name__,
    {
        "BeachWorld": "paper_worlds",
        "BreakfastWorld": "paper_worlds",
        "OfficeWorld": "paper_worlds",
        "GridWorld": "grid_world",
        "WorldEnv": "world_env",
    },
)


def __getattr__(name: str) -> Any:
    """A family of worlds without a class of its own gets one."""
    for family in FAMILIES:
        if env_name(family) == name and name not in __all__:
            from markovize.gym.paper_worlds import world_class

            globals()[name] = found = world_class(family)
            return found
    return _load_name(name)
