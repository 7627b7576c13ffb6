"""How :class:`markovize.product.product.Product` counts: from episodes and a machine to sparse tables."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from markovize.episodes.labelling import Labelling, Labels
from markovize.episodes.traces import Bools, Floats, Ints, Longs, Traces
from markovize.episodes.values import Value, show, sort_key
from markovize.errors import InputError
from markovize.machine import kernels
from markovize.machine.machine import RewardMachine


class ProductTables(NamedTuple):
    """The columns of a product, in the order of its fields."""

    observations: tuple[Value, ...]
    actions: tuple[Value, ...]
    row_state: Longs
    row_action: Ints
    first: Longs
    target: Longs
    probabilities: Floats
    rewards: Floats
    counts: Longs
    ending: Floats
    initial: Floats
    visited: Bools


class _ReplayedSteps(NamedTuple):
    """Every step of the traces: s, a, s' by sorted value, u and u', and the labels."""

    s: Longs
    a: Longs
    t: Longs
    u: Longs
    v: Longs
    triggers: Labels
    rewards: Labels


def build_tables(traces: Traces, machine: RewardMachine, trigger_on: Labelling, reward_on: Labelling) -> ProductTables:
    """Counts everything; raises :class:`InputError` if the machine does not explain the traces."""
    if not traces.steps:
        raise InputError("a product needs at least one step")
    S, A, K = len(traces.observation_values), len(traces.action_values), machine.states
    observations, state_rank = _sort_values(traces.observation_values)
    actions, action_rank = _sort_values(traces.action_values)
    steps = _replay(traces, machine, trigger_on, reward_on, state_rank, action_rank)
    _check_explained(traces, machine, steps)

    # T(s, a, s'): unique triples, sorted, so that those of one (s, a) are neighbours
    triple_keys, example, of_step, triple_counts = np.unique(
        (steps.s * A + steps.a) * S + steps.t, return_index=True, return_inverse=True, return_counts=True
    )
    pair_keys, pair_first, pair_sizes = np.unique(triple_keys // S, return_index=True, return_counts=True)
    share = triple_counts / np.repeat(np.add.reduceat(triple_counts, pair_first), pair_sizes)

    # a row for each visited ((s, u), a), with an outcome for each s' that ever followed (s, a)
    row_keys = np.unique((steps.s * K + steps.u) * A + steps.a)
    row_state, row_action = row_keys // A, row_keys % A
    pair_of_row = np.searchsorted(pair_keys, row_state // K * A + row_action)
    sizes = pair_sizes[pair_of_row]
    first = np.concatenate(([0], np.cumsum(sizes)))
    within = np.arange(first[-1]) - np.repeat(first[:-1], sizes)
    triple = np.repeat(pair_first[pair_of_row], sizes) + within
    u = np.repeat(row_state % K, sizes)
    v = machine.delta.table(steps.triggers.values)[u, steps.triggers.ids[example[triple]]].astype(np.int64)

    seen_keys, seen, counts = np.unique(steps.u * len(triple_keys) + of_step, return_inverse=True, return_counts=True)
    ended = np.bincount(seen, traces.ends())
    at, found = _lookup(seen_keys, u * len(triple_keys) + triple)
    rewards, machine_ends = _payments(traces, machine, steps, u, example[triple], v)
    starts = steps.s[traces.offsets[:-1][np.diff(traces.offsets) > 0]] * K + machine.initial
    initial = np.bincount(starts, minlength=S * K) / len(starts)
    visited = np.zeros(S * K, np.bool_)
    visited[steps.s * K + steps.u] = True
    visited[steps.t * K + steps.v] = True
    return ProductTables(
        observations,
        actions,
        row_state,
        row_action.astype(np.int32),
        first,
        triple_keys[triple] % S * K + v,
        share[triple],
        rewards,
        np.where(found, counts[at], 0),
        np.where(found, ended[at] / counts[at], machine_ends),
        initial,
        visited,
    )


def _replay(
    traces: Traces,
    machine: RewardMachine,
    trigger_on: Labelling,
    reward_on: Labelling,
    states: Longs,
    actions: Longs,
) -> _ReplayedSteps:
    triggers = trigger_on.label_steps(traces)
    rewards = triggers if reward_on == trigger_on else reward_on.label_steps(traces)
    delta = machine.delta.table(triggers.values)
    before, after = kernels.episode_states(traces.offsets, triggers.ids, delta, machine.initial)
    return _ReplayedSteps(
        states[traces.states_before()],
        actions[traces.actions],
        states[traces.states_after()],
        before.astype(np.int64),
        after.astype(np.int64),
        triggers,
        rewards,
    )


def _keys(steps: _ReplayedSteps, machine: RewardMachine, u: Longs, labels: Ints, v: Longs) -> Longs:
    """(u, reward label, u') as one number."""
    return cast(Longs, (u * len(steps.rewards.values) + labels) * machine.states + v)


def _check_explained(traces: Traces, machine: RewardMachine, steps: _ReplayedSteps) -> None:
    """Equal (u, reward label, u') must pay equally, and what the machine says."""
    keys = _keys(steps, machine, steps.u, steps.rewards.ids, steps.v)
    _, example, inverse = np.unique(keys, return_index=True, return_inverse=True)
    earlier = example[inverse]
    wrong = np.flatnonzero(traces.rewards != traces.rewards[earlier])
    if len(wrong):
        n = int(wrong[0])
        m = int(earlier[n])
        raise InputError(
            f"the machine does not explain these episodes: {_place(traces, m)} and {_place(traces, n)} both "
            f"{_describe_move(steps, n)}, but pay {traces.rewards[m]:g} and {traces.rewards[n]:g}"
        )
    for n in np.sort(example).tolist():
        said = machine.reward(int(steps.u[n]), steps.rewards.values[steps.rewards.ids[n]], int(steps.v[n]))
        if said is not None and said != traces.rewards[n]:
            raise InputError(
                f"the machine does not explain these episodes: {_place(traces, n)} pays "
                f"{traces.rewards[n]:g}, but the machine says {said:g} for steps that {_describe_move(steps, n)}"
            )


def _payments(
    traces: Traces, machine: RewardMachine, steps: _ReplayedSteps, u: Longs, example: Longs, v: Longs
) -> tuple[Floats, Floats]:
    """R̃ of each outcome: from the data, else the machine, else 0; and whether the machine says it ends."""
    labels = steps.rewards.ids[example]
    known, first = np.unique(_keys(steps, machine, steps.u, steps.rewards.ids, steps.v), return_index=True)
    at, found = _lookup(known, _keys(steps, machine, u, labels, v))
    rewards = np.where(found, traces.rewards[first[at]], 0.0)
    ends = np.zeros(len(rewards))
    for n in range(len(rewards)) if machine.rewards else ():
        key = int(u[n]), steps.rewards.values[labels[n]], int(v[n])
        ends[n] = machine.terminal(*key)
        if not found[n]:
            rewards[n] = machine.reward(*key) or 0.0
    return rewards, ends


def _lookup(known: Longs, wanted: Longs) -> tuple[Longs, Bools]:
    """Where each wanted key is among the sorted known ones, and whether it is there at all."""
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return at, known[at] == wanted


def _sort_values(values: list[Value]) -> tuple[tuple[Value, ...], Longs]:
    """The values in their natural order, and the place of each old id in it."""
    order = sorted(range(len(values)), key=lambda number: sort_key(values[number]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return tuple(values[number] for number in order), rank


def _place(traces: Traces, step: int) -> str:
    episode, number = traces.locate(step)
    return f"episode {episode} step {number}"


def _describe_move(steps: _ReplayedSteps, n: int) -> str:
    return f"go from state {steps.u[n]} to {steps.v[n]} on {show(steps.rewards.values[steps.rewards.ids[n]])}"
