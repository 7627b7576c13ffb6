"""Large and cyclic machines: Beachworld's 11 states and the endless patrol while acting, and the patrol unrolled.

    python benchmarks/cycles.py [--seeds 10] [--jobs 1]

Beachworld has transition labels; a faithful run is the paper's, with ε = 0.4. The patrol (Office, task ``loop``) is a
cycle of four states. Without cycles a machine has to be unrolled, as in the paper's Appendix B: the last table learns
from logged walks of one, two and three rounds, with cycles and without, a minute for each.
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

BEACH: dict[str, Any] = {"trigger_on": "transition", "reward_on": "transition"}
CASES: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    # name: environment, its options, mode, settings
    "beach, faithful": ("BeachWorld", {}, "paper", BEACH | {"epsilon": 0.4, "episodes": 10_000}),
    "beach, directed": ("BeachWorld", {}, "directed", BEACH | {"episodes": 2_000}),
    "beach, directed, labels found": ("BeachWorld", {}, "directed", {"episodes": 2_000}),
    "patrol, directed": ("OfficeWorld", {"task": "loop"}, "directed", {"episodes": 1_000}),
}
WALKS, NOISE, LIMIT = 150, 0.05, 60.0


class Row(NamedTuple):
    """One run."""

    states: int
    triggers: int
    exemplars: int
    solves: int
    solve: float
    greedy: float
    best: float
    since: int | None


def one(job: tuple[str, int]) -> Row:
    """Runs one case with one seed."""
    import gymnasium

    from markovize import ActiveLearner, Settings

    case, seed = job
    name, options, mode, changes = CASES[case]
    env = gymnasium.make(f"markovize/{name}-v0", **options)
    result = ActiveLearner(env, Settings.of(mode, seed=seed, **changes)).run()
    assert result.optimal_return is not None
    return Row(
        result.machine.states,
        len(result.machine.triggers),
        result.exemplars,
        len(result.solves),
        result.solve_seconds,
        result.greedy_return,
        result.optimal_return,
        result.episodes_to_optimal,
    )


def show(case: str, rows: list[Row]) -> None:
    """One line of the table: means of sizes, medians of seconds and episodes."""
    optimal = [row for row in rows if row.greedy >= row.best - 1e-9]
    since = [row.since for row in optimal if row.since is not None]
    solve = [row.solve for row in rows]
    cells = [
        case,
        *(f"{statistics.mean(getattr(row, name) for row in rows):.1f}" for name in ("states", "triggers", "exemplars")),
        f"{statistics.mean(row.solves for row in rows):.0f}",
        f"{statistics.median(solve):.2f} ({max(solve):.2f})",
        f"{statistics.mean(row.greedy for row in rows):.2f} of {rows[0].best:g}",
        f"{len(optimal)}/{len(rows)}",
        f"{statistics.median(since):,.0f}" if since else "–",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)


def patrols(rounds: int) -> Any:
    """Walks around the office: most go astray once or twice."""
    import numpy as np

    from markovize import Traces
    from markovize.worlds import world
    from markovize.worlds.walks import always_ends, distances

    office, rng = world("office", task="loop"), np.random.default_rng(0)
    plants, tables = always_ends(office), office.tables
    far = {name: distances(office, office.landmarks[name], plants) for name in "abcd"}
    episodes = []
    for _ in range(WALKS):
        targets = list("abcd") * rounds
        for _ in range(rng.integers(1, 4) if rng.random() < 0.7 else 0):
            targets[rng.integers(len(targets))] = str(rng.choice(list("abcd")))
        s, u = office.start, office.machine.initial
        observations, actions, rewards = [office.observations[s]], [], []
        for name in targets:
            while far[name][s] > 0:
                a = int(rng.integers(5)) if rng.random() < NOISE else int(np.argmin(far[name][office.successor[s]]))
                if not plants[office.successor[s, a]]:
                    actions.append(a)
                    rewards.append(float(tables.reward[u, s, a]))
                    u, s = int(tables.u[u, s, a]), int(office.successor[s, a])
                    observations.append(office.observations[s])
        episodes.append((observations, actions, rewards, False))
    return Traces.of(episodes)


def unrolling() -> None:
    """The patrol with cycles and without."""
    from markovize import learn

    heads = ["rounds", "steps", "cycles", "status", "states", "triggers", "proven, at least", "s"]
    print("\n| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|", flush=True)
    for rounds in (1, 2, 3):
        traces = patrols(rounds)
        for acyclic in (False, True):
            found = learn(traces, acyclic=acyclic, trigger_on="state", reward_on="state", time_limit=LIMIT)
            cells = [
                rounds,
                f"{traces.steps:,}",
                "no" if acyclic else "yes",
                found.status,
                f"{found.states or 0:,}",
                f"{found.triggers or 0:,}",
                f"{found.bounds[0]}, {found.bounds[1]}",
                f"{found.seconds:.2f}",
            ]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="parts of the names of cases; all, if none")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    heads = [
        "case",
        "U",
        "triggers",
        "T_o",
        "solves",
        "solve s (slowest)",
        "greedy return",
        "optimal",
        "episodes",
    ]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|", flush=True)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for case in CASES:
            if not asked.cases or any(part in case for part in asked.cases):
                show(case, list(pool.map(one, [(case, seed) for seed in range(asked.seeds)])))
    if not asked.cases or "unrolling" in asked.cases:
        unrolling()


if __name__ == "__main__":
    main()
