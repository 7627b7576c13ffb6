"""Officeworld (12 × 9): twelve rooms with doors, and tasks that depend on what was visited before.

Entering a plant costs 1 and ends the episode, in every task. All other rewards are 0 but for the goal's 1,
which ends the episode in all tasks but ``loop``. The paper's section 5.1; ``loop`` is in its appendix B.
"""

from __future__ import annotations

from typing import Final

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import Trigger
from markovize.worlds.base import World, grid_world
from markovize.worlds.families import Family
from markovize.worlds.grid import GridMap
from markovize.worlds.shapes import OUTLINE, Box, Icon, Oval, Polygon, Ring, Shape, Stroke

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


LEAF, STEM, POT, COFFEE, STEAM, WOOD = "#3f9b57", "#2e7d45", "#c56a3d", "#6f4e37", "#9fb0c3", "#a9744f"
PLANT: Final[tuple[Shape, ...]] = (
    Stroke(((0, 0.3), (0, -0.5)), STEM, 0.12),
    Oval(0, -0.62, 0.24, 0.42, LEAF),
    Oval(-0.42, -0.16, 0.42, 0.22, LEAF),
    Oval(0.42, -0.16, 0.42, 0.22, STEM),
    Polygon(((-0.5, 0.25), (0.5, 0.25), (0.36, 1), (-0.36, 1)), POT),
    Box(-0.58, 0.15, 0.58, 0.4, POT, 0.08),
)
CUP: Final[tuple[Shape, ...]] = (
    *(Stroke(tuple((x + 0.09 * (-1) ** k, -(0.42 + 0.17 * k)) for k in range(4)), STEAM, 0.1) for x in (-0.36, 0.02)),
    Ring(0.46, 0.3, 0.32, COFFEE, 0.14),
    Box(-0.78, -0.22, 0.46, 0.8, COFFEE, 0.26),
    Box(-0.78, -0.22, 0.46, 0.2, COFFEE),
    Box(-0.95, 0.82, 0.75, 0.98, COFFEE, 0.08),
)
ENVELOPE: Final[tuple[Shape, ...]] = (
    Box(-0.95, -0.62, 0.95, 0.7, OUTLINE, 0.14),
    Box(-0.83, -0.5, 0.83, 0.58, "#fff6dd", 0.06),
    Stroke(((-0.82, -0.48), (0, 0.16), (0.82, -0.48)), OUTLINE, 0.12),
)
DESK: Final[tuple[Shape, ...]] = (
    Box(-0.72, -0.85, 0.72, 0.2, OUTLINE, 0.12),
    Box(-0.6, -0.73, 0.6, 0.08, "#bcd6f5", 0.05),
    Box(-0.12, 0.2, 0.12, 0.44, OUTLINE),
    Box(-1, 0.42, 1, 0.6, WOOD, 0.06),
    *(Box(side - 0.09, 0.58, side + 0.09, 1, WOOD) for side in (-0.8, 0.8)),
)
FAMILY: Final = Family(
    "office",
    office,
    icons={
        "plant": Icon(PLANT, sign="♣", captioned=False),
        "coffee": Icon(CUP),
        "mail": Icon(ENVELOPE),
        "office": Icon(DESK),
    },
)
