"""Officeworld (12 × 9): twelve rooms with doors, and tasks that depend on what was visited before.

Entering a plant costs 1 and ends the episode, in every task. All other rewards are 0 but for the goal's 1,
which ends the episode in all tasks but ``loop``. The paper's section 5.1; ``loop`` is in its appendix B.
"""

from __future__ import annotations

from typing import Final

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import Trigger
from markovize.worlds.grid import GridMap
from markovize.worlds.world import World, grid_world

MAP: Final = """
    +-----+-----+-----+-----+
    |. . .|. . .|. . .|. . .|
    |     |     |     |     |
    |. b . . * . . * . . c .|
    |     |     |     |     |
    |. . .|C . .|. . .|. . .|
    +-- --+-- --+-- --+-- --+
    |. . .|. . .|. . .|. . .|
    |     |     |     |     |
    |. * .|. o .|. m .|. * .|
    |     |     |     |     |
    |. . .|. . .|. . .|. . .|
    +-- --+-----+-----+-- --+
    |. . .|. . .|. . C|. . .|
    |     |     |     |     |
    |. a @ . * . . * . . d .|
    |     |     |     |     |
    |. . .|. . .|. . .|. . .|
    +-----+-----+-----+-----+
"""
NAMES: Final = {"*": "plant", "C": "coffee", "m": "mail", "o": "office"}

TASKS: Final[dict[str, tuple[int, tuple[tuple[int, str, int], ...], tuple[int, str]]]] = {
    # task: number of states, (u, landmark, u'), and where the goal is paid: (u, landmark)
    "b": (2, ((0, "coffee", 1),), (1, "office")),
    "c": (2, ((0, "mail", 1),), (1, "office")),
    "d": (4, ((0, "coffee", 1), (0, "mail", 2), (1, "mail", 3), (2, "coffee", 3)), (3, "office")),
    "e": (4, ((0, "a", 1), (1, "b", 2), (2, "c", 3)), (3, "d")),
    "loop": (4, ((0, "a", 1), (1, "b", 2), (2, "c", 3), (3, "d", 0)), (3, "d")),
}


def office(task: str = "e") -> World:
    """Officeworld: b (coffee, then office), c (mail, then office), d (both, then office), e (patrol), loop.

    >>> office("e").machine.triggers[0]
    Trigger(source=0, on=(1, 1), target=1, alternatives=())
    >>> {task: office(task).machine.states for task in TASKS}
    {'b': 2, 'c': 2, 'd': 4, 'e': 4, 'loop': 4}
    """
    if task not in TASKS:
        raise InputError(f"office tasks are {', '.join(TASKS)}, not {task!r}")
    states, moves, (last, goal) = TASKS[task]
    grid = GridMap.parse(MAP, NAMES)
    plants, goals = grid.at("plant"), grid.at(goal)

    def pay(u: int, label: Value, _v: int) -> tuple[float, bool]:
        if label in plants:
            return -1.0, True
        if u == last and label in goals:
            return 1.0, task != "loop"
        return 0.0, False

    triggers = [Trigger(u, cell, v) for u, name, v in moves for cell in grid.at(name)]
    return grid_world(f"office-{task}", grid, states=states, triggers=triggers, pay=pay)
