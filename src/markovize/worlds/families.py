"""A family of worlds: what makes them, and how their landmarks look in pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature

from markovize.worlds.base import World
from markovize.worlds.shapes import Icon, Shape


@dataclass(frozen=True)
class Family:
    """Worlds of one kind, by the name in :func:`markovize.worlds.world`.

    ``captions`` says what landmarks mean, where their names do not; ``icons`` has small pictures of landmarks on a map,
    ``scenes`` large ones of places in a world without a map. Landmarks without a picture are letters.

    >>> from markovize.worlds import family
    >>> family("breakfast").options, sorted(family("office").icons)
    (['task', 'rewards'], ['coffee', 'mail', 'office', 'plant'])
    """

    name: str
    make: Callable[..., World] = field(repr=False)
    captions: Mapping[str, str] = field(default_factory=dict, repr=False)
    icons: Mapping[str, Icon] = field(default_factory=dict, repr=False)
    scenes: Mapping[str, Sequence[Shape]] = field(default_factory=dict, repr=False)

    @property
    def options(self) -> list[str]:
        """The names of what can be chosen."""
        return list(signature(self.make).parameters)
