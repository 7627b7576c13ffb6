"""Beachworld: sunbathing pays less each time. Its triggers and rewards are on transitions, not on states."""

from __future__ import annotations

from typing import Final

import numpy as np

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine, Trigger
from markovize.worlds.world import World, complete_machine

PLACES: Final = {"beach": (0,), "shack": (1,), "exit": (2,)}
ACTION_NAMES: Final = ("^", "v", "<", ">", "o")
SUCCESSOR: Final = (
    # ^  v  <  >  o
    (0, 0, 0, 1, 0),  # beach
    (1, 2, 0, 1, 1),  # shack
    (2, 2, 2, 2, 2),  # exit: never left, entering it ends the episode
)
SUNBATHE: Final = (0, 4, 0)
LEAVE: Final = (1, 1, 2)


def beach(levels: int = 10) -> World:
    """Beach 0, shack 1, exit 2. ``o`` on the beach pays 1.0, 0.9, 0.8, …, and nothing after ``levels``.

    >>> world = beach(levels=3)
    >>> world.machine.states, [world.machine.reward(u, (0, 4, 0), min(u + 1, 3)) for u in range(4)]
    (4, [1.0, 0.9, 0.8, 0.0])
    """
    if not 1 <= levels <= 10:
        raise InputError(f"beach levels are 1 to 10, not {levels}")

    def pay(u: int, label: Value, _v: int) -> tuple[float, bool]:
        sun = (10 - u) / 10 if label == SUNBATHE and u < levels else 0.0
        return sun, label == LEAVE

    successor = np.array(SUCCESSOR, np.int32)
    actions = tuple(range(len(ACTION_NAMES)))
    triggers = tuple(Trigger(u, SUNBATHE, u + 1) for u in range(levels))
    bare = RewardMachine("transition", "transition", levels + 1, triggers)
    machine = complete_machine(bare, successor, 0, range(3), actions, pay)
    return World("beach", successor, 0, tuple(range(3)), actions, ACTION_NAMES, machine, PLACES)
