"""Breakfastworld (4 × 6): cook once or twice, eat, perhaps wash up, and leave for the last, long pay-out.

Leaving, at the door l where the day starts, pays the sum of all rewards so far; with ``cumulative`` rewards
that is the only pay. The paper's section 5.3.
"""

from __future__ import annotations

from typing import Final

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import Trigger
from markovize.worlds.base import World, grid_world
from markovize.worlds.families import Family
from markovize.worlds.grid import GridMap

MAP: Final = """
    +-------+
    |# # # #|
    |       |
    |# c w #|
    |       |
    |# . . #|
    |    -  |
    |. . e #|
    |       |
    |. . . #|
    |       |
    |@ . . .|
    +-------+
"""
NAMES: Final = {"@": "l"}

TASKS: Final[dict[str, tuple[int, dict[tuple[int, str], tuple[int, float]], dict[int, float]]]] = {
    # task: number of states, (u, landmark) → (u', reward), and what leaving pays in u
    "b": (
        5,
        {(0, "c"): (1, -0.1), (1, "c"): (2, -0.3), (1, "e"): (3, 1.0), (2, "e"): (4, 2.0)},
        {3: 0.9, 4: 1.6},
    ),
    "c": (
        7,
        {
            (0, "c"): (1, -0.1),
            (1, "c"): (2, -0.3),
            (1, "e"): (3, 1.0),
            (2, "e"): (4, 2.0),
            (3, "w"): (5, -0.25),
            (4, "w"): (6, -0.5),
        },
        {5: 0.65, 6: 1.1},
    ),
}
REWARDS: Final = ("full", "cumulative")


def breakfast(task: str = "b", rewards: str = "full") -> World:
    """Breakfastworld: task b (cook, eat, leave) or c (wash up before leaving); all rewards or only the last.

    Standing still where one cooks (c) is cooking again; other (state, place) pairs do nothing.

    >>> breakfast("c", "cumulative").machine.states
    7
    >>> {e.reward for e in breakfast("b", "cumulative").machine.rewards if e.reward}
    {0.9, 1.6}
    """
    if task not in TASKS:
        raise InputError(f"breakfast tasks are {', '.join(TASKS)}, not {task!r}")
    if rewards not in REWARDS:
        raise InputError(f"breakfast rewards are {' or '.join(REWARDS)}, not {rewards!r}")
    states, moves, leaving = TASKS[task]
    grid = GridMap.parse(MAP, NAMES)
    (door,) = grid.at("l")
    paid = {(u, cell): reward for (u, name), (_, reward) in moves.items() for cell in grid.at(name)}

    def pay(u: int, label: Value, _v: int) -> tuple[float, bool]:
        if label == door and u in leaving:
            return leaving[u], True
        cell = (u, label)
        return (paid[cell] if rewards == "full" and cell in paid else 0.0), False

    triggers = [Trigger(u, cell, v) for (u, name), (v, _) in moves.items() for cell in grid.at(name)]
    return grid_world(f"breakfast-{task}-{rewards}", grid, states=states, triggers=triggers, pay=pay)


FAMILY: Final = Family("breakfast", breakfast, captions={"l": "leave", "e": "eat", "w": "wash up", "c": "cook"})
