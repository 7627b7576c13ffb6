"""The table of solving times: the default engine, and the paper's ILP on HiGHS beside it in the same run.

    python benchmarks/solve.py                       all instances, three settings
    python benchmarks/solve.py --no-ilp --cyclic     only the default engine, with cycles
    python benchmarks/solve.py office-e office-d     some instances

Instances are the nine files of ``benchmarks/data``; nothing else is ever measured under their names. Seconds are
processor seconds, which on an idle machine are those of the clock, and on a busy one are not other programs'. The
default engine runs ``--repeat`` times, and the fastest counts. The ILP runs once, in a process of its own that is
stopped after ``--ilp-limit`` processor seconds: a time with ``>`` is a time-out, and its ratio a lower bound.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import time
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from episodes import NAMES, load
from markovize import Traces, learn
from report import Report

Objective: TypeAlias = Literal["triggers", "states"]
SETTINGS: tuple[tuple[Objective, bool], ...] = (("triggers", True), ("states", True), ("triggers", False))
PAPER = {
    "breakfast-b-full": "4.4",
    "breakfast-b-cumulative": "1,103",
    "breakfast-c-full": "154",
    "breakfast-c-cumulative": ">100,000",
    "office-b": "0.1",
    "office-c": "0.6",
    "office-d": "4,200",
    "office-e": "12,000",
}
"""Seconds of a whole run in the paper: Gurobi, 32 cores, other episodes."""
WORDS = """\
Processor seconds from episodes to a proven optimum. The instances are the nine files of `benchmarks/data`. *Default*
is the default engine, the fastest of {repeat} runs; *ILP* is the paper's integer program on HiGHS (presolve off) with
the same lazy exemplars, one run, stopped after {limit:g} processor seconds (`>`: the ratio is a lower bound).
*Paper* is the paper's whole active run, on Gurobi, with 32 cores and other episodes."""


class Solved(NamedTuple):
    """A proven optimum and the processor seconds that it took."""

    states: int
    triggers: int
    seconds: float


def solve(traces: Traces, objective: Objective, acyclic: bool, engine: str = "auto") -> Solved:
    start = time.process_time()
    result = learn(traces, objective=objective, acyclic=acyclic, engine=engine)
    seconds = time.process_time() - start
    assert result.status == "optimal" and result.states is not None and result.triggers is not None
    return Solved(result.states, result.triggers, seconds)


def solve_fastest(traces: Traces, objective: Objective, acyclic: bool, repeat: int) -> Solved:
    """The fastest of some runs of the default engine; what takes half a minute is not repeated."""
    best = solve(traces, objective, acyclic)
    for _ in range(repeat - 1):
        if best.seconds < 30:
            best = min(best, solve(traces, objective, acyclic), key=lambda solved: solved.seconds)
    return best


def solve_by_ilp(traces: Traces, objective: Objective, acyclic: bool, limit: float) -> Solved | None:
    """The same by the ILP in a process of its own; None if that reached the limit of processor seconds."""
    fork = multiprocessing.get_context("fork")  # the child has all that is loaded and compiled
    receiver, sender = fork.Pipe(duplex=False)

    def child() -> None:
        most = int(time.process_time() + limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        sender.send(solve(traces, objective, acyclic, "ilp"))

    process = fork.Process(target=child)
    process.start()
    sender.close()
    try:
        solved: Solved = receiver.recv()
    except EOFError:
        solved = Solved(0, 0, limit + 1)
    process.join()
    if solved.seconds > limit:
        assert process.exitcode in (0, -signal.SIGXCPU), f"the ILP's process ended with {process.exitcode}"
        return None
    return solved


def beside_ilp(traces: Traces, objective: Objective, acyclic: bool, fast: Solved, limit: float) -> tuple[str, str]:
    """The ILP's seconds, and how many times the default engine's they are."""
    slow = solve_by_ilp(traces, objective, acyclic, limit)
    if slow is None:
        ratio = limit / fast.seconds
        return f">{limit:.0f}", f">{ratio:,.0f}" if ratio > 1 else "–"
    assert slow[:2] == fast[:2], "the engines disagree"
    return f"{slow.seconds:.2f}", f"{slow.seconds / fast.seconds:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"instances, of {', '.join(NAMES)}")
    parser.add_argument("--no-ilp", action="store_true", help="only the default engine")
    parser.add_argument(
        "--ilp-limit", type=float, default=120.0, metavar="S", help="processor seconds for each instance (default 120)"
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of the default engine, of which the fastest counts")
    parser.add_argument("--acyclic", action="store_true", help="only acyclic machines")
    parser.add_argument("--cyclic", action="store_true", help="only with cycles")
    parser.add_argument("--objective", choices=["triggers", "states"], help="only this objective")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the tables here, with their origin")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(NAMES):
        parser.error(f"there is no instance {sorted(unknown)[0]!r}; they are {', '.join(NAMES)}")
    report = Report("Solving times", WORDS.format(repeat=asked.repeat, limit=asked.ilp_limit))
    learn(load("office-c"))  # compiles and loads
    for objective, acyclic in SETTINGS:
        if asked.objective not in (None, objective) or ((asked.acyclic or asked.cyclic) and acyclic != asked.acyclic):
            continue
        over = f"Fewest {objective}, " + ("without cycles" if acyclic else "cycles allowed")
        report.heads("instance", "episodes", "states, triggers", "default, s", "ILP, s", "ratio", "paper, s", over=over)
        for name in asked.names or NAMES:
            traces = load(name)
            fast = solve_fastest(traces, objective, acyclic, asked.repeat)
            ilp = ("", "") if asked.no_ilp else beside_ilp(traces, objective, acyclic, fast, asked.ilp_limit)
            size = f"{fast.states}, {fast.triggers}"
            report.row(name, len(traces), size, f"{fast.seconds:.2f}", *ilp, PAPER.get(name, "–") if acyclic else "")
    report.save(asked.out)


if __name__ == "__main__":
    main()
