"""The least number of states, on samples of those who learn automata; dfa-identify and published figures beside it.

    python benchmarks/peers.py                                    samples drawn here, with seeds
    python benchmarks/peers.py --samples FOLDER                   files of DFAMiner's public benchmark, resN-i.txt
    python benchmarks/peers.py --samples '$DFAMINER_SAMPLES'      the same; variables of the environment are read
    python benchmarks/peers.py --dfa-identify PYTHON              the same by dfa-identify, with that interpreter

Others look for the least number of states, and so the clock stops where it is proven; fewest triggers, which come next,
nobody else asks for. dfa-identify needs older versions of libraries that are used here, so it is run by the Python of
an environment of its own: ``python -m venv FOLDER``, ``FOLDER/bin/pip install dfa-identify``, then
``--dfa-identify FOLDER/bin/python``, or that path as ``DFA_IDENTIFY_PYTHON``. Where it solves no sample of a size, it
is not asked for larger ones.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import time
from pathlib import Path
from typing import Final, NamedTuple

from markovize import learn
from markovize.learning.search import Progress
from report import Report
from words import Sample, samples

WORDS = """\
Processor seconds until the least number of states K is proven. A sample N-i has 50·N words over {{0, 1}}, labelled by a
random automaton with N states. {origin} `>`: stopped after so many seconds."""
DRAWN = "Samples are drawn by `benchmarks/words.py`, i is the seed."
GIVEN = """\
Samples are those of DFAMiner's public benchmark. *DFAMiner* is published elsewhere: DFAMiner, measured in one run on
a loaded two-core machine, by the clock; so the ratio to it compares processor seconds with those of a clock."""
DFAMINER: Final = {"8-1": 2.4, "8-2": 1.7, "8-3": 1.9, "10-1": 7.8, "10-2": 4.7, "10-3": 15.7}
MEANS: Final = "Published means over 100 samples of this kind, by DFAMiner on its authors' machine: N = 10 16.8 s, \
N = 12 144 s; at N = 13 99 of 100 were solved in 1,200 s."
BY_DFA_IDENTIFY: Final = """
import json, resource, sys, time
limit, accepting, rejecting = json.load(sys.stdin)
sys.setrecursionlimit(100_000)  # its search for a clique is recursive
resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 5, int(limit) + 10))
from dfa_identify import find_dfa
start = time.process_time()
found = find_dfa(accepting=accepting, rejecting=rejecting)
json.dump([len(found.states()), time.process_time() - start], sys.stdout)
"""


class Least(NamedTuple):
    """The least number of states and the processor seconds until it was proven; None where that took too long."""

    states: int | None
    seconds: float

    def shown(self) -> str:
        return f"{self.seconds:.2f}" if self.states is not None else f">{self.seconds:.0f}"


class ProvenEarly(Exception):  # noqa: N818 - a signal, not an error
    """The least number of states is known."""


def least_states(sample: Sample, limit: float) -> Least:
    """By ours: until a machine has as many states as are proven to be needed."""
    traces, start = sample.traces(), time.process_time()
    least: list[int] = []

    def look(progress: Progress) -> None:
        if progress.best is not None and progress.best[0] == progress.lower[0]:
            least.append(progress.best[0])
            raise ProvenEarly
        if time.process_time() - start > limit:
            raise ProvenEarly

    try:
        found = learn(traces, objective="states", trigger_on="state", reward_on="state", on_progress=look)
        assert found.status == "optimal" and found.states is not None
        least.append(found.states)
    except ProvenEarly:
        pass
    return Least(least[0], time.process_time() - start) if least else Least(None, limit)


def by_dfa_identify(sample: Sample, python: Path, limit: float) -> Least:
    """The same by dfa-identify; its clock starts after its libraries are loaded."""
    accepting, rejecting = ([list(w) for w, label in sample.words.items() if label == kind] for kind in (1, 0))
    asked = json.dumps([limit, accepting, rejecting])
    command = [str(python), "-c", BY_DFA_IDENTIFY]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    if done.returncode < 0:  # by the limit
        return Least(None, limit)
    if done.returncode:
        raise SystemExit(f"dfa-identify failed; is it installed there? {done.stderr.strip().splitlines()[-1]}")
    states, seconds = json.loads(done.stdout)
    return Least(states, seconds) if seconds <= limit else Least(None, limit)


def folder(given: str) -> Path:
    """A folder, by its name or by that of a variable: a command that is kept should name no path of one machine."""
    found = Path(os.path.expandvars(given))
    if not found.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {found}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sizes", nargs="*", type=int, default=[5, 6, 8, 10, 13], metavar="N", help="states of the automata"
    )
    parser.add_argument("--samples", type=folder, metavar="FOLDER", help="take resN-i.txt from here")
    parser.add_argument("--seeds", type=int, default=5, help="samples of each size (default 5)")
    parser.add_argument("--limit", type=float, default=300.0, metavar="S", help="processor seconds for each of ours")
    there = os.environ.get("DFA_IDENTIFY_PYTHON")
    parser.add_argument(
        "--dfa-identify",
        type=Path,
        metavar="PYTHON",
        default=Path(there) if there else None,
        help="an interpreter that has dfa-identify (default: DFA_IDENTIFY_PYTHON)",
    )
    parser.add_argument("--identify-limit", type=float, default=60.0, metavar="S", help="the same for dfa-identify")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table here, with its origin")
    asked = parser.parse_args()
    given = asked.samples is not None
    report = Report("Least number of states", WORDS.format(origin=GIVEN if given else DRAWN))
    least_states(samples(5, 1, None)[0], asked.limit)  # compiles and loads
    report.heads("sample", "words", "K", "ours, s", "dfa-identify, s", *(["DFAMiner, s", "ratio"] if given else []))
    ratios, solved, python = [], dict.fromkeys(asked.sizes, 0), asked.dfa_identify
    for states in asked.sizes:
        answers = []
        for sample in samples(states, asked.seeds, asked.samples):
            ours = least_states(sample, asked.limit)
            solved[states] += ours.states is not None
            theirs = None
            if python is not None:
                theirs = by_dfa_identify(sample, python, asked.identify_limit)
                answers.append(theirs.states)
                assert ours.states is None or theirs.states in (None, ours.states), "they disagree"
            published = DFAMINER.get(sample.name) if given else None
            cells = []
            if published is not None and ours.states is not None:
                ratios.append(ours.seconds / published)
                cells = [f"{published}", f"{ratios[-1]:.2f}"]
            elif given:
                cells = ["–", "–"]
            k = ours.states or "?"
            report.row(sample.name, len(sample.words), k, ours.shown(), theirs.shown() if theirs else "–", *cells)
        if not any(answers):
            python = None
    proven = "; ".join(f"N = {states}: {number}" for states, number in solved.items())
    report.note(f"Proven within {asked.limit:g} s: {proven} samples.")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        report.note(f"Geometric mean of the ratios to DFAMiner's figures: {mean:.3f}.")
    report.note(MEANS)
    if asked.dfa_identify is None:
        report.note("dfa-identify was not run: `--dfa-identify PYTHON` does.")
    report.save(asked.out)


if __name__ == "__main__":
    main()
