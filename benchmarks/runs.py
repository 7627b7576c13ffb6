"""Active runs with cycles allowed, to the proof at their end: Office d and Breakfast c cumulative.

    python benchmarks/runs.py                        both worlds, three seeds
    python benchmarks/runs.py office --seeds 5       one of them

Without cycles these machines are proven in seconds; with cycles the proof is the long part, and a run leaves it to its
end. Seconds are the clock's, of the whole run: playing, searching, and the proof, which may use several cores. Beside
them are the processor's.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, Final

import gymnasium

import markovize
from markovize import ActiveLearner, Settings
from markovize.learning.cubes import count_cores
from report import Report

WORDS: Final = """\
Whole runs of {episodes} episodes in mode `directed`, cycles allowed, labels found by the run itself. *Seconds* are the
clock's, the proof at the end included, which uses {cores} cores. The goal is at most {goal:g} s and `optimal` at the
end. *Since* is the episode from which on the greedy policy earns the optimum."""
CASES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "office d": ("OfficeWorld", {"task": "d"}),
    "breakfast c cumulative": ("BreakfastWorld", {"task": "c", "rewards": "cumulative"}),
}
GOAL: Final = 40.0


def run(case: str, seed: int, episodes: int) -> tuple[markovize.RunResult, float, float]:
    """A run, and the seconds that it took by the clock and of the processor."""
    world, options = CASES[case]
    env = gymnasium.make(f"markovize/{world}-v0", **options)
    start, used = time.perf_counter(), time.process_time()
    result = ActiveLearner(env, Settings.of(episodes=episodes, seed=seed)).run()
    return result, time.perf_counter() - start, time.process_time() - used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="parts of the names of cases; all, if none")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table here, with its origin")
    asked = parser.parse_args()
    report = Report("Runs with cycles", WORDS.format(episodes=asked.episodes, goal=GOAL, cores=count_cores()))
    report.heads(
        "world", "seed", "status", "states, triggers", "seconds", "processor's", "greedy return", "since", "labels"
    )
    env = gymnasium.make("markovize/BreakfastWorld-v0", task="b")
    ActiveLearner(env, Settings.of(episodes=100)).run()  # compiles and loads
    kept = shown = 0
    for case in CASES:
        if asked.cases and not any(part in case for part in asked.cases):
            continue
        for seed in range(asked.seeds):
            result, seconds, used = run(case, seed, asked.episodes)
            machine = result.machine
            size, labels = f"{machine.states}, {len(machine.triggers)}", f"{machine.trigger_on}/{machine.reward_on}"
            earned = f"{result.greedy_return:g} of {result.optimal_return:g}"
            since = "–" if result.episodes_to_optimal is None else result.episodes_to_optimal
            report.row(case, seed, result.status, size, f"{seconds:.1f}", f"{used:.1f}", earned, since, labels)
            kept, shown = kept + (result.status == "optimal" and seconds <= GOAL), shown + 1
    report.note(f"Proven, and within {GOAL:g} s: {kept} of {shown}.")
    report.save(asked.out)


if __name__ == "__main__":
    main()
