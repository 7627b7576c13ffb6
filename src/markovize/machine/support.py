"""What episodes say for each trigger: at how many steps it fired, and how many paid steps could not do without it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from markovize.episodes.distinct import distinct_rewards
from markovize.episodes.features import Features, FeatureTable
from markovize.episodes.labelling import LabelOn, Labels
from markovize.episodes.paid import count_paid
from markovize.episodes.traces import Bools, Ints, Traces
from markovize.episodes.values import Interner
from markovize.machine.delta import Delta
from markovize.machine.guarded_run import run_guards
from markovize.machine.kernels import episode_states
from markovize.machine.machine import RewardMachine, Trigger
from markovize.machine.replay import Run, label_for, run_on_labels

MOST_WORK: Final = 3_000_000  # steps times triggers, about a second; above it nothing is counted
LITTLE: Final = 10
"""Paid steps, below which a trigger is pinned by almost nothing. Of 756 machines learned from samples of our worlds,
87 % of those with such a trigger failed on fresh walks, and 26 % of the others: ``benchmarks/evidence.py support``."""


@dataclass(frozen=True)
class Support:
    """What episodes say for a trigger.

    ``steps`` fired it. ``paid`` is how many steps would have to be called exceptions if the trigger were left out: in
    the machine without it, they are paid another reward than the commonest of their (u, reward label, u').
    """

    trigger: Trigger
    steps: int
    paid: int

    def __str__(self) -> str:
        fired = f"{self.steps:,} step{'' if self.steps == 1 else 's'} fired it"
        return f"{fired}, {self.paid:,} paid step{' needs' if self.paid == 1 else 's need'} it"

    def to_json(self) -> dict[str, Any]:
        """As ``learn --json`` has it."""
        return {
            "from": self.trigger.source,
            "to": self.trigger.target,
            "steps": self.steps,
            "paid": self.paid,
            "alternatives": len(self.trigger.alternatives),
        }


def count_support(
    machine: RewardMachine,
    traces: Traces,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
    features: Features | None = None,
) -> tuple[Support, ...]:
    """For each trigger of a machine, in its order, what these episodes say for it; nothing where that takes long.

    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, "key", 1),))
    >>> walks = [(["hall", "key", "door"], [0, 0], [0, 1]), (["hall", "door"], [0], [0]), (["hall", "door"], [0], [0])]
    >>> [(support.steps, support.paid) for support in count_support(machine, Traces.of(walks))]
    [(1, 1)]
    """
    if not machine.triggers or traces.recorded[1] * len(machine.triggers) > MOST_WORK:
        return ()
    triggers, rewards = label_for(machine, traces, trigger_on=trigger_on, reward_on=reward_on, features=features)
    starts, weights = traces.starts(), traces.weights()
    levels = distinct_rewards(traces.rewards).of_step
    known = None if isinstance(triggers, FeatureTable) else Interner(triggers.values)

    def run(some: tuple[Trigger, ...]) -> Run:
        if known is None or isinstance(triggers, FeatureTable):
            without = replace(machine, triggers=some, rewards=())
            return run_on_labels(without, traces.offsets, triggers, rewards, starts)
        delta = Delta(machine.states, some, machine.trigger_labels).table(known)
        return Run(*episode_states(traces.offsets, triggers.ids, delta, machine.initial, starts), rewards)

    fired_at = _fired(machine, traces, triggers, rewards)
    out = []
    for number, trigger in enumerate(machine.triggers):
        without = run((*machine.triggers[:number], *machine.triggers[number + 1 :]))
        paid = count_paid(without.keys(machine.states), levels, weights)
        out.append(Support(trigger, _count(fired_at == number, weights), paid))
    return tuple(out)


def _fired(machine: RewardMachine, traces: Traces, triggers: Labels | FeatureTable, rewards: Labels) -> Ints:
    """For each step the number of the trigger that fired, or -1."""
    starts = traces.starts()
    if isinstance(triggers, FeatureTable):
        return run_guards(machine, traces.offsets, triggers, starts).fired
    before, known = run_on_labels(machine, traces.offsets, triggers, rewards, starts).before, Interner(triggers.values)
    fired = np.full(len(before), -1, np.int32)
    for number, trigger in reversed(list(enumerate(machine.triggers))):  # of several that match, the first fires
        fits = np.zeros(len(triggers.values), np.bool_)
        fits[machine.delta.columns(trigger.on, known)] = True
        fired[fits[triggers.ids] & (before == trigger.source)] = number
    return fired


def _count(chosen: Bools, weights: Ints | None) -> int:
    """How many recorded steps these are."""
    return int(chosen.sum() if weights is None else weights[chosen].sum())
