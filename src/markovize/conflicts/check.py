"""The Markov test: is the reward a function of (s, a, s'), or, given a machine, of (u, reward label, u')?"""

from __future__ import annotations

import numpy as np

from markovize.conflicts.apart import history_keys, tell_apart
from markovize.conflicts.clock import find_clock
from markovize.conflicts.labels import conflicting_labels
from markovize.conflicts.report import LEAST_COMPARABLE, CheckReport, Witness
from markovize.conflicts.streaming import check_stream, find_witnesses, name_steps
from markovize.episodes.allowance import Allowance
from markovize.episodes.distinct import distinct_rewards
from markovize.episodes.features import Features
from markovize.episodes.labelling import LabelOn, labelling_named
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.tally import Tally
from markovize.episodes.traces import Episodes, Ints, Traces, as_traces
from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine


def check(
    episodes: Episodes | EpisodeStream,
    machine: RewardMachine | None = None,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
    features: Features | None = None,
    tolerance: float = 0.0,
) -> CheckReport:
    """Looks for conflicts. With a machine, a step's label is (u, reward label, u') instead of (s, a, s').

    With a ``tolerance``, only rewards that no level fits are in conflict: those of a label that differ by more than
    twice as much. Where rewards are compared exactly, ``apart`` of the report tells noise (the same history paid
    differently) from what may be history.

    >>> report = check(Traces.of([([0, 1], ["go"], [0]), ([0, 1], ["go"], [1])]))
    >>> report.markov, str(report.witnesses[0])
    (False, '(0, go, 1) pays 0 or 1: episode 0 step 0, episode 1 step 0')
    """
    allowance = Allowance(tolerance)
    if machine is not None and machine.is_random:
        raise InputError(
            "the machine's rewards are random, so that different ones are no conflict; replay tests the fit"
        )
    if isinstance(episodes, EpisodeStream):
        return check_stream(episodes, machine, trigger_on, reward_on, features, allowance)
    traces = as_traces(episodes)
    steps = labelling_named("transition").label_steps(traces)
    ids, values = steps.ids, steps.values
    if machine is not None:
        ids, values = name_steps(traces, machine, trigger_on, reward_on, features)
    if allowance.exact:
        witnesses, outside = _witnesses(traces, ids, values), 0
    else:
        tally = Tally()
        tally.add(ids, values, traces, episodes_before=0)
        witnesses, outside = find_witnesses(tally, allowance)
    # guards put steps together whose observations never repeat: then it is their cells that are compared
    compared, many = (
        (ids, len(values)) if machine is not None and machine.has_guards else (steps.ids, len(steps.values))
    )
    comparable = int((np.bincount(compared, minlength=1)[compared] > 1).sum())
    testable = traces.steps > 0 and comparable >= LEAST_COMPARABLE * traces.steps
    if not testable:
        codes = distinct_rewards(traces.rewards).of_step
        testable = bool(conflicting_labels(compared, codes.astype(np.int32), max(1, many)).any())
    clock = find_clock(traces) if witnesses and machine is None else None
    apart = None
    if witnesses and allowance.exact:
        codes = distinct_rewards(traces.rewards).of_step
        disputed = conflicting_labels(ids, codes.astype(np.int32), max(1, len(values)))[ids]
        apart = tell_apart(ids[disputed], history_keys(traces)[disputed], codes[disputed])
        outside = apart.unusual
    counted = (traces.steps, len(traces), len(witnesses), tuple(witnesses), comparable, testable)
    return CheckReport(*counted, clock, apart, tolerance, outside)


def _witnesses(traces: Traces, labels: Ints, values: list[Value]) -> list[Witness]:
    rewards, _, inverse = distinct_rewards(traces.rewards)
    codes: Ints = inverse.astype(np.int32)
    suspects = np.flatnonzero(conflicting_labels(labels, codes, max(1, len(values)))[labels])
    depth = traces.depths()
    order = suspects[np.lexsort((suspects, depth[suspects], codes[suspects], labels[suspects]))]
    pairs = np.stack([labels[order], codes[order]], axis=1)
    firsts = order[np.r_[True, (pairs[1:] != pairs[:-1]).any(axis=1)]] if len(order) else order
    by_label: dict[int, list[int]] = {}
    for step in firsts.tolist():  # the shallowest step of each (label, reward)
        by_label.setdefault(int(labels[step]), []).append(step)
    out: list[tuple[int, Witness]] = []
    for label, steps in by_label.items():
        first, second, *others = sorted(steps, key=lambda n: (int(depth[n]), n))
        (i, m), (j, n) = traces.locate(first), traces.locate(second)
        paid = tuple(float(rewards[codes[step]]) for step in (first, second, *others))
        out.append((m + n, Witness(values[label], paid, (i, j), (m, n))))
    out.sort(key=lambda item: (item[0], item[1].episodes, item[1].steps))
    return [witness for _, witness in out]
