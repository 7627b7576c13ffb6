"""The audit by restored states, for observations that do not come back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from markovize.auditing import advice
from markovize.auditing.bases import Base, find_base, find_base_after
from markovize.auditing.causes import Explained, Inquiry
from markovize.auditing.hidden import describe_hidden
from markovize.auditing.logbook import TRANSITION, Logbook
from markovize.auditing.observed import Budget
from markovize.auditing.places import Place, Stage, balanced, gather
from markovize.auditing.predecessors import find_lag
from markovize.auditing.report import RewardReport, Trajectory, Witness
from markovize.auditing.restorers import Restorer, find_restorer
from markovize.auditing.scripts import play
from markovize.auditing.sources import EnvSource
from markovize.auditing.tours import Scan, scan
from markovize.auditing.trails import follow_trails
from markovize.auditing.walks import action_palette

LEAST_COMPARABLE: Final = 20
LEAST_SECONDS: Final = 4.0
BLOCK: Final = 5  # commands in the block of a place
NOISE_PLACES: Final = 30
LAG_PLACES: Final = 40
LOOKS_BACK: Final = (
    "The reward looks back to the step before; whether at more than the state to which that led could not be tested."
)
GATHERING, SCANNING, FOLLOWING, LOOKING_BACK = 0.2, 0.45, 0.55, 0.75  # shares of the time until which these may take


@dataclass(frozen=True)
class _Case:
    """All that was collected; ``direct`` tours restored the very state, ``early`` ones the one before it."""

    source: EnvSource
    stage: Stage
    restorer: Restorer
    places: Sequence[Place]
    early: Scan
    direct: Scan

    @property
    def comparable(self) -> int:
        return self.early.comparable


def audit_by_restoring(
    source: EnvSource, logbook: Logbook, seed: int, budget: Budget, say: Callable[[str], None]
) -> RewardReport:
    """What the reward depends on, given the state; or the reason why states cannot be restored."""
    with source.fresh() as env:
        palette = action_palette(env.action_space, seed)
        say("looking for the state")
        restorer = find_restorer(env, palette, seed)
        if isinstance(restorer, str):
            return _not_testable(restorer, 0, 0)
        stage = Stage(env, palette, logbook.scale, seed)
        start, seconds = time.monotonic(), max(budget.left(), LEAST_SECONDS)
        say("restoring states")
        places = gather(stage, restorer, logbook, budget.steps // 4, start + GATHERING * seconds)
        if not any(not place.seen.ended for place in places):
            return _not_testable("no state could be restored after which an episode went on", stage.steps, 0)
        early = scan(stage, places, start + SCANNING * seconds)
        if not early.mismatches:
            early.add(follow_trails(stage, restorer, logbook, start + FOLLOWING * seconds))
        direct = scan(stage, places, start + LOOKING_BACK * seconds, direct=True)
        case = _Case(source, stage, restorer, places, early, direct)
        if early.comparable < max(LEAST_COMPARABLE, 0.1 * early.tried):
            reason = f"{early.comparable} of {early.tried} restored states gave the observations that they gave before"
            return _not_testable(reason, stage.steps, early.comparable)
        say("looking for the cause")
        return _judge(case, start + seconds)


def _judge(case: _Case, until: float) -> RewardReport:
    stage, places = case.stage, case.places
    inquiry = Inquiry(case.source, stage, places, until)
    some = balanced(places, [place.seen.reward for place in places], stage, NOISE_PLACES)
    found = inquiry.find_noise(some) or inquiry.explain(case.early.mismatches) or inquiry.find_drawn(some)
    if found is not None and found.cause in ("noise", "previous-episodes"):
        return _report(case, found, TRANSITION)
    caches = bool(case.direct.mismatches) and found is None
    ranked = balanced(places, [place.seen.reward for place in places], stage, len(places))
    open_question = ""
    if caches:
        ways, found = _find_lag(case, ranked, until)
        if found is not None:
            return _report(case, found, TRANSITION)
        open_question = "" if ways else LOOKS_BACK
    base = find_base(stage, case.restorer, ranked, until, caches=caches)
    if found is None:
        report = _markov(case, base)
        return replace(report, notes=(*report.notes, open_question)) if open_question else report
    if not base.parts and found.cause == "history":  # little is paid soon after a reset: look after a richer history
        script = found.witness.second.script
        assert script is not None
        base = find_base_after(stage, case.restorer, ranked, until, script[:-BLOCK])
    if found.cause == "history" and not base.parts:
        base = Base(TRANSITION)
    return _report(case, found, base.parts)


def _find_lag(case: _Case, places: Sequence[Place], until: float) -> tuple[int, Explained | None]:
    """How many other ways into states were tried, and whether the step before matters."""
    ways, lag = find_lag(case.stage, case.restorer, places[:LAG_PLACES], until)
    if lag is None:
        return ways, None
    sides = []
    for script, where in zip(lag, ("entered from one state", "entered from another"), strict=True):
        with case.source.fresh() as env:
            sides.append(Trajectory(tuple(play(env, script)), script, where))
    alike = "same state (up to rounding) and action in the last step"
    return ways, Explained("history", Witness(sides[0], sides[1], alike, "another step before"))


def _markov(case: _Case, base: Base) -> RewardReport:
    if case.stage.scale.largest == 0:
        reason = f"none of {case.stage.steps:,} steps from restored states paid anything but 0"
        return replace(_not_testable(reason, case.stage.steps, case.comparable), advice=advice.UNPAID)
    if not base.parts and not case.stage.scale.constant:  # what was paid elsewhere is no constant
        low, high = case.stage.scale.range
        reason = (
            f"rewards from {low:g} to {high:g} were paid, but always {case.places[0].direct.reward:g} where states "
            f"were restored: what else is paid may depend on more than {case.restorer.words}, or is too rare"
        )
        return _not_testable(reason, case.stage.steps, case.comparable)
    text = advice.MARKOV[base.parts]
    if base.parts == ("state", "action") and not base.late:
        text = advice.STATE_ACTION
    report = RewardReport("markov", base.parts, "state", case.stage.steps, case.comparable, text)
    return replace(report, notes=_notes(case))


def _report(case: _Case, found: Explained, base: tuple[str, ...]) -> RewardReport:
    signature = TRANSITION if found.cause == "noise" else (*base, found.cause)
    texts = {"time": advice.TIME, "history": advice.HISTORY_CONTINUOUS, "previous-episodes": advice.PREVIOUS}
    text = texts.get(found.cause) or (advice.NOISE if found.seeded else advice.UNSEEDED)
    report = RewardReport(found.cause, signature, "state", case.stage.steps, case.comparable, text)
    return replace(report, witness=found.witness, notes=_notes(case))


def _notes(case: _Case) -> tuple[str, ...]:
    notes = [f"States were restored by setting {case.restorer.words}."]
    hidden = describe_hidden(case.stage, case.places)
    return (*notes, hidden) if hidden else tuple(notes)


def _not_testable(reason: str, steps: int, comparable: int) -> RewardReport:
    return RewardReport("not-testable", (), "state", steps, comparable, advice.NO_STATE, reason=reason)


def cannot_restore(observed: RewardReport, restored: RewardReport) -> RewardReport:
    """The report where neither observations come back nor states can be restored: both reasons."""
    reason = f"{observed.reason}, and {restored.reason}"
    return replace(observed, reason=reason, steps=restored.steps, advice=restored.advice)
