"""Small episodes with known or random machines behind them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from markovize.labels import label_of
from markovize.traces import Episode, Traces
from markovize.values import Value

Kind: TypeAlias = Literal["state", "transition"]
Kinds: TypeAlias = tuple[Kind, Kind]

KINDS: tuple[Kinds, ...] = (("state", "state"), ("state", "transition"), ("transition", "transition"))


def walk(*cells: int, pays: tuple[float, ...] = (), ends: bool = False) -> Episode:
    """A walk through cells; ``pays`` are its last rewards, the ones before are 0."""
    steps = len(cells) - 1
    actions = [b - a for a, b in zip(cells, cells[1:], strict=False)]
    return Episode(list(cells), actions, [0.0] * (steps - len(pays)) + list(pays), terminated=ends)


def coffee() -> Traces:
    """A corridor, coffee in cell 0, office in cell 2: the office pays once the coffee is there. K = 2, z = 1."""
    return Traces.of([walk(1, 2), walk(1, 2, 1, 2), walk(1, 0, 1, 2, pays=(1.0,))])


def two_coffees() -> Traces:
    """Coffee in cells 0 and 4, office in cell 2 between them. K = 2, z = 2: either coffee will do."""
    return Traces.of(
        [
            walk(2, 1, 2),
            walk(2, 3, 2),
            walk(2, 1, 0, 1, 2, pays=(1.0,)),
            walk(2, 3, 4, 3, 2, pays=(1.0,)),
        ]
    )


def patrol(rounds: int) -> Traces:
    """Cell 2 pays after each visit to cell 0 and takes the coffee. K = 2, z = 2 with cycles; unrolled, more."""
    cells, pays = [1], []
    for _ in range(rounds):
        cells += [0, 1, 2, 1, 2, 1]
        pays += [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return Traces.of([walk(*cells, pays=tuple(pays)), walk(1, 2, 1)])


def random_steps(
    rng: np.random.Generator,
    *,
    labels: int = 3,
    episodes: int = 4,
    length: int = 4,
    rewards: int = 2,
    kinds: Kinds = ("state", "state"),
    actions: int = 2,
    states: int = 3,
    acyclic: bool = False,
) -> Traces:
    """Random walks over ``labels`` observations, paid by a random machine of at most ``states`` states.

    The machine reads the labels of ``kinds``, so under them the episodes are realisable. It need not be minimal.
    """
    k = int(rng.integers(1, states + 1))
    delta: dict[tuple[int, Value], int] = {}
    table: dict[tuple[int, Value, int], float] = {}
    out = []
    for _ in range(int(rng.integers(1, episodes + 1))):
        steps = int(rng.integers(1, length + 1))
        observations = [int(o) for o in rng.integers(0, labels, steps + 1)]
        moves = [int(a) for a in rng.integers(0, actions, steps)]
        paid, u = [], 0
        for s, a, t in zip(observations, moves, observations[1:], strict=False):
            x, y = label_of(kinds[0], s, a, t), label_of(kinds[1], s, a, t)
            if (u, x) not in delta:
                targets = range(u, k) if acyclic else range(k)
                delta[u, x] = int(rng.choice(targets)) if rng.random() < 0.5 else u
            v = delta[u, x]
            if (u, y, v) not in table:
                table[u, y, v] = float(rng.integers(0, rewards))
            paid.append(table[u, y, v])
            u = v
        out.append(Episode(observations, moves, paid, terminated=bool(rng.integers(0, 2))))
    return Traces.of(out)
