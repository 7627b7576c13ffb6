"""Growth: the same machine behind 1, 10, 100 and 1,000 times the episodes, and one million steps through the command.

    python benchmarks/growth.py [--plot docs/growth.png] [--seed 7]

Only exemplars reach the solver, so the search hardly grows; what grows is reading, labelling and merging the data,
which is linear. ``prepare`` is that part, ``search`` the rest of ``learn``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from markovize import learn, write_episodes
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.prefix_tree import build_tree
from markovize.learning.warm_up import warm_up
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

WORLDS = {
    "office e": ("office", {"task": "e"}),
    "breakfast b cumulative": ("breakfast", {"task": "b", "rewards": "cumulative"}),
}
BASE = 600
FACTORS = (1, 10, 100, 1000)
Row = tuple[str, int, int, float, float]


def growth(seed: int) -> list[Row]:
    """(world, factor, steps, seconds to prepare, seconds to search), printed as a table on the way."""
    rows: list[Row] = []
    print("\n| world | episodes | steps | K, z | exemplars | prepare, s | search, s | µs a step |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name, (kind, options) in WORLDS.items():
        for factor in FACTORS:
            traces = noisy_walks(world(kind, **options), BASE * factor, np.random.default_rng(seed))
            start = time.perf_counter()
            build_tree(label_traces(traces, "state", "state"))
            prepare = time.perf_counter() - start
            result = learn(traces, acyclic=True, trigger_on="state", reward_on="state")
            assert result.status == "optimal"
            search = max(0.0, result.seconds - prepare)
            rows.append((name, factor, traces.steps, prepare, search))
            print(
                f"| {name} | {len(traces):,} | {traces.steps:,} | {result.states}, {result.triggers} "
                f"| {result.exemplars} | {prepare:.2f} | {search:.2f} | {1e6 * result.seconds / traces.steps:.2f} |",
                flush=True,
            )
    return rows


def million(seed: int) -> None:
    """One million steps from a file: time and memory of the commands, Python's start included."""
    traces = noisy_walks(world("office", task="e"), 37_700, np.random.default_rng(seed))
    print("| command | steps | seconds | peak memory, MB | answer |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.jsonl"
        write_episodes(path, traces)
        for verb, more in (("check", []), ("learn", ["-o", str(Path(folder) / "machine.json"), "--acyclic"])):
            start = time.perf_counter()
            command = [sys.executable, "-m", "markovize", verb, str(path), *more, "--json"]
            done = subprocess.run(command, capture_output=True, check=True)
            took = time.perf_counter() - start
            memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            answer = json.loads(done.stdout)
            said = f"{answer['conflicts']} conflicts" if verb == "check" else f"K={answer['states']} {answer['status']}"
            print(f"| {verb} | {traces.steps:,} | {took:.1f} | {memory:.0f} | {said} |", flush=True)


def plot(rows: list[Row], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    for colour, name in zip(("#1f6f8b", "#c8553d"), WORLDS, strict=True):
        mine = [row for row in rows if row[0] == name]
        steps = [row[2] for row in mine]
        axes.plot(steps, [row[4] for row in mine], "o-", color=colour, label=f"{name}: search")
        axes.plot(steps, [row[3] for row in mine], "s--", color=colour, alpha=0.5, label=f"{name}: prepare")
    ends = np.array([min(r[2] for r in rows), max(r[2] for r in rows)])
    axes.plot(ends, ends / ends[0] * min(r[4] for r in rows), ":", color="grey", label="as fast as the data")
    axes.set(xscale="log", yscale="log", xlabel="steps", ylabel="seconds", title="Learning time against data")
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    print(f"\nplot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--plot", type=Path, default=Path("docs/growth.png"))
    options = parser.parse_args()
    warm_up()
    million(options.seed)  # first: a child's peak memory starts at its parent's
    rows = growth(options.seed)
    plot(rows, options.plot)


if __name__ == "__main__":
    main()
