"""From triggers to a machine: states get their numbers, steps their rewards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.traces import Traces
from markovize.episodes.values import Value, show
from markovize.errors import EngineError
from markovize.learning.engines import Delta
from markovize.learning.judge import size
from markovize.machine.graph import topological_order
from markovize.machine.machine import (
    Emission,
    RewardMachine,
    Trigger,
    sorted_emissions,
    sorted_triggers,
)
from markovize.machine.replay import run_on_labels


@dataclass(frozen=True)
class TerminationConflict:
    """Steps with equal (u, reward label, u') of which some end their episode and some do not."""

    source: int
    on: Value
    target: int

    def __str__(self) -> str:
        return f"({self.source}, {show(self.on)}, {self.target}) both ends and does not end episodes"


def assembled(
    traces: Traces, steps: LabelledSteps, delta: Delta, alternatives: dict[tuple[int, int], list[int]]
) -> tuple[RewardMachine, tuple[TerminationConflict, ...]]:
    """Numbers the states, collects the rewards from all episodes, and checks once more that they are a function."""
    values, kinds = steps.triggers.values, (steps.triggers.kind, steps.rewards.kind)
    states = size(delta)[0]
    bare = RewardMachine(*kinds, states, tuple(Trigger(u, values[x], v) for (u, x), v in delta.items()))
    name = _numbering(bare, steps, traces)
    triggers = sorted_triggers(
        Trigger(name[u], values[x], name[v], tuple(values[a] for a in alternatives.get((u, x), ())))
        for (u, x), v in delta.items()
    )
    machine = RewardMachine(*kinds, states, triggers)
    emissions, ends = _emissions(machine, traces, steps)
    return RewardMachine(*kinds, states, triggers, sorted_emissions(emissions)), ends


def _numbering(machine: RewardMachine, steps: LabelledSteps, traces: Traces) -> dict[int, int]:
    """Acyclic machines topologically, ties by first visit; others by first visit."""
    after = run_on_labels(machine, steps.offsets, steps.triggers, steps.rewards).after
    visited, first = np.unique(after, return_index=True)
    when = {int(u): int(n) for u, n in zip(visited, first, strict=True)} | {machine.initial: -1}
    rank = [when.get(u, traces.steps) for u in range(machine.states)]
    order = topological_order(machine.states, [(t.source, t.target) for t in machine.triggers], rank)
    if order is None:
        order = sorted(range(machine.states), key=lambda u: rank[u])
    return {u: n for n, u in enumerate(order)}


def _emissions(
    machine: RewardMachine, traces: Traces, steps: LabelledSteps
) -> tuple[list[Emission], tuple[TerminationConflict, ...]]:
    way = run_on_labels(machine, steps.offsets, steps.triggers, steps.rewards)
    packed = way.keys(machine.states)
    keys, first, of_step = np.unique(packed, return_index=True, return_inverse=True)
    if not np.array_equal(traces.rewards[first][of_step], traces.rewards):
        raise EngineError("the machine does not explain the episodes; this is a bug in markovize, please report it")
    ends = traces.ends()
    count = np.bincount(of_step, minlength=len(keys))
    ended = np.bincount(of_step, weights=ends, minlength=len(keys))
    emissions, conflicts = [], []
    for number, key in enumerate(keys):
        u, label, v = way.unpack(int(key), machine.states)
        on = steps.rewards.values[label]
        reward, always = float(traces.rewards[first[number]]) + 0.0, bool(ended[number] == count[number])
        emissions.append(Emission(u, on, v, reward, terminal=always))
        if 0 < ended[number] < count[number]:
            conflicts.append(TerminationConflict(u, on, v))
    return emissions, tuple(conflicts)
