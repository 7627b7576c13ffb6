"""How soon there is a good machine: the size of the best one so far at 1, 10 and 50 % of the time, and at the end.

    python benchmarks/anytime.py                     the nine files and samples of words, all settings
    python benchmarks/anytime.py office-d 10-1       some of them
    python benchmarks/anytime.py --samples FOLDER    words from files resN-i.txt instead of drawn ones

A search that ends within ``--least`` processor seconds is left out: nobody waits for it. One that takes longer than
``--limit`` is stopped, and the end is what it has by then.
"""

from __future__ import annotations

import argparse
import gc
import time
from pathlib import Path
from typing import Final, NamedTuple

from episodes import NAMES, load
from markovize import Traces, learn
from markovize.learning.search import Progress
from report import Report
from solve import SETTINGS, Objective
from words import samples

WORDS: Final = """\
States, triggers of the best machine at 1, 10 and 50 % of the processor seconds that a search takes, and at its end;
`–`: none yet. *Good* is whether, at 10 %, what is to be least is within 20 % of the end. Searches that take less than
{least:g} s are left out; `>`: stopped, so that the end is what there is by then."""
SHARES: Final = (0.01, 0.1, 0.5)
GOOD: Final = 1.2
WORD_SETTINGS: Final[tuple[tuple[Objective, bool], ...]] = (("states", False), ("triggers", False))


class Found(NamedTuple):
    """A machine: when, and its size."""

    seconds: float
    states: int
    triggers: int


class Course(NamedTuple):
    """The machines of a search, each better than the one before, and when it ended."""

    machines: list[Found]
    seconds: float
    proven: bool

    def at(self, share: float) -> Found | None:
        """The best machine after this share of the time."""
        return next((found for found in reversed(self.machines) if found.seconds <= share * self.seconds), None)

    def is_good(self, objective: Objective) -> bool:
        early, end = self.at(0.1), self.machines[-1]
        return early is not None and getattr(early, objective) <= GOOD * getattr(end, objective)


class LimitReached(Exception):  # noqa: N818 - a signal, not an error
    """Enough processor seconds."""


def follow(traces: Traces, objective: Objective, acyclic: bool, limit: float) -> Course:
    """Learns, and notes each better machine."""
    gc.collect()
    gc.freeze()  # what was loaded before is no part of the search, nor is looking through it for garbage
    start = time.process_time()
    machines: list[Found] = []

    def note(progress: Progress) -> None:
        seconds = time.process_time() - start
        if progress.best is not None and (not machines or machines[-1][1:] != progress.best):
            machines.append(Found(seconds, *progress.best))
        if seconds > limit:
            raise LimitReached

    try:
        found = learn(
            traces, objective=objective, acyclic=acyclic, trigger_on="state", reward_on="state", on_progress=note
        )
    except LimitReached:
        return Course(machines, limit, False)
    seconds = time.process_time() - start
    assert found.status == "optimal" and found.states is not None and found.triggers is not None
    if not machines or machines[-1][1:] != (found.states, found.triggers):
        machines.append(Found(seconds, found.states, found.triggers))
    return Course(machines, seconds, True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="files or samples of words; all, if none")
    parser.add_argument("--sizes", type=int, nargs="*", default=[8, 10], metavar="N", help="states behind the words")
    parser.add_argument("--seeds", type=int, default=2, help="samples of each size (default 2)")
    parser.add_argument("--samples", type=Path, metavar="FOLDER", help="take words from resN-i.txt here")
    parser.add_argument("--limit", type=float, default=150.0, metavar="S", help="processor seconds for each search")
    parser.add_argument("--least", type=float, default=1.0, metavar="S", help="leave out what takes less (default 1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table here, with its origin")
    asked = parser.parse_args()
    words = {each.name: each for size in asked.sizes for each in samples(size, asked.seeds, asked.samples)}
    if unknown := set(asked.names) - {*NAMES, *words}:
        parser.error(f"there is no instance {sorted(unknown)[0]!r}; they are {', '.join([*NAMES, *words])}")
    report = Report("A good machine soon", WORDS.format(least=asked.least))
    report.heads("instance", "fewest", "cycles", "s", "1 %", "10 %", "50 %", "end", "good")
    learn(load("office-c"))  # compiles and loads
    good = shown = 0
    for name in asked.names or [*NAMES, *words]:
        traces = words[name].traces() if name in words else load(name)
        for objective, acyclic in WORD_SETTINGS if name in words else SETTINGS:
            course = follow(traces, objective, acyclic, asked.limit)
            if course.seconds < asked.least or not course.machines:
                continue
            sizes = [f"{each.states}, {each.triggers}" if each else "–" for each in map(course.at, (*SHARES, 1.0))]
            seconds = f"{course.seconds:.1f}" if course.proven else f">{course.seconds:.0f}"
            is_good = course.is_good(objective)
            good, shown = good + is_good, shown + 1
            yes = "yes" if is_good else "no"
            report.row(name, objective, "no" if acyclic else "yes", seconds, *sizes, yes)
    report.note(f"Good at a tenth of the time: {good} of {shown}.")
    report.save(asked.out)


if __name__ == "__main__":
    main()
