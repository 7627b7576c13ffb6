"""Families of worlds as environments: the paper's have classes of their own, others get one when needed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

from markovize.gym.world_env import WorldEnv
from markovize.worlds import World, env_name, family, world


@lru_cache(maxsize=32)
def shared_world(name: str, **options: Any) -> World:
    """As :func:`~markovize.worlds.world`; equal environments share one, so that a vector of many is made at once.

    >>> shared_world("office", task="b") is OfficeWorld("b").world
    True
    """
    return world(name, **options)


class OfficeWorld(WorldEnv):
    """Officeworld as ``markovize/OfficeWorld-v0``: a 12 × 9 floor of rooms, and plants that end the episode.

    ``task`` is ``"b"`` (coffee, then office), ``"c"`` (mail, then office), ``"d"`` (both, then office), ``"e"``
    (a, b, c, d in this order) or ``"loop"`` (as e, over and over). Actions: 0 up, 1 right, 2 down, 3 left,
    4 stay.

    >>> env = OfficeWorld("b")
    >>> env.reset(seed=0)[0].tolist(), env.observation_space
    ([2, 1], MultiDiscrete([12  9]))
    """

    def __init__(self, task: str = "e", **options: Any) -> None:
        super().__init__(shared_world("office", task=task), **options)


class BreakfastWorld(WorldEnv):
    """Breakfastworld as ``markovize/BreakfastWorld-v0``: cook, eat and leave a 4 × 6 kitchen.

    ``task`` is ``"b"`` or ``"c"`` (wash up before leaving), ``rewards`` is ``"full"`` or ``"cumulative"`` (all of
    them at the end). Actions: 0 up, 1 right, 2 down, 3 left, 4 stay.

    >>> env = BreakfastWorld("c", "cumulative", render_mode="ansi")
    >>> env.reset(seed=0)[0].tolist(), env.machine.states
    ([0, 0], 7)
    """

    captions: ClassVar = family("breakfast").captions

    def __init__(self, task: str = "b", rewards: str = "full", **options: Any) -> None:
        super().__init__(shared_world("breakfast", task=task, rewards=rewards), **options)


class BeachWorld(WorldEnv):
    """Beachworld as ``markovize/BeachWorld-v0``: sunbathing pays a tenth less each time, down to nothing.

    Observations: 0 beach, 1 shack, 2 exit. Actions: 0 ``^``, 1 ``v``, 2 ``<``, 3 ``>``, 4 ``o`` (sunbathe).

    >>> env = BeachWorld(levels=2)
    >>> env.reset(seed=0)[0], [env.step(4)[1] for _ in range(3)]
    (0, [1.0, 0.9, 0.0])
    """

    def __init__(self, levels: int = 10, **options: Any) -> None:
        super().__init__(shared_world("beach", levels=levels), **options)


def world_class(name: str) -> type[WorldEnv]:
    """An environment of any family; its options are those of the family, then those of :class:`WorldEnv`.

    >>> Beach = world_class("beach")
    >>> Beach.__name__, Beach(2, render_mode="ansi").machine.states
    ('BeachWorld', 3)
    """

    known = family(name)

    def __init__(self: WorldEnv, *values: Any, **options: Any) -> None:  # noqa: N807 - it becomes a method
        chosen = dict(zip(known.options, values, strict=False))
        chosen |= {name: options.pop(name) for name in known.options if name in options}
        WorldEnv.__init__(self, shared_world(known.name, **chosen), **options)

    doc = f"``markovize/{env_name(name)}-v0``: a world of the family {name!r}."
    members = {"__init__": __init__, "__doc__": doc, "__module__": "markovize.gym", "captions": known.captions}
    return type(env_name(name), (WorldEnv,), members)
