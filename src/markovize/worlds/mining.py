"""Mining, of the literature on stochastic reward machines: equipment, then platinum or gold, then deliver it.

Facts from the public code of Corazza, Gavran and Neider (AAAI 2022): the map, the tasks, the noise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine, Trigger, sorted_triggers
from markovize.worlds.base import World, complete_machine
from markovize.worlds.families import Family
from markovize.worlds.grid import ACTIONS, GridMap

SIDE: Final = 41  # cells, of which those on the border are solid
START: Final = (20, 20)
PLACES: Final = {  # by (row, column), rows from above
    "a": ((3, 27), (24, 9), (27, 19), (34, 32), (38, 1)),
    "b": ((14, 30), (37, 3)),
    "c": ((28, 31), (32, 18)),
    "d": ((9, 39), (16, 9), (17, 30), (21, 5), (30, 16)),
    "e": ((11, 3), (37, 1)),
    "f": ((12, 20), (13, 20), (16, 24), (23, 25), (25, 3)),
    "g": ((35, 24), (36, 29)),
    "h": ((16, 21),),
}
NAMES: Final = {"a": "gold", "c": "diamond", "d": "equipment", "f": "trap", "g": "platinum", "h": "delivery"}
LOADS: Final = {  # what is fetched, for how much, and how noisy that is
    "T3": {"platinum": (1.0, 0.2), "gold": (1.1, 0.2)},
    "T4": {"platinum": (1.0, 0.4), "gold": (1.1, 0.2), "diamond": (3.0, 0.4)},
}
MOVES: Final = 4  # up, right, down, left: nobody stays


def mining(task: str = "T3") -> World:
    """A 41 × 41 grid. With equipment one may load, at one of several places, and is paid on delivery, which ends it.

    Task ``T3`` has platinum for 1 ± 0.2 and gold for 1.1 ± 0.2; ``T4`` platinum for 1 ± 0.4, gold for 1.1 ± 0.2 and
    diamonds for 3 ± 0.4. A trap ends the episode with nothing; places ``b`` and ``e`` (in T3 diamonds, too) are decoys.
    Observations are (x, y), y upwards: the column, and 40 minus the row.

    >>> world = mining()
    >>> world.machine.states, len(world.machine.triggers), world.grid.cells[world.start], len(world.observations)
    (4, 12, (20, 20), 1521)
    >>> sorted({(e.reward, e.spread) for e in world.machine.rewards})
    [(0.0, 0.0), (1.0, 0.2), (1.1, 0.2)]
    """
    if task not in LOADS:
        raise InputError(f"mining tasks are {', '.join(LOADS)}, not {task!r}")
    grid, loads = GridMap.parse(_drawing(), NAMES), list(LOADS[task].items())
    (delivery,), traps = grid.at("delivery"), grid.at("trap")
    triggers = [Trigger(0, cell, 1) for cell in grid.at("equipment")]
    triggers += [Trigger(1, cell, 2 + n) for n, (load, _) in enumerate(loads) for cell in grid.at(load)]

    def pay(u: int, label: Value, _v: int) -> tuple[float, bool]:
        paid = u >= 2 and label == delivery
        return (loads[u - 2][1][0] if paid else 0.0), paid or label in traps

    moves, numbers = grid.moves[:, :MOVES], tuple(range(MOVES))
    bare = RewardMachine("state", "state", 2 + len(loads), sorted_triggers(triggers))
    machine = complete_machine(bare, moves, grid.start, grid.cells, numbers, pay)
    noisy = tuple(replace(e, spread=loads[e.source - 2][1][1]) if e.reward else e for e in machine.rewards)
    machine = replace(machine, rewards=noisy)
    name = f"mining-{task}"
    return World(name, moves, grid.start, grid.cells, numbers, ACTIONS[:MOVES], machine, grid.landmarks, grid)


def _drawing() -> str:
    """The map as :class:`GridMap` reads it."""
    marks = {cell: mark for mark, cells in PLACES.items() for cell in cells} | {START: "@"}
    border = "+" + "-" * (2 * SIDE - 1) + "+"
    inner = (0, SIDE - 1)
    rows = [
        "|" + " ".join("#" if r in inner or c in inner else marks.get((r, c), ".") for c in range(SIDE)) + "|"
        for r in range(SIDE)
    ]
    return f"{border}\n" + f"\n|{' ' * (2 * SIDE - 1)}|\n".join(rows) + f"\n{border}"


FAMILY: Final = Family("mining", mining)
