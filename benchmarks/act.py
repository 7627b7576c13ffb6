"""The active learner beside the paper: all eight tasks, faithful and directed, 10 seeds, in one run.

    python benchmarks/act.py [--seeds 10] [--jobs 2]

Faithful runs wait for a first conflict as the paper's did (capped at 1,000,000 episodes); directed runs take as many
episodes as it says below. Episodes are counted until the greedy policy is optimal and stays so.
"""

from __future__ import annotations

import argparse
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

TASKS: dict[str, tuple[str, dict[str, Any], int, str, str, str]] = {
    # name: (environment, options, reported episodes, paper's |U|, |T_o|, solve seconds)
    "office b": ("OfficeWorld", {"task": "b"}, 100_000, "2", "4.2", "0.1"),
    "office c": ("OfficeWorld", {"task": "c"}, 100_000, "2", "7.4", "0.6"),
    "office d": ("OfficeWorld", {"task": "d"}, 100_000, "3.2", "36.8", "4,200"),
    "office e": ("OfficeWorld", {"task": "e"}, 100_000, "4", "44.2", "12,000"),
    "breakfast b full": ("BreakfastWorld", {"task": "b"}, 10_000, "5", "6.2", "4.4"),
    "breakfast b cumulative": ("BreakfastWorld", {"task": "b", "rewards": "cumulative"}, 10_000, "5", "22.4", "1,103"),
    "breakfast c full": ("BreakfastWorld", {"task": "c"}, 10_000, "7", "10.8", "154"),
    "breakfast c cumulative": ("BreakfastWorld", {"task": "c", "rewards": "cumulative"}, 10_000, "–", "–", ">100,000"),
}
DIRECTED_EPISODES = 2_000


class Row(NamedTuple):
    """One run."""

    task: str
    mode: str
    states: int
    exemplars: int
    solve: float
    optimal: bool
    episodes_to_optimal: int | None
    conflicts: int


def one(job: tuple[str, str, int]) -> Row:
    """Runs one task in one mode with one seed."""
    import gymnasium

    from markovize import ActiveLearner, Settings

    task, mode, seed = job
    name, options, episodes, *_ = TASKS[task]
    changes: dict[str, Any] = {"seed": seed, "acyclic": True, "evaluate_every": 10}
    if mode == "paper":
        changes |= {"episodes": episodes}
        if task == "office b":
            changes |= {"wait_epsilon": 0.2}
    else:
        changes |= {"episodes": DIRECTED_EPISODES}
    result = ActiveLearner(gymnasium.make(f"markovize/{name}-v0", **options), Settings.of(mode, **changes)).run()
    done = result.optimal_return is not None and result.greedy_return >= result.optimal_return - 1e-9
    return Row(
        task,
        mode,
        result.machine.states,
        result.exemplars,
        result.solve_seconds,
        done,
        result.episodes_to_optimal,
        len(result.solves),
    )


def median(rows: list[Row]) -> str:
    found = [r.episodes_to_optimal for r in rows]
    return "never" if any(f is None for f in found) else f"{statistics.median(f for f in found if f is not None):,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    jobs = [(task, mode, seed) for task in TASKS for mode in ("paper", "directed") for seed in range(asked.seeds)]
    one(("breakfast b full", "directed", 0))  # compile once
    one(("breakfast b full", "paper", 0))
    heads = [
        "task",
        "U, paper's",
        "T_o, paper's",
        "solve s (slowest), paper's",
        "optimal",
        "episodes",
        "directed: optimal",
        "episodes",
        "solve s",
    ]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|", flush=True)
    with ProcessPoolExecutor(asked.jobs) as pool:
        rows: dict[tuple[str, str], list[Row]] = {}
        for row in pool.map(one, jobs):
            rows.setdefault((row.task, row.mode), []).append(row)
            if row.mode == "directed" and len(rows[row.task, row.mode]) == asked.seeds:
                show(row.task, rows[row.task, "paper"], rows[row.task, "directed"])


def show(task: str, paper: list[Row], directed: list[Row]) -> None:
    """One line of the table."""
    *_, states, exemplars, seconds = TASKS[task]
    solve = [r.solve for r in paper]
    cells = [
        task,
        f"{statistics.mean(r.states for r in paper):.1f}, {states}",
        f"{statistics.mean(r.exemplars for r in paper):.1f}, {exemplars}",
        f"{statistics.median(solve):.2f} ({max(solve):.2f}), {seconds}",
        f"{sum(r.optimal for r in paper)}/{len(paper)}",
        median(paper),
        f"{sum(r.optimal for r in directed)}/{len(directed)}",
        median(directed),
        f"{statistics.median(r.solve for r in directed):.2f}",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
