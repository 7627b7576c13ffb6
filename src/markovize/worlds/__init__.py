"""The paper's worlds as tables, and walks through them.

- :mod:`~markovize.worlds.grid` reads maps drawn as text; :mod:`~markovize.worlds.base` is what a world is;
- :mod:`~markovize.worlds.office`, :mod:`~markovize.worlds.breakfast`, :mod:`~markovize.worlds.beach` are families of
  worlds; a new one is a module with a :class:`Family` and its line in :data:`FAMILIES`;
- :mod:`~markovize.worlds.harvest` and :mod:`~markovize.worlds.mining` pay noisy rewards: they are those of the
  literature on stochastic reward machines;
- :mod:`~markovize.worlds.walks` makes episodes;
- :mod:`~markovize.worlds.random_worlds` makes more worlds, for tests.

Importing this package loads none of them: their names are enough to register environments.

>>> world("office", task="b").name, world("breakfast", task="c", rewards="cumulative").name
('office-b', 'breakfast-c-cumulative')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from markovize.errors import InputError
from markovize.extras import lazy_names

if TYPE_CHECKING:
    from markovize.worlds.base import Step, World
    from markovize.worlds.families import Family
    from markovize.worlds.grid import GridMap
    from markovize.worlds.random_worlds import random_grid_world, random_machine
    from markovize.worlds.walks import noisy_walks

__all__ = [
    "FAMILIES",
    "Family",
    "GridMap",
    "Step",
    "World",
    "family",
    "noisy_walks",
    "random_grid_world",
    "random_machine",
    "world",
]

FAMILIES: Final = [
    "office",
    "breakfast",
    "beach",
    "harvest",
    "mining",
]
"""Modules of this package, each with its ``FAMILY``."""

LONGEST: Final = {"harvest": 50, "mining": 1_000}
"""Steps of an episode, where these are not 200."""

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Step": "base",
        "World": "base",
        "Family": "families",
        "GridMap": "grid",
        "random_grid_world": "random_worlds",
        "random_machine": "random_worlds",
        "noisy_walks": "walks",
    },
)


def family(name: str) -> Family:
    """A family of worlds by name.

    >>> family("breakfast").captions["w"]
    'wash up'
    >>> family("atlantis")
    Traceback (most recent call last):
    markovize.errors.InputError: worlds are office, breakfast, beach, harvest, mining, not 'atlantis'
    """
    if name not in FAMILIES:
        raise InputError(f"worlds are {', '.join(FAMILIES)}, not {name!r}")
    found: Family = import_module(f"{__name__}.{name}").FAMILY
    return found


def env_name(name: str) -> str:
    """What the environments of a family are called, also in Gymnasium's registry.

    >>> env_name("office"), env_name("coffee_shop")
    ('OfficeWorld', 'CoffeeShopWorld')
    """
    return "".join(word.capitalize() for word in name.split("_")) + "World"


def world(name: str, **options: Any) -> World:
    """A world by name; options are those of its family.

    >>> world("office", task="loop").machine.acyclic
    False
    """
    known = family(name)
    if unknown := [option for option in options if option not in known.options]:
        raise InputError(f"{name} has the options {', '.join(known.options)}, not {unknown[0]!r}")
    return known.make(**options)
