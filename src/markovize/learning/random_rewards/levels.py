"""A machine's rewards where they are random: of each cell the mean, the count and the distribution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.distinct import distinct_keys
from markovize.episodes.traces import Longs, Traces
from markovize.episodes.values import Interner
from markovize.learning.alternatives import Labels
from markovize.learning.assembly import TerminationConflict, assemble
from markovize.learning.random_rewards.attempt import Attempt
from markovize.learning.random_rewards.categories import Categories
from markovize.machine.kernels import episode_states
from markovize.machine.machine import RewardMachine
from markovize.machine.parts import Share
from markovize.machine.replay import Run


def assemble_random(
    found: Attempt, traces: Traces, alternatives: Labels
) -> tuple[RewardMachine, tuple[TerminationConflict, ...]]:
    """The machine of an attempt: what each (u, reward label, u') pays on average, how far from that, and how often."""
    steps, categories = found.steps, found.categories
    whatever = Allowance(outliers=traces.steps)
    machine, ends = assemble(traces, steps, found.delta, alternatives, whatever)
    table = machine.delta.table(steps.triggers.values)
    way = Run(*episode_states(steps.offsets, steps.triggers.ids, table, machine.initial), steps.rewards)
    cells, _, of_step = distinct_keys(way.keys(machine.states))
    count = np.bincount(of_step, minlength=len(cells))
    mean = np.bincount(of_step, traces.rewards, len(cells)) / np.maximum(count, 1)
    far = np.zeros(len(cells))
    np.maximum.at(far, of_step, np.abs(traces.rewards - mean[of_step]))
    width = int(categories.many.max(initial=1))
    paid = np.bincount(of_step * width + categories.codes, minlength=len(cells) * width).reshape(-1, width)
    place = {way.unpack(key, machine.states): number for number, key in enumerate(cells.tolist())}
    labels = Interner(steps.rewards.values)
    rewards = []
    for emission in machine.rewards:
        label = labels.id(emission.on)
        n = place[emission.source, label, emission.target]
        level = replace(emission, reward=float(mean[n]), spread=float(far[n]), count=int(count[n]))
        rewards.append(replace(level, distribution=_shares(categories, label, paid[n])))
    return replace(machine, rewards=tuple(rewards)), ends


def _shares(categories: Categories, label: int, paid: Longs) -> tuple[Share, ...]:
    """The distribution of a cell. Groups are listed with those that it has nothing of: they are all of the label's."""
    first, end = int(categories.blocks[label]), int(categories.blocks[label + 1])
    low, high = categories.low[first:end].tolist(), categories.high[first:end].tolist()
    grouped = low != high
    shares = (Share(*each) for each in zip(low, high, paid[: end - first].tolist(), strict=True))
    return tuple(share for share in shares if grouped or share.count)
