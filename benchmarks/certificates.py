"""Certificates of the nine files: how long solving, making and checking take, and how large they are.

    python benchmarks/certificates.py                        all instances, three settings
    python benchmarks/certificates.py office-e --acyclic     some of it

Seconds are the processor's. With cycles, an instance that takes more than ``--limit`` seconds to solve, or three times
that by the clock, is left out. The goal for checking is at most 30 times solving and 5 seconds more, and at most 10
minutes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from episodes import NAMES, load
from markovize import Certificate, Traces, learn, verify
from report import Report
from solve import SETTINGS, Objective

WORDS = """\
Processor seconds. *Solving* is `learn`, from episodes to a proven optimum; *making* writes formulas and proofs;
*checking* is `verify`, with the checker that ships. *Goal* is 30 times solving and 5 seconds more, at most 10 minutes.
*Excluded* are the sizes that need a proof, K with at most z triggers; a clique of n excludes all with less than n."""
MOST_SECONDS = 600.0
T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What comes of it, and the processor seconds that it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def claims_of(certificate: Certificate) -> str:
    """The claims in a few words: the clique's size, and the infeasible sizes as K (z)."""
    said = []
    for claim in certificate.fields["claims"]:
        if claim["claim"] == "clique":
            said.append(f"clique of {len(claim['histories'])}")
        elif claim["claim"] == "infeasible":
            many = "any" if claim["triggers"] is None else claim["triggers"]
            said.append(f"{claim['states']} ({many})")
    return ", ".join(said) or "counting alone"


def row(
    report: Report, name: str, traces: Traces, objective: Objective, acyclic: bool, limit: float | None
) -> bool | None:
    """Solves, certifies and checks one instance; whether checking kept to its goal, if it came to that."""
    clock = None if limit is None else 3 * limit  # on a busy machine it is ahead of the processor
    result, solving = timed(lambda: learn(traces, objective=objective, acyclic=acyclic, time_limit=clock))
    if limit is not None and (result.status != "optimal" or solving > limit):
        stopped = f"stopped after {clock:g} s of the clock"
        report.row(name, stopped if result.status != "optimal" else f"{solving:.0f} s to solve", *[""] * 7)
        return None
    assert result.status == "optimal"
    certificate, making = timed(result.certificate)
    with tempfile.TemporaryDirectory() as folder:
        certificate.save(folder)
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        found, checking = timed(lambda: verify(folder, traces, time_limit=MOST_SECONDS))
    assert found.verified, f"{name}: {found.reason}"
    goal = min(MOST_SECONDS, 30 * solving + 5)
    seconds = [f"{each:.2f}" for each in (solving, making, checking)]
    exemplars = len(certificate.fields["exemplars"])
    many = f"{found.states}, {found.triggers}"
    report.row(name, many, *seconds, f"{goal:.0f}", f"{size:.1f}", exemplars, claims_of(certificate))
    return checking <= goal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"instances, of {', '.join(NAMES)}")
    parser.add_argument("--acyclic", action="store_true", help="only acyclic machines")
    parser.add_argument("--cyclic", action="store_true", help="only with cycles")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="to solve with cycles (default 60)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the tables here, with their origin")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(NAMES):
        parser.error(f"there is no instance {sorted(unknown)[0]!r}; they are {', '.join(NAMES)}")
    report, kept = Report("Certificates", WORDS), list[bool]()
    with tempfile.TemporaryDirectory() as folder:  # compiles and loads
        learn(load("office-b"), acyclic=True).certificate().save(folder)
        verify(folder, load("office-b"))
    for objective, acyclic in SETTINGS:
        if (asked.acyclic or asked.cyclic) and acyclic != asked.acyclic:
            continue
        over = f"Fewest {objective}, " + ("without cycles" if acyclic else "cycles allowed")
        heads = ("instance", "states, triggers", "solving, s", "making, s", "checking, s", "goal, s")
        report.heads(*heads, "MB", "exemplars", "excluded: K (z)", over=over)
        for name in asked.names or NAMES:
            found = row(report, name, load(name), objective, acyclic, None if acyclic else asked.limit)
            kept += [] if found is None else [found]
    report.note(f"Checking kept to its goal in {sum(kept)} of {len(kept)} rows.")
    report.save(asked.out)


if __name__ == "__main__":
    main()
