"""Noise: do machines of noisy copies have the size and the triggers of the clean one, and how long does it take?

    python benchmarks/noise.py [--copies 20] [--files office-c,office-d] [--kinds uniform,gauss] [--limit 60]
    python benchmarks/noise.py --kept noise.jsonl      keeps each copy's answer there, and goes on where it was stopped
    python benchmarks/noise.py --show noise.jsonl      the table of what was kept, by several runs on one commit
    python benchmarks/noise.py --walks 1 --copies 5    copies of fresh walks in the same tasks, drawn by this seed

Copies of the nine shared files: rewards shaken by up to a tenth of the smallest gap between rewards (uniform), by a
normal deviation of a tenth of it (gauss), 0.1 % of the steps paid another reward of the file (flips), 1 % of them
(many), or gauss and flips together (both). The allowance is ``auto`` throughout. ``clean`` asks for the tolerance, for
outliers and for both where there is no noise: what is right there is to find none.

*Right* is a machine with the size of the clean one and its triggers, up to alternatives and the numbers of states,
within the limit, proven or not. Flips count only where the clean data need ten outliers for any smaller machine: else a
smaller one may well be the shorter description. That is asked of the exact engine. Seconds are the processor's, also
those of the limit.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from episodes import NAMES, load, walk_anew
from markovize import LearnResult, Traces, learn
from markovize.learning.warm_up import warm_up, warm_up_for_noise
from markovize.machine.machine import RewardMachine
from report import Report, commit

LABELS: Final[dict[str, Any]] = {"trigger_on": "state", "reward_on": "state"}
KINDS: Final = ("clean", "uniform", "gauss", "flips", "both", "many")
FLIPPED: Final = {"flips": 0.001, "both": 0.001, "many": 0.01}  # the share of the steps
ALLOWANCES: Final = (["tolerance"], ["outliers"], ["tolerance", "outliers"])
CHOSEN: Final = {"uniform": ALLOWANCES[0], "gauss": ALLOWANCES[0], "flips": ALLOWANCES[1], "many": ALLOWANCES[1]}
ENOUGH: Final = 10  # outliers that a smaller machine must take, for a copy with flips to count

Row = dict[str, Any]


def copy(traces: Traces, kind: str, seed: int) -> tuple[Traces, dict[str, str]]:
    """A noisy copy, and what is left to be chosen."""
    rng, paid = np.random.default_rng(seed), traces.rewards.copy()
    levels = np.unique(paid)
    gap = float(np.diff(levels).min())
    if kind in FLIPPED:
        flipped = rng.random(len(paid)) < FLIPPED[kind]
        others = levels[(np.searchsorted(levels, paid) + rng.integers(1, len(levels), len(paid))) % len(levels)]
        paid = np.where(flipped, others, paid)
    if kind == "uniform":
        paid = paid + rng.uniform(-gap / 10, gap / 10, len(paid))
    if kind in ("gauss", "both"):
        paid = paid + rng.normal(0, gap / 10, len(paid))
    chosen = ALLOWANCES[seed % 3] if kind == "clean" else CHOSEN.get(kind, ALLOWANCES[2])
    return replace(traces, rewards=paid), dict.fromkeys(chosen, "auto")


def fits(found: RewardMachine, clean: RewardMachine) -> bool:
    """Whether the machine has the size of the clean one, and its triggers up to alternatives and numbers of states."""
    if (found.states, len(found.triggers)) != (clean.states, len(clean.triggers)):
        return False
    return any(_fits(found, clean, (0, *names)) for names in permutations(range(1, clean.states)))


def _fits(found: RewardMachine, clean: RewardMachine, names: Sequence[int]) -> bool:
    """The same, with these names of the states that were found."""
    ours, theirs = (defaultdict[tuple[int, int], list[set[Any]]](list) for _ in range(2))
    for trigger in found.triggers:
        ours[names[trigger.source], names[trigger.target]].append({trigger.on, *trigger.alternatives})
    for trigger in clean.triggers:
        theirs[trigger.source, trigger.target].append({trigger.on, *trigger.alternatives})
    if {edge: len(some) for edge, some in ours.items()} != {edge: len(some) for edge, some in theirs.items()}:
        return False
    return all(
        any(all(one & other for one, other in zip(ours[edge], order, strict=True)) for order in permutations(some))
        for edge, some in theirs.items()
    )


def is_acyclic(name: str) -> bool:
    """As the tasks behind the files are."""
    return name != "office-loop"


def learn_clean(name: str, traces: Traces) -> tuple[LearnResult, float]:
    """The machine of the clean file, and its median seconds: most of them are soon found."""
    seconds: list[float] = []
    while len(seconds) < 3 or (sum(seconds) < 0.5 and len(seconds) < 9):
        start = time.process_time()
        clean = learn(traces, acyclic=is_acyclic(name), **LABELS)
        seconds.append(time.process_time() - start)
    return clean, median(seconds)


def bound_outliers(name: str, traces: Traces, clean: LearnResult, limit: float) -> tuple[int, int | None]:
    """The outliers that a smaller machine takes on the clean file: at least, and the least that were seen.

    The engine proves what is smallest with so many outliers, from few to :data:`ENOUGH` less one.
    """
    size, least = (clean.triggers, clean.states), 1
    for outliers in (1, 3, ENOUGH - 1):
        found = learn(traces, acyclic=is_acyclic(name), outliers=outliers, time_limit=limit, **LABELS)
        if found.noise is not None and found.triggers is not None and (found.triggers, found.states) < size:
            return least, len(found.noise.outliers)
        if found.status != "optimal":
            return least, None
        least = outliers + 1
    return least, None


def measure(name: str, kind: str, seed: int, traces: Traces, clean: LearnResult, limit: float) -> Row:
    """One copy."""
    noisy, auto = copy(traces, kind, seed)
    start = time.process_time()
    result = learn(noisy, acyclic=is_acyclic(name), time_limit=limit, **LABELS, **auto)  # type: ignore[arg-type]
    row: Row = {"file": name, "kind": kind, "seed": seed, "status": result.status}
    row |= {"seconds": time.process_time() - start, "states": result.states, "triggers": result.triggers}
    row["right"] = result.machine is not None and fits(result.machine, clean.unwrap())
    if result.noise is not None:
        row |= {"tolerance": result.noise.tolerance, "outliers": len(result.noise.outliers)}
    return row


class Kept:
    """What was measured before, if it is kept; it must be of one commit."""

    def __init__(self, path: Path | None, commit: str | None) -> None:
        self._path, self._rows = path, dict[tuple[str, str, int], Row]()
        self.commit = commit
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.commit = self.commit or row["commit"]
                if row["commit"] != self.commit:
                    raise SystemExit(f"{path} was measured on {row['commit']}, not on {self.commit}")
                self._rows[row["file"], row["kind"], row["seed"]] = row

    def seeds(self, name: str, kind: str) -> list[int]:
        """Of the copies that are there."""
        return sorted(seed for file, its, seed in self._rows if (file, its) == (name, kind))

    def get(self, name: str, kind: str, seed: int) -> Row | None:
        return self._rows.get((name, kind, seed))

    def add(self, row: Row) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row | {"commit": self.commit}) + "\n")


def show(report: Report, name: str, kind: str, alone: float, rows: Sequence[Row]) -> None:
    """One line of the table."""
    took, sizes = median(row["seconds"] for row in rows), defaultdict[str, int](int)
    for row in rows:
        sizes[f"{row['states']}, {row['triggers']}"] += not row["right"]
    wrong = "; ".join(f"{count} × {size}" for size, count in sizes.items() if count)
    few = [row["outliers"] for row in rows if "outliers" in row]
    right = f"{sum(row['right'] for row in rows)} of {len(rows)}"
    proven = sum(row["status"] == "optimal" for row in rows)
    outliers = f"{min(few)} to {max(few)}" if few else "-"
    longest = max(row["seconds"] for row in rows)
    shown = f"{took:.2f}", f"{longest:.2f}", f"{took / alone:.1f}"
    report.row(name, kind, right, proven, wrong or "-", outliers, *shown)


def is_false_alarm(row: Row) -> bool:
    """Whether noise was found where there is none."""
    return bool(row.get("tolerance") or row.get("outliers"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first copy")
    parser.add_argument("--fewer", type=int, help="copies of the kinds both and many, if not as many")
    parser.add_argument("--files", default=",".join(NAMES))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--walks", type=int, metavar="SEED", help="copies of fresh walks in the same tasks")
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--show", type=Path)
    options = parser.parse_args()
    time.monotonic = time.process_time  # what limits are compared with: other work on the machine does not count
    names, kinds, kept = options.files.split(","), options.kinds.split(","), Kept(options.kept, commit())
    if options.show is not None:
        kept = Kept(options.show, None)
    warm_up()
    warm_up_for_noise()
    files = {name: load(name) if options.walks is None else walk_anew(name, options.walks) for name in names}
    cleans = {name: learn_clean(name, traces) for name, traces in files.items()}
    of = "file" if options.walks is None else f"task, of fresh walks (seed {options.walks})"
    report = Report("Noise", f"{options.copies} noisy copies of each {of}; the allowance is chosen by auto.")
    report.heads("file", "steps", "states, triggers", "clean, s", "outliers of a smaller machine", over="Clean")
    counts = dict[str, bool]()
    asks = any(kind in FLIPPED for kind in kinds)
    for name, (clean, alone) in cleans.items():
        if not asks:
            counts[name] = True
            report.row(name, files[name].steps, f"{clean.states}, {clean.triggers}", f"{alone:.3f}", "not asked")
            continue
        least, seen = bound_outliers(name, files[name], clean, options.limit / 4)
        counts[name] = seen is None  # where it is not settled, copies count
        shown = f"at least {least}" if seen is None else f"at most {seen}: flips do not count"
        report.row(name, files[name].steps, f"{clean.states}, {clean.triggers}", f"{alone:.3f}", shown)
    report.heads("file", "noise", "right", "proven", "wrong", "outliers", "median, s", "longest, s", "times clean",
                 over="Copies")  # fmt: skip
    every: list[Row] = []
    for kind in kinds:
        for name in names:
            copies = options.fewer if options.fewer is not None and kind in ("both", "many") else options.copies
            own = range(len(ALLOWANCES)) if kind == "clean" else range(options.first, options.first + copies)
            seeds = list(own) if options.show is None else kept.seeds(name, kind)
            if not seeds:
                continue
            rows = list[Row]()
            for seed in seeds:
                row = kept.get(name, kind, seed)
                if row is None:
                    row = measure(name, kind, seed, files[name], cleans[name][0], options.limit)
                    kept.add(row)
                rows.append(row)
            every += rows
            show(report, name, kind, cleans[name][1], rows)
    report.heads("noise", "right", "of those that count", "median of times clean", over="Together")
    for kind in kinds:
        rows = [row for row in every if row["kind"] == kind]
        if not rows:
            continue
        asked = [row for row in rows if counts[row["file"]] or kind not in FLIPPED]
        times = median(row["seconds"] / cleans[row["file"]][1] for row in rows)
        right = (f"{sum(row['right'] for row in some)} of {len(some)}" for some in (rows, asked))
        report.row(kind, *right, f"{times:.1f}")
    if options.show is not None:
        report.note(f"Copies were measured by several runs on commit {kept.commit}; clean files by this one.")
    alarms = [row for row in every if row["kind"] == "clean"]
    if alarms:
        report.note(f"False alarms on clean data: {sum(map(is_false_alarm, alarms))} of {len(alarms)}.")


if __name__ == "__main__":
    main()
