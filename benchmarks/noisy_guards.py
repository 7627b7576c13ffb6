"""Noise with guards: does ``auto`` find the machine of the clean episodes, and how long does it take?

    python benchmarks/noisy_guards.py [--seeds 5] [--only plane] [--kinds clean,uniform,gauss,flips,both] [--limit 60]

Random walks of the worlds of ``guards.py``, with the noise of ``noise.py``: rewards shaken by up to a tenth of the
smallest gap between them (uniform), by a normal deviation of a tenth of it (gauss), 0.1 % of the steps paid another
reward (flips), or both of the last two. ``same`` counts machines with the guards, literals and states of the clean one.
Seconds are the processor's, also those of the limit.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from guards import WORLDS
from markovize import LearnResult, learn
from markovize.learning.warm_up import warm_up, warm_up_for_noise
from noise import KINDS, copy
from report import Report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="worlds whose name has this in it")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--limit", type=float, default=60)
    options = parser.parse_args()
    time.monotonic = time.process_time  # what limits are compared with: other work on the machine does not count
    warm_up()
    warm_up_for_noise()
    learn(WORLDS[2].walks(0).traces(), trigger_on="guards", time_limit=1, outliers=1)  # compiles
    report = Report("Noise with guards", f"{options.seeds} seeds; the allowance is chosen by auto.")
    report.heads("world", "noise", "clean", "clean, s", "same", "proven", "tolerance", "outliers", "median, s", "times")
    for world in [world for world in WORLDS if options.only in world.name]:
        walks = [world.walks(seed).traces() for seed in range(options.seeds)]
        cleans, clean_seconds = list[LearnResult](), list[float]()
        for traces in walks:
            start = time.process_time()
            cleans.append(learn(traces, trigger_on="guards", time_limit=options.limit))
            clean_seconds.append(time.process_time() - start)
        for kind in options.kinds.split(","):
            seconds, same, proven = list[float](), 0, 0
            tolerances, outliers = list[float](), list[int]()
            for seed, (traces, clean) in enumerate(zip(walks, cleans, strict=True)):
                noisy, auto = copy(traces, kind, seed)
                start = time.process_time()
                result = learn(noisy, trigger_on="guards", time_limit=options.limit, **auto)  # type: ignore[arg-type]
                seconds.append(time.process_time() - start)
                size, wanted = ((r.guards, r.literals, r.states) for r in (result, clean))
                same += size == wanted
                proven += result.status == "optimal"
                if result.noise is not None:
                    tolerances.append(result.noise.tolerance)
                    outliers.append(len(result.noise.outliers))
            alone, took, n = median(clean_seconds), median(seconds), options.seeds
            shown = f"{min(tolerances):.2f} to {max(tolerances):.2f}", f"{min(outliers)} to {max(outliers)}"
            counts = f"{same} of {n}", f"{proven} of {n}"
            report.row(world.name, kind, wanted, f"{alone:.1f}", *counts, *shown, f"{took:.1f}", f"{took / alone:.1f}")


if __name__ == "__main__":
    main()
