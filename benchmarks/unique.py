"""Episodes to a proven unique machine: with walks where machines disagree, and without.

    python benchmarks/unique.py [--worlds 30] [--episodes 400] [--first 0]

Random grid worlds as in ``random_worlds.py``, those whose reward is Markov aside. Both arms have the same seeds and
settings, but for ``all=50`` in one of them. A world's machine is *settled* by so many episodes as leave no other
machines of its size than all episodes of both arms together do: these differ in nothing that was ever seen. That is
decided afterwards from the episodes, in the same way for both arms. A run that is not settled at its end counts with
all of its episodes. Prints a row for each world, the sums and the median share.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from typing import Any, NamedTuple

from report import Report

MOST = 50  # machines, above which a run is not settled
WORDS = (
    "Random grid worlds; a machine is settled once no other of its size is left but those that no episode tells apart."
)
LABELS: Any = {"trigger_on": "state", "reward_on": "state"}


class Row(NamedTuple):
    """One world."""

    seed: int
    states: int
    triggers: int
    machines: int | None  # that all episodes leave; None: more than so many, or not proven
    episodes_with: int | None
    episodes_without: int | None
    played: int
    seconds: float


def one(job: tuple[int, int]) -> Row:
    """Both runs in the world of a seed, and when each was settled."""
    import numpy as np

    from markovize.worlds import random_grid_world

    seed, episodes = job
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    width, height, states = (int(n) for n in rng.integers((3, 3, 2), (9, 9, 6)))
    world = random_grid_world(rng, width=width, height=height, states=states, acyclic=bool(rng.random() < 0.5))
    looking, blind = run(world, seed, episodes, walks=True), run(world, seed, episodes, walks=False)
    final = machines_of([*looking, *blind])
    first, second = (None if final is None else settled_at(kept, final) for kept in (looking, blind))
    shape = next(iter(final)) if final else ()
    size = 1 + max((max(u, v) for u, _, v in shape), default=0), len(shape)
    return Row(seed, *size, None if final is None else len(final), first, second, episodes, time.perf_counter() - start)


def run(world: Any, seed: int, episodes: int, *, walks: bool) -> Sequence[Any]:
    """The episodes of a run in the order in which they were played."""
    from markovize import ActiveLearner, Settings
    from markovize.gym import WorldEnv

    settings = Settings.of(
        "directed",
        episodes=episodes,
        seed=seed,
        max_steps=200,
        greedy_tail=0,
        keep=episodes,
        all=MOST if walks else 0,
        **LABELS,
    )
    return list(ActiveLearner(WorldEnv(world), settings).run().kept)


def machines_of(episodes: Sequence[Any]) -> frozenset[Any] | None:
    """All minimal machines of these episodes; None if there are too many, or nothing is proven."""
    from markovize import learn

    found = learn(episodes, all=MOST, time_limit=60, count_steps=True, **LABELS).all
    if found is None or not found.complete:
        return None
    return frozenset(map(_form, found.machines))


def _form(machine: Any) -> tuple[tuple[int, str, int], ...]:
    """The machine's triggers, its states numbered in the order in which they are reached."""
    name, order, form = {0: 0}, [0], []
    for u in order:  # which grows
        for on, v in sorted((repr(t.on), t.target) for t in machine.triggers if t.source == u):
            if v not in name:
                name[v] = len(order)
                order.append(v)
            form.append((name[u], on, name[v]))
    return tuple(form)


def settled_at(kept: Sequence[Any], final: frozenset[Any]) -> int | None:
    """The least number of episodes that leave no other machines, by bisection; None if all of them leave others."""
    low, high = 0, len(kept)
    if machines_of(kept) != final:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if machines_of(kept[:middle]) == final else (middle, high)
    return high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    report = Report("Episodes to a proven unique machine", WORDS)
    report.heads("world", "states", "triggers", "machines left", "with walks", "without", "seconds")
    seeds, rows = count(asked.first), list[Row]()
    with ProcessPoolExecutor(asked.jobs) as pool:
        while len(rows) < asked.worlds:
            jobs = [(seed, asked.episodes) for seed in islice(seeds, asked.worlds - len(rows))]
            rows += _reported(pool.map(one, jobs), report)
    report.note(summary(rows))


def _reported(rows: Iterable[Row], report: Report) -> Iterator[Row]:
    """Those with triggers; each is told as it comes."""
    for row in rows:
        if row.triggers or row.machines is None:
            found = (_shown(episodes, row) for episodes in (row.episodes_with, row.episodes_without))
            report.row(row.seed, row.states, row.triggers, row.machines or f"> {MOST}", *found, f"{row.seconds:.0f}")
            yield row


def _shown(episodes: int | None, row: Row) -> str:
    return "–" if row.machines is None else f"> {row.played:,}" if episodes is None else f"{episodes:,}"


def summary(rows: Sequence[Row]) -> str:
    """What both arms took in all, and how many worlds have just one machine."""
    known = [row for row in rows if row.machines is not None]
    pairs = [(row.episodes_with or row.played, row.episodes_without or row.played) for row in known]
    looking, blind = (sum(column) for column in zip(*pairs, strict=True))
    shares = [one / other for one, other in pairs]
    alone = sum(row.machines == 1 for row in known)
    late = sum(row.episodes_without is None for row in known), sum(row.episodes_with is None for row in known)
    return (
        f"{len(known)} worlds, {alone} with just one machine: {looking:,} episodes with walks, {blind:,} without "
        f"({1 - looking / blind:.0%} fewer); in the median world {1 - statistics.median(shares):.0%} fewer. "
        f"Not settled at the end: {late[1]} with walks, {late[0]} without, which count with all of their episodes."
    )


if __name__ == "__main__":
    main()
