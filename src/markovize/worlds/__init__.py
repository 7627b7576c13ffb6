"""The paper's worlds as tables, and walks through them.

- :mod:`~markovize.worlds.grid` reads maps drawn as text; :mod:`~markovize.worlds.world` is what a world is;
- :mod:`~markovize.worlds.office`, :mod:`~markovize.worlds.breakfast`, :mod:`~markovize.worlds.beach`;
- :mod:`~markovize.worlds.walks` makes episodes;
- :mod:`~markovize.worlds.random_worlds` makes more worlds, for tests.

>>> world("office", task="b").name, world("breakfast", task="c", rewards="cumulative").name
('office-b', 'breakfast-c-cumulative')
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Final

from markovize.errors import InputError
from markovize.worlds.beach import beach
from markovize.worlds.breakfast import breakfast
from markovize.worlds.grid import GridMap
from markovize.worlds.office import office
from markovize.worlds.random_worlds import random_grid_world, random_machine
from markovize.worlds.walks import noisy_walks
from markovize.worlds.world import Step, World

__all__ = [
    "WORLDS",
    "GridMap",
    "Step",
    "World",
    "noisy_walks",
    "random_grid_world",
    "random_machine",
    "world",
]

WORLDS: Final[dict[str, Callable[..., World]]] = {"office": office, "breakfast": breakfast, "beach": beach}


def world(name: str, **options: Any) -> World:
    """A world by name; options are those of :func:`office`, :func:`breakfast` and :func:`beach`.

    >>> world("office", task="loop").machine.acyclic
    False
    >>> world("atlantis")
    Traceback (most recent call last):
    markovize.errors.InputError: worlds are office, breakfast, beach, not 'atlantis'
    """
    if name not in WORLDS:
        raise InputError(f"worlds are {', '.join(WORLDS)}, not {name!r}")
    known = list(signature(WORLDS[name]).parameters)
    if unknown := [option for option in options if option not in known]:
        raise InputError(f"{name} has the options {', '.join(known)}, not {unknown[0]!r}")
    return WORLDS[name](**options)
