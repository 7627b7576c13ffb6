"""Guards over features: seconds until the fewest guards, literals and states are proven, and until they are found.

    python benchmarks/guards.py [--seeds 3] [--limit 300] [--only plane]

Episodes are random walks, with three (or more) seeds each. ``found`` is when the machine that was kept at the end came
up first. The last tables: ten and a hundred times the episodes, and exact labels in the same run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

from guard_worlds import Walks, plane, random_objects
from markovize import describe, learn
from markovize.learning.search import Progress
from markovize.learning.warm_up import warm_up
from report import Report


@dataclass(frozen=True)
class World:
    """A world, and how long a proof may take by the goal that was set for it, in seconds."""

    name: str
    walks: Callable[[int], Walks]
    goal: float


WORLDS = (
    World("objects, coffee then office, 200 walks", lambda seed: random_objects(200, ("coffee",), seed), 3),
    World("objects, coffee, mail, office, 400 walks", lambda seed: random_objects(400, ("coffee", "mail"), seed), 60),
    World("plane, 300 walks", lambda seed: plane(300, seed), 10),
    World("plane, two irrelevant features", lambda seed: plane(300, seed, irrelevant=2), 60),
    World("plane, ten irrelevant features", lambda seed: plane(300, seed, irrelevant=10), 300),
)


def measure(report: Report, worlds: list[World], seeds: int, limit: float) -> None:
    report.heads("world", "seed", "steps", "guards, literals, states", "status", "found, s", "proven, s", "goal, s")
    for world in worlds:
        for seed in range(seeds):
            traces = world.walks(seed).traces()
            found: list[tuple[float, object]] = []
            start = time.perf_counter()

            def look(progress: Progress, found: list[tuple[float, object]] = found, start: float = start) -> None:
                if progress.best is not None and (not found or found[-1][1] != progress.best):
                    found.append((time.perf_counter() - start, progress.best))

            result = learn(traces, trigger_on="guards", time_limit=limit, on_progress=look)
            took = time.perf_counter() - start
            size = f"{result.guards}, {result.literals}, {result.states}"
            first = f"{found[-1][0]:.1f}" if found else "-"
            proven = f"{took:.1f}" if result.status == "optimal" else f"more than {limit:g}"
            report.row(world.name, seed, f"{traces.steps:,}", size, result.status, first, proven, world.goal)
            if seed == 0 and result.machine is not None:
                print("\n".join(f"<!-- {line} -->" for line in describe(result.machine, rewards=True)), flush=True)


def growth(report: Report, limit: float) -> None:
    report.heads("world", "episodes", "steps", "guards, literals", "seconds", "times", over="More episodes")
    growing: dict[str, Callable[[int], Walks]] = {
        "objects, coffee then office": lambda episodes: random_objects(episodes, ("coffee",), 0),
        "plane": lambda episodes: plane(episodes, 0),
    }
    for name, walks in growing.items():
        base = 0.0
        for episodes in (300, 3_000, 30_000):
            traces = walks(episodes).traces()
            start = time.perf_counter()
            result = learn(traces, trigger_on="guards", time_limit=limit)
            took = time.perf_counter() - start
            base = base or took
            size = f"{result.guards}, {result.literals} ({result.status})"
            report.row(name, f"{episodes:,}", f"{traces.steps:,}", size, f"{took:.1f}", f"{took / base:.1f}")


def exact_labels(report: Report) -> None:
    """What exact labels cost, in the same run: they share no code with guards but reading and replay."""
    import numpy as np

    from markovize.worlds import world
    from markovize.worlds.walks import noisy_walks

    report.heads("exact labels", "states, triggers", "seconds", over="Exact labels beside them")
    for task in "bce":
        traces = noisy_walks(world("office", task=task), 400, np.random.default_rng(7))
        result = learn(traces, acyclic=True, trigger_on="state", reward_on="state")
        report.row(f"office {task}", f"{result.states}, {result.triggers}", f"{result.seconds:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--only", default="", help="worlds whose name has this in it; no growth then")
    options = parser.parse_args()
    warm_up()
    learn(plane(20, 0).traces(), trigger_on="guards", time_limit=5)  # compiles
    report = Report("Guards over features")
    chosen = [world for world in WORLDS if options.only in world.name]
    measure(report, chosen, options.seeds, options.limit)
    if not options.only:
        growth(report, options.limit)
        exact_labels(report)


if __name__ == "__main__":
    main()
