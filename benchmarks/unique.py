"""Episodes to a proven unique machine: with walks where machines disagree, and without.

    python benchmarks/unique.py [--worlds 30] [--episodes 150] [--first 0]

Random grid worlds as in ``random_worlds.py``, those whose reward is Markov aside. Both arms have the same seeds and
settings, but for ``all=50`` in one of them. A world's machine is *settled* by so many episodes as leave no other
machines of its size than all episodes of both arms together do: these differ in nothing that was ever seen. That is
decided afterwards from the episodes, in the same way for both arms. In parentheses: how many of the episodes came after
those that first leave only machines of the final size. A run that is not settled at its end counts with all of its
episodes. Prints a row for each world, and sums.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    episodes_with: tuple[int, int] | None  # when settled, and when first of the right size; None: not settled
    episodes_without: tuple[int, int] | None
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
    size = _size_of(next(iter(final)) if final else ())
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


def settled_at(kept: Sequence[Any], final: frozenset[Any]) -> tuple[int, int] | None:
    """How many episodes leave no other machines, and how many leave none of another size, by bisection.

    None if all of them leave others.
    """
    if machines_of(kept) != final:
        return None
    settled = _least(lambda n: machines_of(kept[:n]) == final, len(kept))
    size = _size_of(next(iter(final)))
    return settled, _least(lambda n: _optimum(kept[:n]) == size, settled)


def _least(enough: Callable[[int], bool], most: int) -> int:
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _optimum(episodes: Sequence[Any]) -> tuple[int | None, int | None]:
    """States and triggers of the smallest machine."""
    from markovize import learn

    result = learn(episodes, time_limit=60, count_steps=True, **LABELS)
    return result.states, result.triggers


def _size_of(form: Any) -> tuple[int, int]:
    return 1 + max((max(u, v) for u, _, v in form), default=0), len(form)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=150)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    report = Report("Episodes to a proven unique machine", WORDS)
    report.heads("world", "states", "triggers", "machines left", "with walks (of these, ties)", "without", "seconds")
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


def _shown(episodes: tuple[int, int] | None, row: Row) -> str:
    if row.machines is None:
        return "–"
    return f"> {row.played:,}" if episodes is None else f"{episodes[0]:,} ({episodes[0] - episodes[1]})"


def summary(rows: Sequence[Row]) -> str:
    """What both arms took in all, and how many worlds have just one machine."""
    known = [row for row in rows if row.machines is not None]
    arms = [[row.episodes_with for row in known], [row.episodes_without for row in known]]
    played = [row.played for row in known]
    whole = [[most if at is None else at[0] for at, most in zip(arm, played, strict=True)] for arm in arms]
    ties = [[most if at is None else at[0] - at[1] for at, most in zip(arm, played, strict=True)] for arm in arms]
    late = [sum(at is None for at in arm) for arm in arms]
    return (
        f"{len(known)} worlds, {sum(row.machines == 1 for row in known)} of them with just one machine left. Episodes "
        f"to a settled machine: {_compared(whole)}. Of these, since there was a machine of the right size: "
        f"{_compared(ties)}. Not settled at the end: {late[0]} with walks, {late[1]} without, which count with all of "
        "their episodes."
    )


def _compared(arms: Sequence[Sequence[int]]) -> str:
    looking, blind = (sum(arm) for arm in arms)
    medians = " and ".join(f"{statistics.median(arm):g}" for arm in arms)
    return f"{looking:,} with walks, {blind:,} without, {1 - looking / max(1, blind):.0%} fewer (medians {medians})"


if __name__ == "__main__":
    main()
