"""Random machines and random grid worlds: small, valid, and all different; for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers
from markovize.worlds.base import World, grid_world
from markovize.worlds.grid import GridMap

LETTERS: Final = "abcdefghijklmnopqrst"


def random_machine(
    rng: np.random.Generator,
    states: int,
    labels: Sequence[Value],
    *,
    acyclic: bool = False,
    rewards: Sequence[float] = (0.0, 0.0, 1.0),
    extra: int = 1,
) -> RewardMachine:
    """A machine on state labels whose states can all be entered, and up to ``extra`` spare triggers.

    Every (u, label, u') pays one of ``rewards``, drawn at random; nothing ends an episode.

    >>> machine = random_machine(np.random.default_rng(0), 3, ["a", "b", "c"], acyclic=True)
    >>> machine.acyclic, machine.states, len(machine.rewards)
    (True, 3, 9)
    """
    if states < 1 or not labels or not rewards:
        raise InputError("a random machine needs at least one state, one label and one reward")
    used: set[tuple[int, int]] = set()
    moves: list[tuple[int, int, int]] = []
    for target in range(1, states):  # a tree first: every state is entered from an earlier one
        free = [(u, n) for u in range(target) for n in range(len(labels)) if (u, n) not in used]
        source, label = free[int(rng.integers(len(free)))]
        used.add((source, label))
        moves.append((source, label, target))
    for _ in range(extra):
        source, label, target = (int(rng.integers(n)) for n in (states, len(labels), states))
        if source != target and (source, label) not in used and (not acyclic or source < target):
            used.add((source, label))
            moves.append((source, label, target))
    triggers = sorted_triggers(Trigger(u, labels[n], v) for u, n, v in moves)
    bare = RewardMachine("state", "state", states, triggers)
    emissions = [
        Emission(u, label, bare.step(u, label), float(rewards[int(rng.integers(len(rewards)))]))
        for u in range(states)
        for label in labels
    ]
    return replace(bare, rewards=sorted_emissions(emissions))


def random_grid_world(
    rng: np.random.Generator,
    *,
    width: int = 6,
    height: int = 6,
    states: int = 3,
    landmarks: int = 4,
    solid: float = 0.15,
    acyclic: bool = False,
    rewards: Sequence[float] = (0.0, 0.0, 1.0),
    ending: float = 0.2,
) -> World:
    """A grid with random solid cells, landmarks that trigger and pay, depending on the machine's state.

    ``solid`` is the chance of a cell to be solid, ``ending`` that of a paying (u, landmark) to end episodes.

    >>> world = random_grid_world(np.random.default_rng(3), width=4, height=3)
    >>> world.machine.states, sorted(world.landmarks)
    (3, ['a', 'b', 'c', 'd'])
    """
    if not 1 <= landmarks <= len(LETTERS) or width * height <= landmarks:
        raise InputError(f"needs 1 to {len(LETTERS)} landmarks and more cells than that")
    grid = _random_grid(rng, width, height, landmarks, solid)
    cells: list[Value] = [grid.at(name)[0] for name in sorted(grid.landmarks)]
    machine = random_machine(rng, states, cells, acyclic=acyclic, rewards=rewards)
    ends = {(e.source, e.on) for e in machine.rewards if e.reward and rng.random() < ending}

    def pay(u: int, label: Value, v: int) -> tuple[float, bool]:
        return machine.reward(u, label, v) or 0.0, (u, label) in ends

    return grid_world("random", grid, states=states, triggers=machine.triggers, pay=pay)


def _random_grid(rng: np.random.Generator, width: int, height: int, landmarks: int, solid: float) -> GridMap:
    """Draws until enough cells can be reached from the start; what cannot be reached is made solid."""
    every = [(x, y) for y in range(height) for x in range(width)]
    while True:
        start = every[int(rng.integers(len(every)))]
        open_cells = {cell for cell in every if rng.random() >= solid} | {start}
        reached, waiting = {start}, [start]
        while waiting:
            x, y = waiting.pop()
            for cell in ((x, y + 1), (x + 1, y), (x, y - 1), (x - 1, y)):
                if cell in open_cells and cell not in reached:
                    reached.add(cell)
                    waiting.append(cell)
        if len(reached) > landmarks:
            break
        solid *= 0.9  # a dense drawing may never succeed
    places = sorted(reached - {start})
    chosen = rng.permutation(len(places))[:landmarks].tolist()
    marks = {places[index]: LETTERS[number] for number, index in enumerate(chosen)} | {start: "@"}
    border = "+" + "-" * (2 * width - 1) + "+"
    rows = [
        "|" + " ".join(marks.get((x, y), "." if (x, y) in reached else "#") for x in range(width)) + "|"
        for y in range(height - 1, -1, -1)
    ]
    between = "|" + " " * (2 * width - 1) + "|"
    return GridMap.parse("\n".join([border, f"\n{between}\n".join(rows), border]))
