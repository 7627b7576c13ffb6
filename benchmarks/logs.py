"""Large logs: seconds and peak memory of check, replay and learn on Parquet shards of walks, each in its own process.

    python benchmarks/logs.py [--steps 10000000] [--shards 4] [--repeat 1] [--only check,replay,learn] [--folder DIR]

The shards are made from walks in Officeworld (task e) with fixed seeds, once for each folder. ``--repeat 10`` reads
each shard ten times as a log ten times as long, so that a hundred million steps need no more disk.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import markovize
from markovize.io.episodes.parquet import ParquetStream, shard_paths
from markovize.learning.merging import merge
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

MACHINE = world("office", task="e").machine


def make_shards(folder: Path, steps: int, shards: int) -> None:
    """Shards of about ``steps`` steps in all; those that are there are kept."""
    for number in range(shards):
        path = folder / f"{number:04}.parquet"
        if not path.exists():
            few = noisy_walks(world("office", task="e"), 200, np.random.default_rng(number))
            episodes = round(steps / shards * len(few) / few.steps)
            markovize.write_episodes(
                path, noisy_walks(world("office", task="e"), episodes, np.random.default_rng(number))
            )


def measure(verb: str, folder: Path, repeat: int) -> None:
    """Runs one verb and prints a row of the table."""
    start = time.perf_counter()
    stream = ParquetStream(tuple(shard_paths(folder)) * repeat)
    if verb == "check":
        report = markovize.check(stream)
        steps, answer = report.steps, f"{report.conflicts} conflicts"
    elif verb == "replay":
        replayed = markovize.replay(MACHINE, stream)
        steps, answer = replayed.steps, f"{replayed.mismatches} mismatches, {replayed.unseen} unseen"
    else:
        merged = merge(stream.chunks())
        result = markovize.learn(merged)
        steps = merged.recorded[1]
        answer = f"{result.status}, {result.states} states, {result.triggers} triggers; {merged.steps:,} histories"
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"| {verb} | {steps:,} | {seconds:.1f} | {time.process_time():.1f} | {memory:.2f} | {answer} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", default="check,replay,learn")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.folder, options.repeat)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        make_shards(folder, options.steps, options.shards)
        print(
            "| verb | steps | seconds | seconds of CPU | peak memory, GB | answer |\n|---|---|---|---|---|---|",
            flush=True,
        )
        for verb in options.only.split(","):
            command = [sys.executable, __file__, "--measure", verb, "--folder", str(folder)]
            subprocess.run([*command, "--repeat", str(options.repeat)], check=True)


if __name__ == "__main__":
    main()
