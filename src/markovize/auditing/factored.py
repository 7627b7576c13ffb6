"""Logs whose observations have parts, or never repeat: what guards over these parts can say, which labels cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from markovize.auditing import advice
from markovize.auditing.machines import LARGEST_MACHINE
from markovize.auditing.report import RewardReport
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.traces import Traces
from markovize.episodes.values import has_objects
from markovize.errors import InputError
from markovize.learning.entry import learn
from markovize.learning.guards.choice import why_guards

SECONDS: Final = 4.0


def turn_to_guards(report: RewardReport, traces: Traces) -> RewardReport:
    """The report, with the machine over the observations' parts where they are objects, or how to look for one.

    A machine that fits is no proof that the reward depends on history, so the verdict stays as it is.
    """
    if report.verdict == "not-testable" and why_guards(traces):
        return replace(report, advice=f"{report.advice} {advice.GUARDS_INSTEAD}")
    if report.verdict != "history" or not has_objects(traces.observation_values[0]):
        return report
    try:
        machine = learn(traces, trigger_on=GUARDS, time_limit=SECONDS).machine
    except InputError:  # not all observations have the same parts
        machine = None
    if machine is None or not 1 < machine.states <= LARGEST_MACHINE:
        return replace(report, advice=advice.HISTORY_OBJECTS)
    return replace(report, machine=machine, advice=advice.HISTORY_MACHINE)
