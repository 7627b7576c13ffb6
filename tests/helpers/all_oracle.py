"""All minimal machines of tiny episodes, by trying every machine: what ``learn(all=…)`` must list."""

from __future__ import annotations

from itertools import permutations
from typing import TypeAlias
from unittest import mock

import numpy as np
from instances import Kinds, random_steps

from markovize.episodes.labelled_steps import LabelledSteps, label_traces
from markovize.episodes.traces import Traces
from markovize.learning.engines import exemplar_tree
from markovize.learning.engines.exemplar_tree import SMALL_ALPHABET
from markovize.learning.engines.exhaustive import all_steps, every_machine, exhaustive_optimum
from markovize.learning.entry import learn
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import replay

Moved: TypeAlias = frozenset[tuple[int, object, int]]
"""The triggers of a machine."""

LABELS: tuple[Kinds, ...] = (
    ("state", "state"),
    ("state", "transition"),
    ("transition", "transition"),
    ("source", "transition"),
    ("transition", "state"),  # u' is not fixed by u and the reward label
)


def all_minimal(labelled: LabelledSteps, objective: str, *, acyclic: bool) -> set[Moved]:
    """The minimal machines, each with the numbering of its states that comes first."""
    states, triggers = exhaustive_optimum(labelled, objective, acyclic)  # type: ignore[arg-type]
    values = labelled.triggers.values
    machines = every_machine(all_steps(labelled), states, triggers, acyclic=acyclic)
    return {renamed({(u, values[x], v) for (u, x), v in moves.items()}, states) for moves in machines}


def renamed(moves: set[tuple[int, object, int]], states: int) -> Moved:
    """The numbering of the states, the first aside, that comes first of all."""
    every = ((0, *rest) for rest in permutations(range(1, states)))
    named = ({(name[u], x, name[v]) for u, x, v in moves} for name in every)
    return frozenset(min(named, key=lambda machine: sorted(map(repr, machine))))


def moves_of(machine: RewardMachine) -> Moved:
    return renamed({(t.source, t.on, t.target) for t in machine.triggers}, machine.states)


def instance(seed: int) -> tuple[Traces, Kinds]:
    """The instance of a seed: its size and its labels vary with it."""
    rng = np.random.default_rng(seed)
    kinds = LABELS[seed % len(LABELS)]
    episodes, length, rewards = (int(n) for n in rng.integers((2, 2, 2), (6, 6, 4)))
    acyclic = bool(rng.integers(0, 2))
    return random_steps(rng, kinds=kinds, episodes=episodes, length=length, rewards=rewards, acyclic=acyclic), kinds


def difference(seed: int) -> str | None:
    """What differs between what is listed and what there is, in any of the four settings; None if nothing."""
    traces, (trigger_on, reward_on) = instance(seed)
    labelled = label_traces(traces, trigger_on, reward_on)
    for objective in ("triggers", "states"):
        for acyclic in (True, False):
            truth = all_minimal(labelled, objective, acyclic=acyclic)
            most = 2 if seed % 3 == 0 else len(truth)
            few = 0 if seed % 2 else SMALL_ALPHABET  # labels, above which the engine knows only those of exemplars
            with mock.patch.object(exemplar_tree, "SMALL_ALPHABET", few):
                told = _wrong(traces, (trigger_on, reward_on), objective, acyclic, truth, most)
            if told:
                return f"{objective} {'acyclic' if acyclic else 'cyclic'} {trigger_on}/{reward_on}, {most}: {told}"
    return None


def _wrong(traces: Traces, kinds: Kinds, objective: str, acyclic: bool, truth: set[Moved], most: int) -> str:
    result = learn(
        traces,
        objective=objective,  # type: ignore[arg-type]
        acyclic=acyclic,
        trigger_on=kinds[0],
        reward_on=kinds[1],
        all=most,
        count_steps=True,
    )
    listed = result.all
    if listed is None:
        return f"{result.status}, nothing listed"
    found = {moves_of(machine) for machine in listed.machines}
    if len(found) != len(listed.machines) or not found <= truth or listed.machines[0] != result.machine:
        return f"lists {listed.machines}"
    if listed.complete != (len(truth) <= most) or listed.unique != (len(truth) == 1) or listed.stopped:
        return f"says {listed}, there are {len(truth)}"
    if len(found) != min(most, len(truth)) or listed.at_least != min(most + 1, len(truth)):
        return f"lists {len(found)} and says {listed}, there are {len(truth)}"
    if any(replay(machine, traces).mismatches for machine in listed.machines):
        return "a machine does not replay"
    return ""
