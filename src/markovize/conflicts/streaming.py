"""The Markov test on a log that is read chunk by chunk: the same report as in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from markovize.conflicts.clock import LEAST_TIMES, Clock, fit_clock
from markovize.conflicts.report import LEAST_COMPARABLE, CheckReport, Witness
from markovize.episodes.features import Features
from markovize.episodes.labelling import LabelOn, labelling_named
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.tally import Tally
from markovize.episodes.values import key_of
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
) -> CheckReport:
    """As :func:`markovize.check`; memory grows with the distinct (s, a, s') and rewards."""
    whole = _join(
        stream.map(partial(_look, machine=machine, trigger_on=trigger_on, reward_on=reward_on, features=features))
    )
    transitions = whole.transitions
    witnesses = _witnesses(transitions if machine is None else whole.cells)
    compared = whole.cells if machine is not None and machine.has_guards else transitions
    totals = [sum(seen.count for seen in paid.values()) for _, paid in compared.items()]
    comparable = sum(total for total in totals if total > 1)
    testable = whole.steps > 0 and comparable >= LEAST_COMPARABLE * whole.steps
    testable = testable or any(len(paid) > 1 for _, paid in compared.items())
    clock = _clock(stream, transitions) if witnesses and machine is None else None
    return CheckReport(whole.steps, whole.episodes, len(witnesses), tuple(witnesses), comparable, testable, clock)


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
            way = run(machine, chunk, trigger_on=trigger_on, reward_on=reward_on, features=features)
            ids, values = way.cells(machine.states)
            part.cells.add(ids, [*values], chunk, episodes_before=part.episodes)
        part.steps += chunk.steps
        part.episodes += len(chunk)
    return part


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


def _witnesses(tally: Tally) -> list[Witness]:
    """The two shallowest steps with different rewards, for each label that has such."""
    out: list[tuple[int, Witness]] = []
    for label, paid in tally.items():
        if len(paid) > 1:
            rewards = tuple(sorted(paid, key=lambda reward: paid[reward].first))
            (m, i), (n, j) = (paid[reward].first for reward in rewards[:2])
            out.append((m + n, Witness(label, rewards, (i, j), (m, n))))
    out.sort(key=lambda item: (item[0], item[1].episodes, item[1].steps))
    return [witness for _, witness in out]
