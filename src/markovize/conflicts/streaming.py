"""The Markov test on a log that is read chunk by chunk: the same report as in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from markovize.conflicts.apart import Hashes, history_keys, tell_apart
from markovize.conflicts.clock import LEAST_TIMES, Clock, fit_clock
from markovize.conflicts.report import LEAST_COMPARABLE, CheckReport, Witness
from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.features import Features
from markovize.episodes.labelling import LabelOn, labelling_named
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.tally import Tally
from markovize.episodes.traces import Floats, Ints, Longs, Traces
from markovize.episodes.values import Value, key_of
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import run


@dataclass
class _Part:
    """What a part of the log says."""

    steps: int = 0
    episodes: int = 0
    transitions: Tally = field(default_factory=Tally)
    cells: Tally = field(default_factory=Tally)


def check_stream(
    stream: EpisodeStream,
    machine: RewardMachine | None,
    trigger_on: LabelOn | None,
    reward_on: LabelOn | None,
    features: Features | None = None,
    allowance: Allowance = EXACT,
) -> CheckReport:
    """As :func:`markovize.check`; memory grows with the distinct (s, a, s') and rewards.

    Where some are in conflict, the log is read once more, and memory grows with the distinct histories of their steps.
    """
    whole = _join(
        stream.map(partial(_look, machine=machine, trigger_on=trigger_on, reward_on=reward_on, features=features))
    )
    transitions = whole.transitions
    compared_labels = transitions if machine is None else whole.cells
    witnesses, outside = find_witnesses(compared_labels, allowance)
    compared = whole.cells if machine is not None and machine.has_guards else transitions
    totals = [sum(seen.count for seen in paid.values()) for _, paid in compared.items()]
    comparable = sum(total for total in totals if total > 1)
    testable = whole.steps > 0 and comparable >= LEAST_COMPARABLE * whole.steps
    testable = testable or any(len(paid) > 1 for _, paid in compared.items())
    clock = _clock(stream, transitions) if witnesses and machine is None else None
    apart = None
    if witnesses and allowance.exact:
        numbers = {key_of(label): n for n, (label, paid) in enumerate(compared_labels.items()) if len(paid) > 1}
        look = partial(_histories, numbers=numbers, machine=machine, trigger_on=trigger_on, reward_on=reward_on)
        parts = list(stream.map(partial(look, features=features)))
        apart = tell_apart(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    counted = (whole.steps, whole.episodes, len(witnesses), tuple(witnesses), comparable, testable)
    return CheckReport(*counted, clock, apart, allowance.tolerance, outside)


def _look(
    stream: EpisodeStream,
    machine: RewardMachine | None,
    trigger_on: LabelOn | None,
    reward_on: LabelOn | None,
    features: Features | None = None,
) -> _Part:
    part = _Part()
    for chunk in stream.chunks():
        labels = labelling_named("transition").label_steps(chunk)
        part.transitions.add(labels.ids, labels.values, chunk, episodes_before=part.episodes)
        if machine is not None:
            ids, values = name_steps(chunk, machine, trigger_on, reward_on, features)
            part.cells.add(ids, values, chunk, episodes_before=part.episodes)
        part.steps += chunk.steps
        part.episodes += len(chunk)
    return part


def name_steps(
    traces: Traces,
    machine: RewardMachine | None,
    trigger_on: LabelOn | None,
    reward_on: LabelOn | None,
    features: Features | None,
) -> tuple[Ints, list[Value]]:
    """What is compared, as numbers and their meaning: (s, a, s') or, with a machine, (u, reward label, u')."""
    if machine is None:
        labels = labelling_named("transition").label_steps(traces)
        return labels.ids, labels.values
    way = run(machine, traces, trigger_on=trigger_on, reward_on=reward_on, features=features)
    ids, cells = way.cells(machine.states)
    return ids, [*cells]


def _histories(
    stream: EpisodeStream,
    numbers: dict[Hashable, int],
    machine: RewardMachine | None,
    trigger_on: LabelOn | None,
    reward_on: LabelOn | None,
    features: Features | None,
) -> tuple[Longs, Hashes, Floats]:
    """Of the steps in conflict the numbers of their labels, their histories and their rewards."""
    found: list[tuple[Longs, Hashes, Floats]] = []
    for chunk in stream.chunks():
        ids, values = name_steps(chunk, machine, trigger_on, reward_on, features)
        own = np.array([numbers.get(key_of(value), -1) for value in values] or [-1], np.int64)[ids]
        found.append((own[own >= 0], history_keys(chunk)[own >= 0], chunk.rewards[own >= 0]))
    nothing = np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0)
    labels, histories, rewards = zip(nothing, *found, strict=True)
    return np.concatenate(labels), np.concatenate(histories), np.concatenate(rewards)


def _join(parts: Iterator[_Part]) -> _Part:
    whole = next(parts)
    for part in parts:
        whole.transitions.absorb(part.transitions, episodes_before=whole.episodes)
        whole.cells.absorb(part.cells, episodes_before=whole.episodes)
        whole.steps += part.steps
        whole.episodes += part.episodes
    return whole


def _clock(stream: EpisodeStream, transitions: Tally) -> Clock | None:
    """As :func:`~markovize.conflicts.clock.find_clock`; reads the log once more if it can be one of time."""
    levels: Counter[float] = Counter()
    for _, paid in transitions.items():
        levels.update({reward: seen.count for reward, seen in paid.items()})
    if len(levels) < LEAST_TIMES:
        return None
    usual = min(levels, key=lambda reward: (-levels[reward], reward))
    disputed = {key_of(label) for label, paid in transitions.items() if len(paid) > 1}
    found: dict[tuple[int, float], None] = {}  # each (time, reward) once, in the order of the log
    steps = 0
    for part in stream.map(partial(_paid_at, disputed=disputed, usual=usual if levels[usual] > 1 else None)):
        steps += part[0]
        found.update(part[1])
    times, rewards = np.array([time for time, _ in found], np.int64), np.array([reward for _, reward in found])
    return fit_clock(times, rewards, steps)


def _paid_at(
    stream: EpisodeStream, disputed: set[Hashable], usual: float | None
) -> tuple[int, dict[tuple[int, float], None]]:
    """How many steps with these labels paid something else than usual; and when, and what."""
    steps, found = 0, dict[tuple[int, float], None]()
    for chunk in stream.chunks():
        labels = labelling_named("transition").label_steps(chunk)
        chosen = np.array([key_of(value) in disputed for value in labels.values] or [False])[labels.ids]
        if usual is not None:
            chosen &= chunk.rewards != usual
        number = chunk.depths() + 1
        steps += int(chosen.sum())
        found.update(dict.fromkeys(zip(number[chosen].tolist(), chunk.rewards[chosen].tolist(), strict=True)))
    return steps, found


def find_witnesses(tally: Tally, allowance: Allowance = EXACT) -> tuple[list[Witness], int]:
    """The two shallowest steps with different rewards, for each label that has such, and how many steps are outside.

    With a tolerance, the two are those that paid least and most; all that is between them follows.
    """
    out: list[tuple[int, Witness]] = []
    outside = 0
    for label, paid in tally.items():
        if max(paid) - min(paid) > allowance.width:
            rewards = tuple(sorted(paid, key=lambda reward: paid[reward].first))
            if not allowance.exact:
                ends = sorted((min(paid), max(paid)), key=lambda reward: paid[reward].first)
                rewards = (*ends, *(reward for reward in rewards if reward not in ends))
            outside += _count_outside(sorted((reward, seen.count) for reward, seen in paid.items()), allowance.width)
            (m, i), (n, j) = (paid[reward].first for reward in rewards[:2])
            out.append((m + n, Witness(label, rewards, (i, j), (m, n))))
    out.sort(key=lambda item: (item[0], item[1].episodes, item[1].steps))
    return [witness for _, witness in out], outside


def _count_outside(paid: list[tuple[float, int]], width: float) -> int:
    """How many steps the fullest window of this width leaves outside; rewards are in order, with their counts.

    >>> _count_outside([(0.0, 2), (0.5, 3), (1.0, 4)], 0.5), _count_outside([(0.0, 2), (0.5, 3), (1.0, 4)], 0.0)
    (2, 5)
    """
    low, inside, most = 0, 0, 0
    for reward, count in paid:
        inside += count
        while reward - paid[low][0] > width:
            inside -= paid[low][1]
            low += 1
        most = max(most, inside)
    return sum(count for _, count in paid) - most
