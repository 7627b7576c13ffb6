"""The table of solving times: the default engine, and the paper's ILP on HiGHS beside it in the same run.

    python benchmarks/solve.py                       all instances, three settings
    python benchmarks/solve.py --no-ilp --cyclic     only the default engine, with cycles
    python benchmarks/solve.py office-e office-d     some instances

Instances are the JSONL files of ``--bench``; where that folder is missing, episodes of the same tasks are made by this
project's generator. The ILP gets a hundred times the default engine's time, within ``--ilp-least`` and ``--ilp-most``
seconds: a ratio with ``>`` is a time-out. Seconds are those that ``markovize learn --json`` reports.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from markovize import learn, read_episodes
from markovize.learn_result import LearnResult
from markovize.traces import Traces
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

TASKS = {
    "breakfast-b-full": ("breakfast", {"task": "b", "rewards": "full"}),
    "breakfast-b-cumulative": ("breakfast", {"task": "b", "rewards": "cumulative"}),
    "breakfast-c-full": ("breakfast", {"task": "c", "rewards": "full"}),
    "breakfast-c-cumulative": ("breakfast", {"task": "c", "rewards": "cumulative"}),
    "office-b": ("office", {"task": "b"}),
    "office-c": ("office", {"task": "c"}),
    "office-d": ("office", {"task": "d"}),
    "office-e": ("office", {"task": "e"}),
    "office-loop": ("office", {"task": "loop"}),
}
PAPER = {
    "breakfast-b-full": "4.4", "breakfast-b-cumulative": "1,103", "breakfast-c-full": "154",
    "breakfast-c-cumulative": ">100,000",
    "office-b": "0.1", "office-c": "0.6", "office-d": "4,200", "office-e": "12,000",
}  # fmt: skip
"""Seconds of a whole run in the paper: Gurobi, 32 cores, other episodes."""


def episodes(name: str, folder: Path) -> Traces:
    path = folder / f"{name}.jsonl"
    if path.exists():
        return read_episodes(path)
    kind, options = TASKS[name]
    return noisy_walks(world(kind, **options), 2000, np.random.default_rng(1))


def seconds(result: LearnResult, limit: float | None = None) -> str:
    if result.status != "optimal":
        return f">{limit:.0f}" if limit else "stopped"
    return f"{result.seconds:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"instances, of {', '.join(TASKS)}")
    parser.add_argument("--bench", type=Path, default=Path(__file__).parents[2] / "shared" / "bench")
    parser.add_argument("--no-ilp", action="store_true", help="only the default engine")
    parser.add_argument("--ilp-least", type=float, default=30.0)
    parser.add_argument("--ilp-most", type=float, default=300.0)
    parser.add_argument("--acyclic", action="store_true", help="only acyclic machines")
    parser.add_argument("--cyclic", action="store_true", help="only with cycles")
    parser.add_argument("--objective", choices=["triggers", "states"], help="only this objective")
    options = parser.parse_args()
    settings = [("triggers", True), ("states", True), ("triggers", False)]
    if options.acyclic or options.cyclic:
        settings = [s for s in settings if s[1] == options.acyclic]
    if options.objective:
        settings = [s for s in settings if s[0] == options.objective]
    print("| instance | objective | machine | K, z | default, s | ILP on HiGHS, s | ratio | paper, s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for objective, acyclic in settings:
        for name in options.names or TASKS:
            traces = episodes(name, options.bench)
            fast = learn(traces, objective=objective, acyclic=acyclic)
            kind = "acyclic" if acyclic else "cyclic"
            cells = [name, objective, kind, f"{fast.states}, {fast.triggers}", seconds(fast)]
            if options.no_ilp:
                cells += ["", ""]
            else:
                limit = min(options.ilp_most, max(options.ilp_least, 100 * fast.seconds))
                slow = learn(traces, objective=objective, acyclic=acyclic, engine="ilp", time_limit=limit)
                same = slow.status != "optimal" or (slow.states, slow.triggers) == (fast.states, fast.triggers)
                assert same, f"{name}: the engines disagree"
                sign = "" if slow.status == "optimal" else ">"
                cells += [seconds(slow, limit), f"{sign}{slow.seconds / fast.seconds:,.0f}"]
            cells.append(PAPER.get(name, "") if acyclic else "")
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
