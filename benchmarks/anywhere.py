"""Is the reward Markov? Audits of public environments, as they are and with a history planted by a wrapper.

    python benchmarks/anywhere.py [--only NAME ...] [--json] [--out PAGE]

The truth beside each verdict was read in the environment's source (``public_envs.py``). *agrees* is ``open`` where the
audit says that it cannot tell. A name selects all environments whose names contain it. Needs the extra ``envs``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path

from markovize import check_reward
from markovize.auditing.audit import STEPS
from public_envs import CASES, CLOCKS, NATIVE, PLANTED, WRAPPED, Case
from report import Report

HEADS = ("environment", "by its source", "verdict", "by", "given", "machine", "seconds", "agrees")


@dataclass(frozen=True)
class Row:
    """One audit."""

    name: str
    planted: bool
    truth: tuple[str, ...]
    why: str
    verdict: str
    signature: tuple[str, ...]
    given: str
    states: int | None
    triggers: int | None
    true_states: int | None
    steps: int
    comparable: int
    reason: str
    seconds: float
    agrees: str

    def cells(self) -> tuple[object, ...]:
        machine = "–" if self.states is None else f"{self.states} states, {self.triggers} triggers"
        by = ", ".join(self.signature) or ("nothing" if self.verdict == "markov" else "–")
        truth = f"{' or '.join(self.truth)}: {self.why}"
        return self.name, truth, self.verdict, by, self.given, machine, f"{self.seconds:.1f}", self.agrees


def run(case: Case, seed: int, steps: int) -> Row:
    """The audit of one environment."""
    start = time.monotonic()
    with warnings.catch_warnings(), redirect_stdout(sys.stderr):  # other people's libraries talk
        warnings.simplefilter("ignore")
        report = check_reward(case.make, seed=seed, steps=steps)
    machine = report.machine
    return Row(
        case.name,
        case.planted,
        case.truth.verdicts,
        case.truth.why,
        report.verdict,
        report.signature,
        report.given,
        None if machine is None else machine.states,
        None if machine is None else len(machine.triggers),
        case.states,
        report.steps,
        report.comparable,
        report.reason,
        round(time.monotonic() - start, 1),
        case.truth.agrees(report.verdict),
    )


def choose(cases: Sequence[Case], only: Sequence[str] | None) -> list[Case]:
    """The cases whose names contain one of these."""
    return [case for case in cases if not only or any(part in case.name for part in only)]


def summary(rows: Sequence[Row]) -> str:
    """The figures that count."""
    markov = [row for row in rows if row.truth == ("markov",)]
    alarms = [row for row in markov if row.agrees == "no"]
    planted = [row for row in rows if row.planted]
    found = [row for row in planted if row.agrees == "yes"]
    named = [row for row in found if row.states is not None]
    return (
        f"{sum(row.agrees == 'yes' for row in rows)} of {len(rows)} verdicts agree, "
        f"{sum(row.agrees == 'open' for row in rows)} are open, {sum(row.agrees == 'no' for row in rows)} are wrong. "
        f"False alarms: {len(alarms)} of {len(markov)} environments whose reward is Markov by its source. "
        f"Planted histories found: {len(found)} of {len(planted)}, {len(named)} of them with a machine. "
        f"Slowest: {max((row.seconds for row in rows), default=0.0):.0f} s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="environments whose names contain one of these")
    parser.add_argument("--seed", type=int, default=0, help="of the walks")
    parser.add_argument("--steps", type=int, default=STEPS, help="for walking, at most")
    parser.add_argument("--json", action="store_true", help="print one list of rows instead of tables")
    parser.add_argument("--out", type=Path, metavar="PAGE", help="also write the tables to this file")
    asked = parser.parse_args()
    if not choose(CASES, asked.only):
        sys.exit(f"no environment's name contains {' or '.join(asked.only)}")
    if asked.json:
        rows = [run(case, asked.seed, asked.steps) for case in choose(CASES, asked.only)]
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    report, rows = Report("Rewards of public environments"), []
    groups = {"As they are": NATIVE, "In wrappers": WRAPPED, "With a clock": CLOCKS, "With a history planted": PLANTED}
    for title, group in groups.items():
        cases = choose(group, asked.only)
        if cases:
            report.heads(*HEADS, over=title)
        for case in cases:
            rows.append(run(case, asked.seed, asked.steps))
            report.row(*rows[-1].cells())
    report.note(summary(rows))
    report.save(asked.out)


if __name__ == "__main__":
    main()
