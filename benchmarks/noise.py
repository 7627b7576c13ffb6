"""Noise: do machines of noisy copies have the size and the triggers of the clean one, and how long does it take?

    python benchmarks/noise.py [--copies 20] [--only office-c] [--kinds uniform,gauss,flips,both] [--limit 60]

Copies of the nine shared files: rewards shaken by up to a tenth of the smallest gap between rewards (uniform), by a
normal deviation of a tenth of it (gauss), 0.1 % of the steps paid another reward of the file (flips), or both of the
last two. ``clean`` asks for both allowances where there is no noise. The allowance is ``auto`` throughout.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from statistics import median
from typing import Any, Final

import numpy as np

from episodes import NAMES, load
from markovize import LearnResult, Traces, learn
from markovize.learning.warm_up import warm_up, warm_up_for_noise
from report import Report

LABELS: Final[dict[str, Any]] = {"trigger_on": "state", "reward_on": "state"}
KINDS: Final = ("clean", "uniform", "gauss", "flips", "both")
SHARE: Final = 0.001  # of steps that are flipped


def copy(traces: Traces, kind: str, seed: int) -> tuple[Traces, dict[str, str]]:
    """A noisy copy, and what is left to be chosen."""
    rng, paid = np.random.default_rng(seed), traces.rewards.copy()
    levels = np.unique(paid)
    gap = float(np.diff(levels).min())
    if kind in ("flips", "both"):
        flipped = rng.random(len(paid)) < SHARE
        others = levels[(np.searchsorted(levels, paid) + rng.integers(1, len(levels), len(paid))) % len(levels)]
        paid = np.where(flipped, others, paid)
    if kind == "uniform":
        paid = paid + rng.uniform(-gap / 10, gap / 10, len(paid))
    if kind in ("gauss", "both"):
        paid = paid + rng.normal(0, gap / 10, len(paid))
    chosen = {"uniform": ["tolerance"], "gauss": ["tolerance"], "flips": ["outliers"]}
    return replace(traces, rewards=paid), dict.fromkeys(chosen.get(kind, ["tolerance", "outliers"]), "auto")


def fits(found: LearnResult, clean: LearnResult) -> bool:
    """Whether the machine has the size of the clean one, and its triggers up to alternatives of either."""
    if (found.states, found.triggers) != (clean.states, clean.triggers):
        return False
    ours, theirs = (
        sorted((t.source, t.target, sorted(map(repr, {t.on, *t.alternatives}))) for t in result.unwrap().triggers)
        for result in (found, clean)
    )
    pairs = zip(ours, theirs, strict=True)
    return all(a[:2] == b[:2] and set(a[2]) & set(b[2]) for a, b in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--only", default="", help="files whose name has this in it")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--limit", type=float, default=60)
    options = parser.parse_args()
    warm_up()
    warm_up_for_noise()
    report = Report("Noise", f"{options.copies} noisy copies of each file; the allowance is chosen by auto.")
    report.heads(
        "file", "noise", "clean machine", "clean, s", "same size", "same triggers", "outliers", "median, s", "times"
    )
    for name in NAMES:
        if options.only not in name:
            continue
        traces, acyclic = load(name), name != "office-loop"
        start = time.perf_counter()
        clean = learn(traces, acyclic=acyclic, **LABELS)
        alone = time.perf_counter() - start
        for kind in options.kinds.split(","):
            sizes, same, outliers, seconds = 0, 0, list[int](), list[float]()
            for seed in range(options.copies if kind != "clean" else 1):
                noisy, auto = copy(traces, kind, seed)
                start = time.perf_counter()
                result = learn(noisy, acyclic=acyclic, time_limit=options.limit, **LABELS, **auto)  # type: ignore[arg-type]
                seconds.append(time.perf_counter() - start)
                if result.noise is not None and result.machine is not None:
                    sizes += (result.states, result.triggers) == (clean.states, clean.triggers)
                    same += fits(result, clean)
                    outliers.append(len(result.noise.outliers))
            tried = len(seconds)
            few = f"{min(outliers)} to {max(outliers)}" if outliers else "-"
            machine, took = f"{clean.states}, {clean.triggers}", median(seconds)
            shown = (f"{alone:.2f}", f"{sizes} of {tried}", f"{same} of {tried}", few, f"{took:.2f}")
            report.row(name, kind, machine, *shown, f"{took / alone:.1f}")


if __name__ == "__main__":
    main()
