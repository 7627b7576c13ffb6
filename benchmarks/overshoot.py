"""By how much a time limit is overshot: random limits on hard instances.

    python benchmarks/overshoot.py                  200 limits, a quarter of an hour
    python benchmarks/overshoot.py --runs 30        fewer
    python benchmarks/overshoot.py "large" "ilp"    only instances whose names contain one of these

Limits are drawn from 0.1 to 10 s, evenly on a logarithmic scale, and instances in turn; both by ``--seed``. The
overshoot of a run is the time from the call to its return, by the clock, less the limit; on a machine that is busy
with other things, the processor time that the run took after its limit, if that is less. Both are shown. Runs that end
before their limit say nothing and are only counted. The first compilation of the kernels is not measured; it happens
before, once. Nor is the start of a command, and the reading of its file: the time counts when learning begins.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import gymnasium
import numpy as np

from episodes import load
from lateness import Late, Watch, own_seconds, seconds_of_children
from markovize import ActiveLearner, Settings, Traces, learn, write_episodes
from markovize.worlds import noisy_walks, random_grid_world, world
from report import Report

Env: TypeAlias = gymnasium.Env[Any, Any]
SHORTEST, LONGEST = 0.1, 10.0  # seconds
GOAL = 1.0  # second, of the 99th percentile
BEGUN = "learning begins"

# a command that says when all is loaded, compiled and read
COMMAND = f"""
import sys
import markovize
from markovize.cli.app import main
from markovize.learning.warm_up import warm_up
learn = markovize.learn
def told(*args, **kwargs):
    warm_up()
    print({BEGUN!r}, file=sys.stderr, flush=True)
    return learn(*args, **kwargs)
markovize.learn = told
main()
"""


class Instance(NamedTuple):
    """Something to be stopped: ``run`` takes the limit and says how late it was."""

    name: str
    run: Callable[[float], Late]


class Run(NamedTuple):
    """One limit, and what became of it."""

    instance: str
    limit: float
    late: Late

    @property
    def overshoot(self) -> float:
        return self.late.seconds


# --- episodes ------------------------------------------------------------------------------------------------------


@cache
def paid_by_history(episodes: int, length: int, labels: int) -> Traces:
    """Each history has a reward of its own, drawn at random: only a machine that spells out the tree explains it."""
    rng, paid = np.random.default_rng(0), dict[tuple[int, ...], float]()
    out = []
    for _ in range(episodes):
        seen = rng.integers(labels, size=length + 1).tolist()
        rewards = [paid.setdefault(tuple(seen[: n + 2]), float(rng.integers(2))) for n in range(length)]
        out.append((seen, [0] * length, rewards))
    return Traces.of(out)


@cache
def random_walks(seed: int) -> Traces:
    """Walks in a random grid with a machine of six states."""
    grid = random_grid_world(np.random.default_rng(seed), width=8, height=8, states=6, landmarks=8)
    return noisy_walks(grid, 2_000, np.random.default_rng(seed))


@cache
def many_walks() -> Traces:
    """Half a million steps of Office d."""
    return noisy_walks(world("office", task="d"), 20_000, np.random.default_rng(0))


@cache
def bench(name: str) -> Traces:
    return load(name)


# --- instances -----------------------------------------------------------------------------------------------------


def learning(
    name: str,
    make: Callable[[], Traces],
    *,
    objective: Literal["triggers", "states"] = "triggers",
    engine: str = "auto",
    acyclic: bool = False,
) -> Instance:
    def run(limit: float) -> Late:
        traces, watch = make(), Watch(os.getpid())
        watch.begin(limit)
        learn(traces, objective=objective, engine=engine, acyclic=acyclic, time_limit=limit)
        return watch.end(own_seconds())

    return Instance(name, run)


def acting(name: str, make: Callable[[], Env], mode: str = "directed", **changes: int) -> Instance:
    """A run of the active learner that only its time limit ends."""

    def run(limit: float) -> Late:
        learner, watch = ActiveLearner(make(), Settings.of(mode, episodes=10_000_000, **changes)), Watch(os.getpid())
        watch.begin(limit)
        learner.run(time_limit=limit)
        return watch.end(own_seconds())

    return Instance(name, run)


def commanding(name: str, make: Callable[[], Traces], *options: str) -> Instance:
    """``markovize learn`` in a process of its own, from the beginning of learning to the end of the process."""

    @cache
    def file() -> Path:
        path = Path(tempfile.mkdtemp()) / "log.jsonl"
        write_episodes(path, make())
        return path

    def run(limit: float) -> Late:
        asked = ["learn", str(file()), "-o", str(file().with_suffix(".json")), "--time-limit", f"{limit:.3f}", *options]
        command, before = [sys.executable, "-c", COMMAND, *asked], seconds_of_children()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        watch = Watch(child.pid)
        assert child.stderr is not None
        if child.stderr.readline().strip() != BEGUN:
            raise SystemExit(f"the command failed: {child.communicate()[1]}")
        watch.begin(limit)
        child.communicate()
        return watch.end(seconds_of_children() - before)

    return Instance(name, run)


def office(task: str) -> Callable[[], Env]:
    return partial(gymnasium.make, "markovize/OfficeWorld-v0", task=task)


def instances() -> list[Instance]:
    """All of them."""
    tree, flat = (lambda: paid_by_history(300, 20, 4)), (lambda: paid_by_history(2_000, 50, 5_000))
    out = [
        learning("office-d, cycles", lambda: bench("office-d")),
        learning("office-d, cycles, states", lambda: bench("office-d"), objective="states"),
        learning("office-d, ilp", lambda: bench("office-d"), engine="ilp"),
        learning("breakfast-c-cumulative, cycles", lambda: bench("breakfast-c-cumulative")),
        learning("breakfast-c-cumulative, ilp", lambda: bench("breakfast-c-cumulative"), engine="ilp", acyclic=True),
        learning("random world 3, states", lambda: random_walks(3), objective="states"),
        learning("random world 8, states", lambda: random_walks(8), objective="states"),
        learning("history's own rewards: thousands of triggers", tree),
        learning("history's own rewards, acyclic", tree, acyclic=True),
        learning("history's own rewards, ilp", tree, engine="ilp"),
        learning("history's own rewards, exhaustive", tree, engine="exhaustive"),
        learning("100,000 steps, 5,000 observations", flat),
        learning("200,000 steps, 200 observations", lambda: paid_by_history(2_000, 100, 200)),
        learning("large: 530,000 steps of office d", many_walks),
        learning("large: 530,000 steps of office d, states", many_walks, objective="states"),
        commanding("command line, office-d", lambda: bench("office-d")),
        commanding("command line, history's own rewards", tree),
    ]
    cumulative = partial(gymnasium.make, "markovize/BreakfastWorld-v0", task="c", rewards="cumulative")
    out += [
        acting("acting, office d", office("d")),
        acting("acting, office d, much effort", office("d"), effort=10_000_000),
        acting("acting, the endless patrol", office("loop")),
        acting("acting, breakfast c cumulative, keep all", cumulative, keep=100_000),
        acting("acting, mode paper, office e", office("e"), "paper"),
    ]
    return out


# --- measuring -----------------------------------------------------------------------------------------------------


def measure(chosen: list[Instance], runs: int, seed: int) -> list[Run]:
    """Instances in turn, limits at random."""
    rng, out = np.random.default_rng(seed), []
    order: list[Instance] = []
    for number in range(runs):
        order = order or [chosen[i] for i in rng.permutation(len(chosen))]
        instance = order.pop()
        limit = float(np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST))))
        run = Run(instance.name, limit, instance.run(limit))
        out.append(run)
        late = f"{run.late.clock:+7.2f} s {run.late.processor:+7.2f} s"
        print(f"{number + 1:4} {run.instance:48} {limit:6.2f} s {late}", file=sys.stderr, flush=True)
    return out


def show(report: Report, chosen: list[Instance], runs: list[Run]) -> None:
    """One line for each instance, and all of them together."""
    heads = ("p50", "p90", "p99", "worst", "of a limit of", "worst by the clock")
    report.heads("instance", "runs", "reached the limit", f"overshoot, s: {heads[0]}", *heads[1:])
    names: list[str | None] = [*(instance.name for instance in chosen), None]
    for name in names:
        mine = [run for run in runs if name in (None, run.instance)]
        over = [run for run in mine if run.late.clock > 0]
        cells = ["–"] * len(heads)
        if over:
            quantiles = np.quantile([run.overshoot for run in over], (0.5, 0.9, 0.99)).tolist()
            worst = max(over, key=lambda run: run.overshoot)
            cells = [f"{q:.2f}" for q in (*quantiles, worst.overshoot)] + [f"{worst.limit:.2f} s"]
            cells.append(f"{max(run.late.clock for run in over):.2f}")
        if mine:
            report.row(name or "**all**", len(mine), len(over), *cells)
    over = [run for run in runs if run.late.clock > 0]
    if over:
        worst = max(over, key=lambda run: run.overshoot)
        p99 = np.quantile([run.overshoot for run in over], 0.99)
        clock = np.quantile([run.late.clock for run in over], 0.99)
        met = "met" if p99 <= GOAL else "MISSED"
        report.note(
            f"Worst: {worst.instance}. Goal, p99 at most {GOAL:g} s: {met}, {p99:.2f} s; {clock:.2f} s by the clock."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of instances; all, if none")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the table here, with its origin")
    asked = parser.parse_args()
    chosen = [i for i in instances() if not asked.names or any(part in i.name for part in asked.names)]
    if not chosen:
        raise SystemExit("no instance has such a name; they are: " + "; ".join(i.name for i in instances()))
    learn(bench("office-b"))  # compiles
    for mode in ("directed", "paper"):
        ActiveLearner(gymnasium.make("markovize/OfficeWorld-v0"), Settings.of(mode, episodes=100)).run()
    report = Report("Time limits", f"{asked.runs} random limits of {SHORTEST:g} to {LONGEST:g} s on hard instances.")
    runs = measure(chosen, asked.runs, asked.seed)
    show(report, chosen, runs)
    report.save(asked.out)


if __name__ == "__main__":
    main()
