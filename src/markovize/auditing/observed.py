"""The audit by repetition: the same (s, a, s'), seen after other histories, must pay the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from markovize.auditing import advice
from markovize.auditing.logbook import NAMES, TRANSITION, Columns, Logbook, Longs
from markovize.auditing.machines import find_machine, history_beside_noise
from markovize.auditing.replays import Finding, Replays, trajectory_of
from markovize.auditing.report import RewardReport, Verdict, Witness
from markovize.auditing.rewards import RewardScale
from markovize.conflicts.apart import Apart, tell_apart
from markovize.conflicts.clock import Clock, fit_clock
from markovize.conflicts.timetable import unusual

LEAST_COMPARABLE: Final = 20  # steps, and
LEAST_SHARE: Final = 0.1  # of all steps, must be comparable before a reward is called Markov
DENSE_SHARE: Final = 0.9  # of all steps; with fewer, continuous observations came back at special places only
LEAST_AT_ONE_TIME: Final = 12  # episodes whose unusual rewards were compared at equal step numbers: time is blamed


@dataclass(frozen=True)
class Budget:
    """When to stop: at so many steps, and at this instant of :func:`time.monotonic`."""

    steps: int
    deadline: float

    def left(self) -> float:
        return self.deadline - time.monotonic()


@dataclass(frozen=True)
class Evidence:
    """What the steps in a logbook say."""

    columns: Columns
    comparable: int
    base: tuple[str, ...] | None  # what determines the reward, the history aside
    timed: tuple[str, ...] | None  # what determines it together with the step number
    at_one_time: int  # episodes that paid something unusual for its (s, a, s'), compared at equal step numbers
    clock: Clock | None  # the line over time on which all rewards in question lie, if they do
    equal_histories: bool  # whether equal histories paid differently

    @classmethod
    def of(cls, logbook: Logbook) -> Evidence:
        columns = logbook.columns()
        keys, timed_keys = columns.transition, columns.keys((*TRANSITION, "time"))
        conflict = columns.conflicting(keys)
        lawful = follows_time(columns, keys, logbook.scale)
        # episodes, not steps: two histories that have their end in common agree in many steps for one reason
        compared = conflict & ((columns.repeated(timed_keys) & unusual(keys, columns.codes)) | lawful)
        return cls(
            columns,
            int(columns.repeated(keys).sum()),
            columns.smallest_base(),
            columns.smallest_base("time"),
            len(np.unique(columns.rows[compared, NAMES["episode"]])),
            clock_of(columns, conflict),
            bool(columns.conflicting(columns.keys(("history",))).any()),
        )

    @property
    def steps(self) -> int:
        return len(self.columns.rows)

    def apart(self) -> Apart | None:
        """What of the steps that paid differently is noise, and what may be history; None where none did."""
        keys = self.columns.transition
        disputed = self.columns.conflicting(keys)
        histories = self.columns.rows[:, NAMES["history"]]
        return tell_apart(keys[disputed], histories[disputed], self.columns.codes[disputed]) if disputed.any() else None

    @property
    def testable(self) -> bool:
        """A contradiction is one, however few steps came back; that there is none says nothing then."""
        if self.equal_histories:
            return True
        enough = self.base is None or self.comparable >= LEAST_SHARE * self.steps
        return enough and self.comparable >= LEAST_COMPARABLE

    @property
    def unpaid(self) -> bool:
        """Whether no reward was ever seen: then nothing is known of it. A constant reward of 1 is known."""
        return not self.columns.rewards.any()

    @property
    def sparse(self) -> bool:
        return self.comparable < DENSE_SHARE * self.steps

    @property
    def settled(self) -> bool:
        """Whether more steps would hardly change the verdict, now that it is not Markov."""
        if self.base is not None:
            return False
        return self.timed is None or self.clock is not None  # without a law, more steps may refute the step number

    @property
    def of_time(self) -> bool:
        """Whether the step number, and not what happened until then, makes the difference."""
        return self.timed is not None and (self.clock is not None or self.at_one_time >= LEAST_AT_ONE_TIME)

    def pairs(self, *parts: str, most: int = 6) -> list[tuple[int, int]]:
        """Steps that contradict each other although all these parts are equal."""
        return self.columns.pairs(self.columns.keys(parts), most)

    def place(self, step: int) -> tuple[int, int]:
        """(episode, step in it)."""
        row = self.columns.rows[step]
        return int(row[NAMES["episode"]]), int(row[NAMES["time"]])

    def conflicts(self) -> list[tuple[int, int]]:
        """The most telling contradictions first: equal histories, equal step numbers, any."""
        for parts in (("history",), (*TRANSITION, "time"), TRANSITION):
            found = self.pairs(*parts)
            if found:
                return found
        return []


def follows_time(columns: Columns, keys: Longs, scale: RewardScale) -> npt.NDArray[np.bool_]:
    """Of each step, whether all steps with its key lie on one line of reward over step number, at three or more points.

    Three rewards that lie on a line by chance would be a rare accident of histories.
    """
    out = np.zeros(len(keys), np.bool_)
    suspects = np.flatnonzero(columns.conflicting(keys))
    order = suspects[np.argsort(keys[suspects], kind="stable")]
    for group in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1):
        times, paid = columns.rows[group, NAMES["time"]].astype(float), columns.rewards[group]
        if len(np.unique(times)) < 3:
            continue
        first, last = times.argmin(), times.argmax()
        slope = (paid[last] - paid[first]) / (times[last] - times[first])
        out[group] = (np.abs(paid[first] + slope * (times - times[first]) - paid) <= 10 * scale.tolerance).all()
    return out


def clock_of(columns: Columns, disputed: npt.NDArray[np.bool_]) -> Clock | None:
    """The line of reward over step number on which all rewards in question lie.

    Two of them make a line; rewards of other steps that lie on it as well confirm it, the commonest reward aside. What
    pays by the time on some occasions and nothing on others is on no line: more than the time decides there.
    """
    times, rewards = columns.rows[:, NAMES["time"]] + 1, columns.rewards
    unusual_ones = columns.codes != np.bincount(columns.codes, minlength=1).argmax()
    paid = np.flatnonzero(disputed)
    if len(np.unique(times[paid])) < 2:
        return None
    first, last = paid[times[paid].argmin()], paid[times[paid].argmax()]
    slope = (rewards[last] - rewards[first]) / (times[last] - times[first])
    distance = np.abs(rewards[first] + slope * (times - times[first]) - rewards)
    on_line = np.flatnonzero(unusual_ones & (distance <= 1e-9 * np.abs(rewards).max()))
    chosen = np.union1d(paid, on_line)
    return fit_clock(times[chosen], rewards[chosen], len(chosen))


def witness_of(logbook: Logbook, evidence: Evidence, pair: tuple[int, int]) -> Witness:
    """Two logged steps as a witness."""
    (i, m), (j, n) = (evidence.place(step) for step in pair)
    same_history = evidence.columns.rows[list(pair), NAMES["history"]]
    if same_history[0] == same_history[1]:
        alike, differs = "same history", "nothing that was observed"
    else:
        alike = "same (s, a, s')" + (" and step number" if m == n else "")
        differs = "another history" if m == n else f"step {m} and step {n}"
    first, second = (trajectory_of(logbook.episodes[k], step, k) for k, step in ((i, m), (j, n)))
    return Witness(first, second, alike, differs)


def suspects(evidence: Evidence, logbook: Logbook) -> list[int]:
    """Episodes to be played again: those that contradict each other, some that paid something rare, and the last."""
    chosen: list[int] = []
    for pair in evidence.conflicts():
        chosen += [evidence.place(step)[0] for step in pair]
    codes, counts = np.unique(evidence.columns.codes, return_counts=True)
    for code in codes[np.argsort(counts, kind="stable")][:4]:
        chosen += [evidence.place(step)[0] for step in np.flatnonzero(evidence.columns.codes == code)[[0, -1]].tolist()]
    chosen += range(len(logbook.episodes) - 1, max(-1, len(logbook.episodes) - 4), -1)
    return list(dict.fromkeys(chosen))[:16]


def judge(
    logbook: Logbook, evidence: Evidence, replays: Replays | None, budget: Budget, tell: Callable[[str], None]
) -> RewardReport:
    """The verdict on what was seen, and, with ``replays``, on what comes of playing it again."""
    finding: Finding | None = None
    if replays is not None:
        tell("playing episodes again")
        finding = replays.find_leak(suspects(evidence, logbook))
        if finding is None and evidence.base is None:
            places = [evidence.place(step) for pair in evidence.conflicts() for step in pair]
            finding = replays.find_noise(list(dict.fromkeys(places))[:8])
    if finding is not None:
        return report_finding(finding, evidence)
    if not evidence.testable:
        reason = (
            f"only {evidence.comparable:,} of {evidence.steps:,} steps have an (s, a, s') that came about in two ways"
        )
        text = advice.MORE_EPISODES if replays is None else advice.COARSER
        return _report(evidence, "not-testable", (), text, reason=reason)
    if evidence.unpaid:
        reason = f"none of {evidence.steps:,} steps paid anything but 0"
        return _report(evidence, "not-testable", (), advice.UNPAID, reason=reason)
    if evidence.base is not None:
        return _report(evidence, "markov", evidence.base, advice.MARKOV[evidence.base])
    pair = evidence.conflicts()[0]
    witness = witness_of(logbook, evidence, pair)
    if evidence.equal_histories:
        text = advice.NOISE if replays is not None else advice.NOISE_IN_FILE
        told = history_beside_noise(logbook, max(4.0, min(8.0, budget.left()))) if replays is None else ""
        return _report(evidence, "noise", TRANSITION, text, witness=witness, notes=(told,) if told else ())
    if evidence.of_time and evidence.timed is not None:
        return _report(evidence, "time", (*evidence.timed, "time"), advice.TIME, witness=witness)
    tell("learning the machine")
    machine = find_machine(logbook, max(4.0, min(8.0, budget.left())))
    base = TRANSITION if machine is None or machine.reward_on != "state" else ("next_state",)
    text = advice.HISTORY if machine is None else advice.HISTORY_MACHINE
    if machine is not None and machine.trigger_on == "function":
        text = advice.HISTORY_ACTIONS
    return _report(evidence, "history", (*base, "history"), text, witness=witness, machine=machine)


def report_finding(finding: Finding, evidence: Evidence) -> RewardReport:
    """The report on what playing episodes again showed."""
    if finding.verdict == "noise":
        text = advice.NOISE if finding.seeded else advice.UNSEEDED
        return _report(evidence, "noise", TRANSITION, text, witness=finding.witness)
    signature = (*TRANSITION, "previous-episodes")
    return _report(evidence, "previous-episodes", signature, advice.PREVIOUS, witness=finding.witness)


def _report(evidence: Evidence, verdict: Verdict, signature: tuple[str, ...], text: str, **more: Any) -> RewardReport:
    counted = evidence.steps, evidence.comparable
    return RewardReport(verdict, signature, "observation", *counted, text, apart=evidence.apart(), **more)
