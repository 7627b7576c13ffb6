"""Beachworld: sunbathing pays less each time. Its triggers and rewards are on transitions, not on states."""

from __future__ import annotations

from typing import Final

import numpy as np

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine, Trigger
from markovize.worlds.base import World, complete_machine
from markovize.worlds.families import Family
from markovize.worlds.shapes import PAPER, SCENE, Box, Oval, Polygon, Shape, Stroke, Words

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


SKY, SEA, SAND, GRASS, WOOD = "#cfe8fb", "#5aa9d6", "#f2dca6", "#a9cf8f", "#a9744f"
MIDDLE: Final = SCENE / 2
SHORE: Final[tuple[Shape, ...]] = (
    Box(0, 0, SCENE, SCENE, SAND, 9),
    Box(0, 0, SCENE, 70, SKY, 9),
    Box(0, 52, SCENE, 88, SEA),
    *(Oval(21 + 42 * n, 89, 21, 7, SAND) for n in range(4)),
    Oval(SCENE - 34, 30, 16, 16, "#ffc53d"),
    Stroke(((46, 70), (54, 142)), WOOD, 4),  # a parasol
    Polygon(((12, 82), (42, 52), (82, 74)), "#d6455d"),
    Polygon(((34, 79), (42, 52), (58, 77)), PAPER),
)
HUT: Final[tuple[Shape, ...]] = (
    Box(0, 0, SCENE, SCENE, SAND, 9),
    Box(0, 0, SCENE, 96, SKY, 9),
    Box(0, 84, SCENE, 98, SAND),
    Box(42, 56, SCENE - 42, 116, "#c98d5b"),
    *(Box(42 + 14 * n - 0.7, 56, 42 + 14 * n + 0.7, 116, WOOD) for n in range(1, 6)),
    Polygon(((28, 62), (MIDDLE, 22), (SCENE - 28, 62)), "#7c4f32"),
    Box(72, 80, SCENE - 72, 116, "#54371f"),
)
ROAD: Final[tuple[Shape, ...]] = (
    Box(0, 0, SCENE, SCENE, GRASS, 9),
    Box(0, 0, SCENE, 80, SKY, 9),
    Box(0, 68, SCENE, 84, GRASS),
    Polygon(((MIDDLE - 44, SCENE), (MIDDLE - 7, 78), (MIDDLE + 7, 78), (MIDDLE + 44, SCENE)), "#8793a1"),
    *(Box(MIDDLE - wide / 2, y, MIDDLE + wide / 2, y + 10, PAPER) for y, wide in ((92, 1.6), (112, 2.4))),
    Box(31, 46, 35, 106, WOOD),
    Polygon(((16, 40), (56, 40), (68, 52), (56, 64), (16, 64)), "#2f8f6b"),
    Words(38, 52, "exit", 13, PAPER),
)
FAMILY: Final = Family("beach", beach, scenes={"beach": SHORE, "shack": HUT, "exit": ROAD})
