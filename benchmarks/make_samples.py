"""Makes the sample episodes that the package carries, byte for byte the same each time.

python benchmarks/make_samples.py            writes them into src/markovize/data
python benchmarks/make_samples.py --check    only says whether they are what this command would write
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from markovize.episodes.traces import Traces
from markovize.io.files import atomic_write
from markovize.worlds import noisy_walks, world

DATA = Path(__file__).resolve().parents[1] / "src" / "markovize" / "data"


def office_e() -> Traces:
    """150 episodes of at most 60 steps that come past d: 40 that finish the patrol a, b, c, d, and 110 that do not.

    Chosen so that the episodes leave no room: with cycles or without, the machine with the fewest triggers is the
    true one, and no other label would serve for any of its triggers.
    """
    patrol = world("office", task="e")
    traces = noisy_walks(patrol, 30_000, np.random.default_rng(1), max_steps=120, targets="abcd")
    (goal,) = patrol.grid.at("d") if patrol.grid else ()
    paid: list[int] = []
    unpaid: list[int] = []
    for number in np.flatnonzero(np.diff(traces.offsets) <= 60).tolist():
        episode = traces.episode(number)
        if goal in episode.observations:
            (paid if episode.rewards[-1] == 1 else unpaid).append(number)
    return traces.select(sorted(paid[:40] + unpaid[:110]))


def beach() -> Traces:
    """60 episodes on a beach where sunbathing pays four times; only transitions tell sunbathing from waiting."""
    return noisy_walks(world("beach", levels=4), 60, np.random.default_rng(0), noise=0.3, max_steps=60)


SAMPLES: dict[str, Callable[[], Traces]] = {"office-e": office_e, "beach": beach}


def lines(traces: Traces) -> str:
    """The episodes as JSONL, without blanks."""
    return "".join(json.dumps(episode.to_json(), separators=(",", ":")) + "\n" for episode in traces)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Make the packaged sample episodes.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    check = parser.parse_args(arguments).check
    different = 0
    for name, make in SAMPLES.items():
        traces, path = make(), DATA / f"{name}.jsonl"
        text = lines(traces).encode()
        same = path.exists() and path.read_bytes() == text
        if not same and not check:
            DATA.mkdir(exist_ok=True)
            atomic_write(path, text)
        different += not same
        state = "unchanged" if same else "differs" if check else "written"
        print(f"{name:10} {len(traces):4} episodes {traces.steps:5} steps {len(text):6} bytes  {state}")
    return 1 if check and different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
