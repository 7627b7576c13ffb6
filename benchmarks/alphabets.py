"""Large alphabets: 100 to 400 labels, machines of 3 to 8 states, few triggers among many labels that do nothing.

    python benchmarks/alphabets.py                                all sizes, three seeds each
    python benchmarks/alphabets.py --labels 200 --states 5        one size

Benchmarks of automata have two symbols, most of which move the automaton. Observations are many, and nearly all of them
leave the machine where it is. An instance is drawn from its seed alone: K-1 triggers on random labels make a tree of K
states, K/2 more lead anywhere; five labels pay 0 or 1, which each state decides at random; a walk of 40 steps takes a
trigger of its state with probability 0.2, a label that pays with 0.2, and otherwise any label.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from anytime import LimitReached
from markovize import Traces, learn, replay
from markovize.learning.search import Progress
from report import Report

WORDS: Final = """\
Walks over many labels, of which few are triggers: 300 walks of 40 steps, paid by a machine with so many states and
triggers (*behind*), which need not be the smallest that explains them. *Found* is the smallest (states, triggers),
proven, by the default engine with cycles allowed, fewest triggers; where the search was stopped, with what is proven.
*Right* is the share of 300 other walks on which it pays nothing else than the machine behind them."""
PAYING, LENGTH, WALKS = 5, 40, 300
BY_TRIGGER, BY_PAYING = 0.2, 0.2
STOPPED: Final = "–"


class Behind(NamedTuple):
    """A machine that pays: where each (state, label) leads, and what each state pays at the labels that pay."""

    labels: int
    states: int
    triggers: dict[tuple[int, int], int]
    pays: np.ndarray[tuple[int, int], np.dtype[np.int64]]  # the paying labels are the first

    def walks(self, rng: np.random.Generator) -> Traces:
        """Episodes; actions say nothing."""
        return Traces.of([self._walk(rng) for _ in range(WALKS)])

    def _walk(self, rng: np.random.Generator) -> tuple[list[int], list[int], list[float]]:
        u, labels, rewards = 0, [self.labels], list[float]()
        for _ in range(LENGTH):
            chance, own = rng.random(), sorted(x for v, x in self.triggers if v == u)
            if own and chance < BY_TRIGGER:
                label = int(rng.choice(own))
            else:
                label = int(rng.integers(PAYING if chance < BY_TRIGGER + BY_PAYING else self.labels))
            rewards.append(float(self.pays[u, label]) if label < PAYING else 0.0)
            labels.append(label)
            u = self.triggers.get((u, label), u)
        return labels, [0] * LENGTH, rewards


def draw(labels: int, states: int, rng: np.random.Generator) -> Behind:
    """A machine whose states all pay differently."""
    pays = rng.integers(2, size=(states, PAYING))
    while len(np.unique(pays, axis=0)) < states:
        pays = rng.integers(2, size=(states, PAYING))
    triggers: dict[tuple[int, int], int] = {}
    for state in range(1, states):
        triggers[int(rng.integers(state)), int(rng.integers(PAYING, labels))] = state
    for _ in range(states // 2):
        source, target = (int(state) for state in rng.choice(states, size=2, replace=False))
        triggers.setdefault((source, int(rng.integers(PAYING, labels))), target)
    return Behind(labels, states, triggers, pays)


def solve(seen: Traces, unseen: Traces, limit: float) -> tuple[str, str, str]:
    """The size that is found, in how many processor seconds, and how often it is right."""
    start, last = time.process_time(), list[Progress]()

    def look(progress: Progress) -> None:
        last[:] = [progress]
        if time.process_time() - start > limit:
            raise LimitReached

    try:
        found = learn(seen, trigger_on="state", reward_on="state", on_progress=look)
    except LimitReached:
        best, (states, triggers) = last[0].best, last[0].lower
        size = "–" if best is None else f"{best[0]}, {best[1]}"
        return f"{size}; at least {states}, {triggers}", f">{limit:.0f}", STOPPED
    seconds = time.process_time() - start
    assert found.status == "optimal"
    fits = sum(not replay(found.unwrap(), Traces.of([walk])).mismatches for walk in unseen)
    return f"{found.states}, {found.triggers}", f"{seconds:.2f}", f"{100 * fits / WALKS:.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 200, 400])
    parser.add_argument("--states", type=int, nargs="+", default=[3, 5, 8])
    parser.add_argument("--seeds", type=int, default=3, help="machines of each size (default 3)")
    parser.add_argument("--limit", type=float, default=120.0, metavar="S", help="processor seconds for each search")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table here, with its origin")
    asked = parser.parse_args()
    report = Report("Large alphabets", WORDS)
    report.heads("labels", "seed", "behind", "found", "s", "right")
    learn(draw(10, 2, np.random.default_rng(0)).walks(np.random.default_rng(0)))  # compiles and loads
    proven = asked_for = 0
    for labels in asked.labels:
        for states in asked.states:
            for seed in range(1, asked.seeds + 1):
                rng = np.random.default_rng([labels, states, seed])
                behind = draw(labels, states, rng)
                seen, unseen = behind.walks(rng), behind.walks(rng)
                asked_for += 1
                size, seconds, share = solve(seen, unseen, asked.limit)
                proven += share != STOPPED
                report.row(labels, seed, f"{states}, {len(behind.triggers)}", size, seconds, share)
    report.note(f"Proven within {asked.limit:g} s: {proven} of {asked_for}.")
    report.save(asked.out)


if __name__ == "__main__":
    main()
