"""How much episodes say: what chose the constants of `check` and `learn`.

    python benchmarks/evidence.py comparable    share of comparable steps against conflicts that were not seen
    python benchmarks/evidence.py support       paid steps that need a trigger against machines that were wrong

Samples are noisy walks of few to many episodes through worlds whose reward depends on history.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from markovize import Traces, check, learn, replay
from markovize.machine.support import count_support
from markovize.worlds import World, noisy_walks, random_grid_world, world

EPISODES = (1, 2, 3, 5, 8, 12, 20, 40, 80, 160)
SEEDS, RANDOM_WORLDS, NOISE, LONGEST = 10, 8, 0.5, 100


def worlds() -> Iterator[World]:
    """The paper's worlds and random ones, if their reward depends on history."""
    yield from (world("office", task=task) for task in "bcde")
    yield from (world("breakfast", task=task) for task in "bc")
    yield world("beach")
    yield from (random_grid_world(np.random.default_rng(seed)) for seed in range(RANDOM_WORLDS))


def samples() -> Iterator[tuple[World, Traces]]:
    """Walks through each world, again and again."""
    for place in worlds():
        if check(noisy_walks(place, 3_000, np.random.default_rng(9), max_steps=LONGEST)).markov:
            continue
        for episodes in EPISODES:
            for seed in range(SEEDS):
                rng = np.random.default_rng(seed)
                yield place, noisy_walks(place, episodes, rng, noise=NOISE, max_steps=LONGEST)


def comparable() -> None:
    """The share of comparable steps, by tenths, and in how many samples no conflict was seen."""
    missed: dict[int, list[bool]] = defaultdict(list)
    for _, traces in samples():
        report = check(traces)
        missed[min(9, 10 * report.comparable // max(1, report.steps))].append(report.markov)
    print("comparable  samples  no conflict seen")
    for tenth, answers in sorted(missed.items()):
        print(f"{tenth / 10:.1f} to {tenth / 10 + 0.1:.1f} {len(answers):8} {np.mean(answers):17.0%}")
    for name, part in (("below half", range(5)), ("half or more", range(5, 10))):
        answers = [answer for tenth in part for answer in missed[tenth]]
        print(f"{name}: {len(answers)} samples, no conflict seen in {np.mean(answers):.0%}")


def support() -> None:
    """The least number of paid steps that need a trigger, and how many machines fail on fresh walks."""
    failed: dict[int, list[bool]] = defaultdict(list)
    fresh: dict[str, Traces] = {}
    for place, traces in samples():
        result = learn(traces, time_limit=2)
        if result.status == "optimal" and result.machine is not None and result.triggers:
            key = str(place.machine)
            if key not in fresh:
                fresh[key] = noisy_walks(place, 300, np.random.default_rng(77), noise=NOISE, max_steps=LONGEST)
            least = min(each.paid for each in count_support(result.machine, traces))
            failed[least].append(replay(result.machine, fresh[key]).mismatches > 0)
    print("paid steps  machines  wrong")
    for low, high in ((0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (6, 9), (10, 10**9)):
        answers = [answer for least, some in failed.items() if low <= least <= high for answer in some]
        if answers:
            print(f"{low:4} to {high if high < 10**9 else '…':<4} {len(answers):8} {np.mean(answers):6.0%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["comparable", "support"])
    {"comparable": comparable, "support": support}[parser.parse_args().what]()
