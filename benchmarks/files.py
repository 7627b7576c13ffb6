"""Files: how fast episodes and machines are read and written, and that the work grows with their size.

    python benchmarks/files.py [--episodes 20000] [--states 10000] [--save FILE]

Seconds of one core. ``ten times`` is how many times as long a machine of ten times the states takes: about 10 if the
work is linear.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import numpy as np

from markovize import RewardMachine, read_episodes, read_machine, write_episodes, write_machine
from markovize.gym.wrappers import RecordEpisodes
from markovize.io.registry import MACHINES
from markovize.machine.machine import Emission, Trigger
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks
from report import Report


def chain(states: int) -> RewardMachine:
    """A chain with few labels, as the text format needs it, and many rewards."""
    triggers = tuple(Trigger(n, n % 40, n + 1) for n in range(states - 1))
    pays = tuple(Emission(n, n % 40, n + 1, 0.0) for n in range(states - 1))
    stays = tuple(Emission(n, ("stay", n), n, 0.5) for n in range(0, states, 3))
    return RewardMachine("state", "state", states, triggers, pays + stays)


def seconds(function: Callable[[], object], times: int = 3) -> float:
    """The shortest of some runs."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return min(taken)


def measure_episodes(report: Report, folder: Path, episodes: int) -> None:
    traces = noisy_walks(world("breakfast", task="b"), episodes, np.random.default_rng(0))
    report.heads("episodes", "steps", "MB", "write, s", "read, s", "read, million steps a second", over="Episodes")
    for format in ("jsonl", "csv"):
        path = folder / f"log.{format}"
        writing = seconds(lambda: write_episodes(path, traces))  # noqa: B023 - called at once
        reading = seconds(lambda: read_episodes(path))  # noqa: B023 - called at once
        size, rate = path.stat().st_size / 1e6, traces.steps / reading / 1e6
        report.row(format, f"{traces.steps:,}", f"{size:.1f}", f"{writing:.2f}", f"{reading:.2f}", f"{rate:.2f}")


def measure_recording(report: Report, folder: Path, steps: int = 20_000) -> None:
    """What a step costs more where it is recorded."""
    report.heads("environment", "plain, µs a step", "recorded, µs a step", over="Recording")

    def play(env: gym.Env[object, int]) -> float:
        def walk() -> None:
            env.reset(seed=0)
            for number in range(steps):
                _, _, terminated, truncated, _ = env.step(number % 4)
                if terminated or truncated:
                    env.reset()

        return 1e6 * seconds(walk) / steps

    for name in ("CliffWalking-v1", "markovize/OfficeWorld-v0"):
        plain = play(gym.make(name))
        recorded = play(RecordEpisodes(gym.make(name), folder / f"{name.replace('/', '-')}.jsonl"))
        report.row(name, f"{plain:.1f}", f"{recorded:.1f}")


def measure_machines(report: Report, folder: Path, states: int) -> None:
    report.heads("machine", "states", "write, s", "read, s", "write, ten times", "read, ten times", over="Machines")
    for format in MACHINES:
        path = folder / "machine"
        times: list[tuple[float, float]] = []
        for size in (states, 10 * states):
            machine = chain(size)
            writing = seconds(lambda: write_machine(path, machine, format=format.name), 1)  # noqa: B023
            reads = format.read is not None
            reading = seconds(lambda: read_machine(path, format=format.name), 1) if reads else 0.0  # noqa: B023
            times.append((writing, reading))
            growth = [f"{now / before:.1f}" if before else "–" for before, now in zip(times[0], times[-1], strict=True)]
            report.row(format.name, f"{size:,}", f"{writing:.2f}", f"{reading:.2f}" if reads else "–", *growth)


def main() -> None:
    parser = argparse.ArgumentParser(description="Reading and writing files.")
    parser.add_argument("--episodes", type=int, default=20_000)
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    report = Report("Files", "Seconds of one core to read and to write episodes and machines.")
    with tempfile.TemporaryDirectory() as folder:
        measure_episodes(report, Path(folder), options.episodes)
        measure_recording(report, Path(folder))
        measure_machines(report, Path(folder), options.states)
    report.save(options.save)


if __name__ == "__main__":
    main()
