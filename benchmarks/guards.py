"""Guards over features: seconds until the fewest guards, literals and states are proven, and until they are found.

    python benchmarks/guards.py [--seeds 3] [--limit 300] [--only plane] [--other]

Episodes are random walks, with several seeds each. Seconds are the processor's, of all threads. ``found`` is when a
machine as small as the one at the end came up first. Then come other worlds of the same kinds, each once; ten and a
hundred times the episodes; and exact labels in the same run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

from guard_worlds import MORE_THINGS, Walks, plane, random_objects
from markovize import LearnResult, Traces, describe, learn
from markovize.learning.search import Progress
from markovize.learning.warm_up import warm_up
from report import Report


@dataclass(frozen=True)
class World:
    """A world, and how long a proof may take by the goal that was set for its kind, in seconds."""

    name: str
    walks: Callable[[int], Walks]
    goal: float
    most_seeds: int = 1_000  # where each takes minutes


COFFEE, BOTH = ("coffee",), ("coffee", "mail")
WORLDS = (
    World("objects, coffee then office, 200 walks", lambda seed: random_objects(200, COFFEE, seed), 3),
    World("objects, coffee, mail, office, 400 walks", lambda seed: random_objects(400, BOTH, seed), 60),
    World("plane, 300 walks", lambda seed: plane(300, seed), 10),
    World("plane, two irrelevant features", lambda seed: plane(300, seed, irrelevant=2), 60),
    World("plane, ten irrelevant features", lambda seed: plane(300, seed, irrelevant=10), 300, 5),
)
CORNERS = ((0.0, 4.0, 5.0, 10.0), (6.0, 10.0, 0.0, 5.0))
MIDDLE = ((4.0, 6.0, 4.0, 6.0), (0.0, 2.0, 0.0, 2.0))
SMALL = ((2.0, 3.5, 2.0, 3.5), (6.0, 7.5, 6.0, 7.5))
OVERLAP = ((2.0, 6.0, 2.0, 6.0), (5.0, 8.0, 5.0, 8.0))
OTHERS = (
    World("coffee: 5×5 cells", lambda seed: random_objects(200, COFFEE, seed, size=5), 3),
    World("coffee: 10×10 cells", lambda seed: random_objects(200, COFFEE, seed, size=10), 3),
    World("coffee: eight kinds of things", lambda seed: random_objects(200, COFFEE, seed, things=MORE_THINGS), 3),
    World("coffee: nothing is bad", lambda seed: random_objects(200, COFFEE, seed, bad=()), 3),
    World("coffee: three irrelevant features", lambda seed: random_objects(200, COFFEE, seed, noises=3), 3),
    World("coffee: 60 walks", lambda seed: random_objects(60, COFFEE, seed), 3),
    World("coffee: walks of 300 steps", lambda seed: random_objects(200, COFFEE, seed, most=300), 3),
    World("coffee: again and again", lambda seed: random_objects(200, COFFEE, seed, again=True), 3),
    World("coffee, mail: 9×9 cells", lambda seed: random_objects(400, BOTH, seed, size=9), 60),
    World("coffee, mail: eight kinds of things", lambda seed: random_objects(400, BOTH, seed, things=MORE_THINGS), 60),
    World("coffee, mail: nothing is bad", lambda seed: random_objects(400, BOTH, seed, bad=()), 60),
    World("coffee, mail: again and again", lambda seed: random_objects(400, BOTH, seed, again=True), 60),
    World("plane: large regions", lambda seed: plane(300, seed, regions=CORNERS), 10),
    World("plane: small regions", lambda seed: plane(300, seed, regions=SMALL), 10),
    World("plane: regions that overlap", lambda seed: plane(300, seed, regions=OVERLAP), 10),
    World("plane: 100 walks", lambda seed: plane(100, seed), 10),
    World("plane: 1,000 walks", lambda seed: plane(1_000, seed), 10),
    World("plane: walks of 300 steps", lambda seed: plane(300, seed, most=300), 10),
    World("plane: again and again", lambda seed: plane(300, seed, again=True), 10),
    World("plane: a third region costs 1", lambda seed: plane(300, seed, bad=(4.5, 5.5, 4.5, 5.5)), 10),
    World("two irrelevant: in the middle", lambda seed: plane(300, seed, irrelevant=2, regions=MIDDLE), 60),
    World("two irrelevant: that drift", lambda seed: plane(300, seed, irrelevant=2, drifts=True), 60),
    World("two irrelevant: 1,000 walks", lambda seed: plane(1_000, seed, irrelevant=2), 60),
    World("ten irrelevant: in the middle", lambda seed: plane(300, seed, irrelevant=10, regions=MIDDLE), 300),
)
OTHER_SEED = 100  # of the other worlds


def measure(report: Report, worlds: list[World], seeds: range, limit: float, over: str = "") -> None:
    heads = ("world", "seed", "steps", "guards, literals, states", "status", "found, CPU s", "proven, CPU s", "goal, s")
    report.heads(*heads, over=over)
    for world in worlds:
        for seed in seeds[: world.most_seeds]:
            traces = world.walks(seed).traces()
            result, found, took = solve(traces, limit)
            size = f"{result.guards}, {result.literals}, {result.states}"
            first = "-" if found is None else f"{found:.1f}"
            proven = f"{took:.1f}" if result.status == "optimal" else f"more than {took:.0f}"
            report.row(world.name, seed, f"{traces.steps:,}", size, result.status, first, proven, world.goal)
            if result.machine is not None:
                print("\n".join(f"<!-- {line} -->" for line in describe(result.machine)), flush=True)


def solve(traces: Traces, limit: float) -> tuple[LearnResult, float | None, float]:
    """The result, when a machine of its size was found, and all of the time, in seconds of the processor."""
    start, found = time.process_time(), dict[object, float]()

    def look(progress: Progress) -> None:
        if progress.best is not None and progress.guards is not None:
            found.setdefault((*progress.guards, *progress.best), time.process_time() - start)

    result = learn(traces, trigger_on="guards", time_limit=limit, on_progress=look)
    took = time.process_time() - start
    size = result.guards, result.literals, result.states, result.triggers
    return result, found.get(size, took if result.machine else None), took


def growth(report: Report, limit: float) -> None:
    report.heads("world", "episodes", "steps", "guards, literals", "CPU s", "times", "goal", over="More episodes")
    growing: dict[str, Callable[[int], Walks]] = {
        "objects, coffee then office": lambda episodes: random_objects(episodes, ("coffee",), 0),
        "plane": lambda episodes: plane(episodes, 0),
    }
    for name, walks in growing.items():
        base = 0.0
        for episodes, goal in (300, ""), (3_000, "3"), (30_000, "10"):
            traces = walks(episodes).traces()
            result, _, took = solve(traces, limit)
            base = base or took
            size = f"{result.guards}, {result.literals} ({result.status})"
            report.row(name, f"{episodes:,}", f"{traces.steps:,}", size, f"{took:.1f}", f"{took / base:.1f}", goal)


def exact_labels(report: Report) -> None:
    """What exact labels cost, in the same run: they share no code with guards but reading and replay."""
    import numpy as np

    from markovize.worlds import world
    from markovize.worlds.walks import noisy_walks

    report.heads("exact labels", "states, triggers", "CPU s", over="Exact labels beside them")
    for task in "bce":
        traces = noisy_walks(world("office", task=task), 400, np.random.default_rng(7))
        start = time.process_time()
        result = learn(traces, acyclic=True, trigger_on="state", reward_on="state")
        took = time.process_time() - start
        report.row(f"office {task}", f"{result.states}, {result.triggers}", f"{took:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300, help="seconds by the clock for each world")
    parser.add_argument("--only", default="", help="worlds whose name has this in it; no growth then")
    parser.add_argument("--other", action="store_true", help="only the other worlds")
    options = parser.parse_args()
    warm_up()
    learn(plane(20, 0).traces(), trigger_on="guards", time_limit=5)  # compiles
    report = Report("Guards over features")
    chosen, others = ([world for world in worlds if options.only in world.name] for worlds in (WORLDS, OTHERS))
    if not options.other:
        measure(report, chosen, range(options.seeds), options.limit)
    measure(report, others, range(OTHER_SEED, OTHER_SEED + 1), options.limit, over="Other worlds")
    if not options.only and not options.other:
        growth(report, options.limit)
        exact_labels(report)


if __name__ == "__main__":
    main()
