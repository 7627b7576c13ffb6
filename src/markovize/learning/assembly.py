"""From triggers to a machine: states get their numbers, steps their rewards, by one replay of all episodes."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.distinct import distinct_keys
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.traces import Bools, Floats, Ints, Longs, Traces
from markovize.episodes.values import Value, show, sort_key
from markovize.errors import EngineError
from markovize.learning.engines import Delta
from markovize.learning.judge import size
from markovize.learning.windows import outside_of_windows
from markovize.machine import kernels
from markovize.machine.delta import tabulate
from markovize.machine.graph import topological_order
from markovize.machine.machine import Emission, RewardMachine, Trigger


@dataclass(frozen=True)
class TerminationConflict:
    """Steps with equal (u, reward label, u') of which some end their episode and some do not."""

    source: int
    on: Value
    target: int

    def __str__(self) -> str:
        return f"({self.source}, {show(self.on)}, {self.target}) both ends and does not end episodes"


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Hundreds of thousands of objects are made, and none of them is garbage: looking for it took half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_collecting_nothing()
def assemble(
    traces: Traces,
    steps: LabelledSteps,
    delta: Delta,
    alternatives: dict[tuple[int, int], list[int]],
    allowance: Allowance = EXACT,
) -> tuple[RewardMachine, tuple[TerminationConflict, ...]]:
    """Numbers the states, collects the rewards from all episodes, and checks once more that they are a function."""
    states = size(delta)[0]
    table = tabulate(states, max(1, len(steps.triggers.values)), delta)
    before, after = kernels.episode_states(steps.offsets, steps.triggers.ids, table, 0, steps.starts)
    name = number_states(states, [(u, v) for (u, _), v in delta.items()], after)
    emissions, ends = collect_rewards(traces, steps, name[before], name[after], states, allowance)
    machine = RewardMachine(
        steps.triggers.kind, steps.rewards.kind, states, _name_triggers(steps, delta, alternatives, name), emissions
    )
    return machine, ends


def number_states(states: int, edges: Sequence[tuple[int, int]], after: Ints) -> Ints:
    """The new number of each state: acyclic machines topologically, ties by first visit; others by first visit."""
    visited, first, _ = distinct_keys(after)
    rank = np.full(states, len(after), np.int64)
    rank[visited] = first
    rank[0] = -1
    order = topological_order(states, edges, rank.tolist())
    if order is None:
        order = np.argsort(rank, kind="stable").tolist()
    name = np.empty(states, np.int32)
    name[order] = np.arange(states, dtype=np.int32)
    return name


def _name_triggers(
    steps: LabelledSteps, delta: Delta, alternatives: dict[tuple[int, int], list[int]], name: Ints
) -> tuple[Trigger, ...]:
    """In the order in which files list them."""
    values = steps.triggers.values
    place = _rank({x for _, x in delta}, values)
    moves = sorted((int(name[u]), int(name[v]), place[x], u, x) for (u, x), v in delta.items())
    return tuple(
        Trigger(source, values[x], target, tuple(values[a] for a in alternatives.get((u, x), ())))
        for source, target, _, u, x in moves
    )


def collect_rewards(
    traces: Traces, steps: LabelledSteps, before: Ints, after: Ints, states: int, allowance: Allowance = EXACT
) -> tuple[tuple[Emission, ...], tuple[TerminationConflict, ...]]:
    """What each (u, reward label, u') pays, in the order in which files list them, and which of them end at times."""
    values = steps.rewards.values
    labels = max(1, len(values))
    packed = (before.astype(np.int64) * labels + steps.rewards.ids) * states + after
    keys, first, of_step = distinct_keys(packed)
    ends = traces.ends().astype(np.float64)
    times = np.ones(len(ends)) if steps.weights is None else np.asarray(steps.weights, np.float64)
    if allowance.exact:
        rewards, spread, explained = traces.rewards[first], None, None
        wrong = not np.array_equal(rewards[of_step], traces.rewards)
    else:
        rewards, spread, outside, outliers = _find_levels(traces, steps, of_step, allowance)
        wrong = outliers > allowance.outliers
        explained = np.bincount(of_step, times * ~outside, len(keys)).astype(np.int64)
        if steps.ends.any():  # what is to be explained as well does not tell of outliers
            times = times * ~outside
    if wrong:
        raise EngineError("the machine does not explain the episodes; this is a bug in markovize, please report it")
    count = np.bincount(of_step, times, len(keys))
    ended = np.bincount(of_step, ends * times, len(keys))
    source, label, target = keys // states // labels, keys // states % labels, keys % states
    rank = _rank(range(len(values)), values)
    place = np.array([rank[n] for n in range(len(values))], np.int64)

    order = np.lexsort((place[label], target, source))
    columns = [column[order].tolist() for column in (source, label, target, rewards, ended == count)]
    if spread is not None and explained is not None:
        columns += [spread[order].tolist(), explained[order].tolist()]
    emissions = tuple(Emission(u, values[y], v, *rest) for u, y, v, *rest in zip(*columns, strict=True))
    mixed = np.flatnonzero((ended > 0) & (ended < count)).tolist()
    conflicts = tuple(TerminationConflict(int(source[n]), values[label[n]], int(target[n])) for n in mixed)
    return emissions, conflicts


def _find_levels(
    traces: Traces, steps: LabelledSteps, cells: Longs, allowance: Allowance
) -> tuple[Floats, Floats, Bools, int]:
    """The level of each cell, how far its rewards are from it at most; which steps are outliers, and how many."""
    rewards, n_cells = traces.rewards, int(cells.max(initial=-1)) + 1
    ending = steps.ends[steps.outcomes]
    weights = np.ones(len(rewards), np.int64) if steps.weights is None else steps.weights
    outside, outliers = outside_of_windows(cells, ending, rewards, weights, allowance.width)
    low, high = np.full(n_cells, np.inf), np.full(n_cells, -np.inf)
    np.minimum.at(low, cells[~outside], rewards[~outside])
    np.maximum.at(high, cells[~outside], rewards[~outside])
    return low + (high - low) / 2, (high - low) / 2, outside, outliers


def _rank(labels: Iterable[int], values: list[Value]) -> dict[int, int]:
    """The place of each label, given by its number, in the order of their values."""
    labels = list(labels)
    if _plainly_ordered([values[n] for n in labels]):
        labels.sort(key=lambda n: values[n])
    else:
        labels.sort(key=lambda n: sort_key(values[n]))
    return {label: at for at, label in enumerate(labels)}


def _plainly_ordered(values: list[Any]) -> bool:
    """Whether Python's own order is that of :func:`sort_key`, but faster: numbers, texts, or rows of them."""
    kinds = {type(value) for value in values}
    if kinds == {tuple} and len({len(value) for value in values}) == 1:
        return all(_comparable(set(map(type, column))) for column in zip(*values, strict=True))
    return _comparable(kinds)


def _comparable(kinds: set[type]) -> bool:
    return kinds <= {int, float} or kinds <= {str}
