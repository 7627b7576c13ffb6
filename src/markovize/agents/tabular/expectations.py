"""What an agent expects of steps that it never made: what the same action did elsewhere, in the same machine state.

Where almost every step moves a machine, as in a process that has to be done in order, most of its triggers are on steps
that chance brings once in thousands. A machine learned from episodes stays where it is on a step that none of them
made; the agent may guess better. Where one action led to one state of the machine from every state that it was taken
in, that is where it will lead from the others, too, and it will pay about as much. A guess that is wrong is refuted by
a conflict, like any other belief.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from markovize.agents.tabular.agent import Agent
from markovize.episodes.traces import Bools, Floats, Ints, Longs
from markovize.machine.machine import RewardMachine, Trigger, sorted_triggers

SOME: Final = 2  # labels with the same action that must agree, where they are of other states


def expect_like_actions(agent: Agent) -> None:
    """Writes what is expected: moves of the machine into δ, where no step was made, and rewards for plans.

    Only for labels that tell the action: of places, nothing follows for other places.
    """
    codec, arrays = agent.codec, agent.arrays
    arrays.machine.pays[:] = 0.0
    known = len(codec)
    triggers, sources, actions = (np.array(own, np.int64) for own in (codec.triggers.ids, codec.source, codec.action))
    if not known or not tells_action(agent, triggers, actions):
        return
    delta, labels = arrays.machine.delta, int(triggers.max()) + 1
    reached = delta[:, triggers]
    paid = arrays.rewards.paid[np.arange(len(delta))[:, None], arrays.transitions.label[:known], reached]
    made = ~np.isnan(paid)
    n_actions = len(codec.actions)
    pairs = sources * n_actions + actions
    _write_pays(agent, paid, made, pairs, actions)
    is_made = np.zeros((len(delta), labels), np.bool_)
    np.logical_or.at(is_made.T, triggers, made.T)
    near = _one_of(triggers, pairs, labels)
    far = _one_of(triggers, actions, labels)
    own = codec.delta(agent.machine, delta.shape[1])[:, :labels]
    stays = np.arange(len(delta), dtype=np.int32)[:, None]
    guess = _agreed(delta[:, :labels], is_made, far, n_actions, SOME)
    nearer = _agreed(delta[:, :labels], is_made, near, len(codec.observations) * n_actions, 1)
    guess = np.where(nearer >= 0, nearer, guess)
    guess = np.where(guess >= 0, guess, stays)
    delta[:, :labels] = np.where(is_made | (own != stays), delta[:, :labels], guess)


def tells_action(agent: Agent, triggers: Longs, actions: Longs) -> bool:
    """Whether no label of a trigger was seen with two actions, and labels are of a kind that may tell."""
    labelling = agent.codec.triggers.labelling
    may = labelling.needs_function or "action" in labelling.parts
    return may and bool((_one_of(triggers, actions, int(triggers.max()) + 1)[triggers] >= 0).all())


def with_expected(agent: Agent) -> RewardMachine:
    """The machine that the agent holds true: the one that was learned, and the moves that it expects besides."""
    codec, machine = agent.codec, agent.machine
    delta, own = agent.arrays.machine.delta, codec.delta(machine)
    width = len(codec.triggers.numbers.values)
    guessed = zip(*(axis.tolist() for axis in np.nonzero(delta[:, :width] != own[:, :width])), strict=True)
    values = codec.triggers.numbers.values
    more = [Trigger(u, values[label], int(delta[u, label])) for u, label in guessed]
    return replace(machine, triggers=sorted_triggers([*machine.triggers, *more])) if more else machine


def _write_pays(agent: Agent, paid: Floats, made: Bools, pairs: Longs, actions: Longs) -> None:
    """What each action pays on average at each place of S×U or, where it was never taken, in this machine state."""
    pays, n_actions = agent.arrays.machine.pays, len(agent.codec.actions)
    flat = pays.reshape(len(pays), -1)
    for u in range(len(pays)):
        seen = made[u]
        for keys, size in ((actions, n_actions), (pairs, flat.shape[1])):
            counts = np.bincount(keys[seen], minlength=size)
            means = np.bincount(keys[seen], paid[u, seen], minlength=size) / np.maximum(counts, 1)
            if size == n_actions:
                pays[u] = np.where(counts, means, 0.0)[None, :]
            else:
                flat[u] = np.where(counts, means, flat[u])


def _one_of(labels: Longs, keys: Longs, size: int) -> Longs:
    """For each label the key of all transitions with that label; -1 where these differ, or there are none."""
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1, np.int64)
    np.minimum.at(low, labels, keys)
    np.maximum.at(high, labels, keys)
    return np.where(low == high, high, -1)


def _agreed(delta: Ints, is_made: Bools, keys: Longs, size: int, least: int) -> Ints:
    """Where all labels with the same key lead that steps were made with, at least so many; -1 if they do not agree."""
    out = np.full(delta.shape, -1, np.int32)
    for u in range(len(delta)):
        used = is_made[u] & (keys >= 0)
        low, high = np.full(size, len(delta), np.int32), np.full(size, -1, np.int32)
        np.minimum.at(low, keys[used], delta[u, used])
        np.maximum.at(high, keys[used], delta[u, used])
        enough = np.bincount(keys[used], minlength=size) >= least
        agreed = np.where((low == high) & enough, high, -1)
        out[u] = np.where(keys >= 0, agreed[keys], -1)
    return out
