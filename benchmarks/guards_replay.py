"""How fast machines with guards run over episodes: the compiled loop, the same by NumPy and in plain Python.

    python benchmarks/guards_replay.py [--quick]

Random walks of a point in a square with two irrelevant features, and a machine of boxes: every step is tested by the
triggers of the state that the machine is in. *Tests* are steps times guards tested. *All of it* is
:func:`markovize.replay`, with the features taken out of the observations first. Each is timed by the clock, and the
best of three is shown.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from markovize import Feature, Guard, Literal, RewardMachine, Traces, Trigger, replay
from markovize.episodes.features import FeatureTable, tabulate_features
from markovize.episodes.traces import Ints
from markovize.machine.guarded_run import run_guards

GOAL = 1e7  # step-guard tests a second
NAMES = ("x", "y", "noise", "more")


def boxes(states: int, guards: int) -> RewardMachine:
    """Each state has so many guards on small boxes that lead to the next state."""
    rng, triggers = np.random.default_rng(1), []
    for u in range(states):
        for _ in range(guards):
            corner = rng.uniform(0, 9, 2)
            literals = [
                literal
                for name, low in zip("xy", corner.tolist(), strict=True)
                for literal in (Literal(name, "at_least", low), Literal(name, "below", low + 0.5))
            ]
            triggers.append(Trigger(u, Guard(literals), (u + 1) % states))
    features = tuple(Feature(name, "numeric") for name in NAMES)
    return RewardMachine("guards", "guards", states, tuple(triggers), features=features)


def walks(steps: int, length: int = 100) -> Traces:
    """Points at random, none of which comes back."""
    episodes = steps // length
    values = np.random.default_rng(0).uniform(0, 10, (episodes * (length + 1), len(NAMES)))
    observations = [dict(zip(NAMES, row, strict=True)) for row in values.tolist()]
    return Traces.of(
        (observations[n * (length + 1) : (n + 1) * (length + 1)], [0] * length, [0.0] * length) for n in range(episodes)
    )


def tests_made(machine: RewardMachine, before: Ints, after: Ints) -> int:
    """How many guards were tested, if half of a state's are on average where one fires."""
    guards = np.bincount([trigger.source for trigger in machine.triggers], minlength=machine.states)
    return int(np.where(before == after, guards[before], (guards[before] + 1) // 2).sum())


def plainly(machine: RewardMachine, offsets: list[int], table: FeatureTable) -> list[int]:
    """The same without anything compiled."""
    out, rows = [], [table.row(step) for step in range(offsets[-1])]
    for first, end in pairwise(offsets):
        u = machine.initial
        for step in range(first, end):
            u = machine.step(u, rows[step])
            out.append(u)
    return out


def best(function: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    steps = 50_000 if parser.parse_args().quick else 500_000
    traces = walks(steps)
    print(
        "| guards a state | steps | million tests/s: compiled | NumPy, all at all steps | plain Python | all of it, s |"
    )
    print("|---|---|---|---|---|---|")
    slow = False
    for guards in (1, 4, 16):
        machine = boxes(3, guards)
        table = tabulate_features(traces, machine.features)
        way = run_guards(machine, traces.offsets, table)
        tests = tests_made(machine, way.before, way.after)
        compiled = tests / best(lambda: run_guards(machine, traces.offsets, table))  # noqa: B023 - called at once
        whole = best(lambda: [table.holds(trigger.on) for trigger in machine.triggers])  # type: ignore[arg-type]  # noqa: B023
        few = traces.offsets[: max(2, len(traces.offsets) // 100)]
        start = time.perf_counter()
        assert plainly(machine, few.tolist(), table) == way.after[: few[-1]].tolist()
        plain = tests * (few[-1] / steps) / (time.perf_counter() - start)
        seconds = best(lambda: replay(machine, traces))  # noqa: B023 - called at once
        by_numpy = steps * len(machine.triggers) / whole
        print(
            f"| {guards} | {steps:,} | {compiled / 1e6:.0f} | {by_numpy / 1e6:.0f} | {plain / 1e6:.2f} "
            f"| {seconds:.2f} |",
            flush=True,
        )
        slow = slow or compiled < GOAL
    sys.exit(slow)


if __name__ == "__main__":
    main()
