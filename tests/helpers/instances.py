"""Small episodes with known or random machines behind them."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np

from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Episode, Traces
from markovize.episodes.values import Value

Kinds: TypeAlias = tuple[str, str]

KINDS: tuple[Kinds, ...] = (("state", "state"), ("state", "transition"), ("transition", "transition"))


def walk(*cells: int, pays: tuple[float, ...] = (), ends: bool = False) -> Episode:
    """A walk through cells; ``pays`` are its last rewards, the ones before are 0."""
    steps = len(cells) - 1
    actions = [b - a for a, b in pairwise(cells)]
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
    """Random walks over ``labels`` observations, paid by a random machine of 2 to ``states`` states.

    The machine reads the labels of ``kinds``, so under them the episodes are realisable. It need not be minimal.
    Episodes without a conflict are no test of anything, so up to ten machines are drawn until there is one.
    """
    for _ in range(10):
        walks = [
            ([int(o) for o in rng.integers(0, labels, steps + 1)], [int(a) for a in rng.integers(0, actions, steps)])
            for steps in rng.integers((length + 1) // 2, length + 1, episodes)
        ]
        machine = _RandomMachine(rng, int(rng.integers(2, states + 1)), rewards, kinds, acyclic)
        out = [Episode(o, a, machine.pay(o, a), terminated=bool(rng.integers(0, 2))) for o, a in walks]
        seen: dict[Value, set[float]] = {}
        for (_, y, _), reward in machine.table.items():
            seen.setdefault(y, set()).add(reward)
        if any(len(paid) > 1 for paid in seen.values()):
            break
    return Traces.of(out)


class _RandomMachine:
    """Draws each move and each reward when it is first needed."""

    def __init__(self, rng: np.random.Generator, states: int, rewards: int, kinds: Kinds, acyclic: bool) -> None:
        self.rng, self.states, self.rewards, self.kinds, self.acyclic = rng, states, rewards, kinds, acyclic
        self.delta: dict[tuple[int, Value], int] = {}
        self.table: dict[tuple[int, Value, int], float] = {}

    def pay(self, observations: list[int], actions: list[int]) -> list[float]:
        """The rewards of an episode."""
        paid, u = [], 0
        for (s, t), a in zip(pairwise(observations), actions, strict=True):
            x, y = (labelling_of(kind).label((s, a, t)) for kind in self.kinds)
            if (u, x) not in self.delta:
                targets = range(u if self.acyclic else 0, self.states)
                self.delta[u, x] = int(self.rng.choice(targets)) if self.rng.random() < 0.6 else u
            v = self.delta[u, x]
            if (u, y, v) not in self.table:
                self.table[u, y, v] = float(self.rng.integers(0, self.rewards))
            paid.append(self.table[u, y, v])
            u = v
        return paid


def paid_by_history(episodes: int, length: int, labels: int) -> Traces:
    """Each history has a reward of its own: only a machine that spells out the tree explains it."""
    rng, paid = np.random.default_rng(0), dict[tuple[int, ...], float]()
    out = []
    for _ in range(episodes):
        seen = rng.integers(labels, size=length + 1).tolist()
        rewards = [paid.setdefault(tuple(seen[: n + 2]), float(rng.integers(2))) for n in range(length)]
        out.append((seen, [0] * length, rewards))
    return Traces.of(out)
