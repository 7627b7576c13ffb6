"""What a result of learning must be, by exhaustive search."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias
from unittest import mock

import numpy as np

from markovize.episodes.labelled_steps import label_traces
from markovize.episodes.labelling import LabelOn
from markovize.episodes.traces import Traces
from markovize.errors import InputError
from markovize.learning import comparison, inquiry, search
from markovize.learning.engines.exhaustive import exhaustive_optimum
from markovize.learning.result import LearnResult
from markovize.machine.replay import replay

Cell: TypeAlias = dict[str, Any]
"""One episode, in the JSONL form."""


def own_label(_state: Any, action: Any, next_state: Any) -> Any:
    """A user's own label: coarser than a transition, neither coarser nor finer than a state."""
    return [action, next_state if isinstance(next_state, int) and next_state % 2 else 0]


Pair: TypeAlias = tuple[LabelOn, LabelOn]
"""(trigger, reward)."""

LABELS: dict[str, list[Pair]] = {
    "auto": [("state", "state"), ("state", "transition"), ("transition", "transition")],
    "own triggers": [(own_label, "state"), (own_label, "transition")],
    "state": [("state", "state")],
    "mixed": [("state", "transition")],
    "transition": [("transition", "transition")],
    "source": [("source", "transition")],
    "coarse rewards": [("transition", "state")],  # u' is not fixed by u and the reward label
    "own": [(own_label, "transition")],
}
"""The pairs of which a learner takes the first that does, from coarse to fine."""
COMPARED: dict[str, list[Pair]] = {
    "auto": [
        ("state", "state"),
        ("state", "transition"),
        ("source", "state"),
        ("source", "transition"),
        ("transition", "transition"),
    ],
}
"""The pairs that it compares where the first that does needs many states, from coarse to fine."""


@dataclass(frozen=True)
class Options:
    """How a learner is made."""

    objective: Literal["triggers", "states"] = "triggers"
    labels: str = "auto"
    explain: Literal["reward", "reward+termination"] = "reward"
    acyclic: bool = False
    small: int = 8  # states, up to which the machine of the coarsest labels is kept
    budget: int = 10_000  # of work, after which the other labels get their turn
    takes_all: bool = False  # whether questions without a count are put to all the data, however few
    cores: int | None = None  # that questions use, all of which are cut into cubes then

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Inside, the learner compares as these options have it."""
        with (
            mock.patch.object(comparison, "SMALL", self.small),
            mock.patch.object(comparison, "BUDGET", self.budget),
            mock.patch.object(inquiry, "FEW_NODES", 0 if self.takes_all else inquiry.FEW_NODES),
            mock.patch.object(search, "CUT", 0 if self.cores else search.CUT),
            mock.patch.object(search, "LEAST_CUT", 0 if self.cores else search.LEAST_CUT),
        ):
            yield

    def arguments(self) -> dict[str, Any]:
        asked: dict[str, Pair] = {"auto": ("auto", "auto"), "own triggers": (own_label, "auto")}
        pair = asked.get(self.labels, LABELS[self.labels][0])
        return {
            "objective": self.objective,
            "trigger_on": pair[0],
            "reward_on": pair[1],
            "explain": self.explain,
            "acyclic": self.acyclic,
            "cores": self.cores,
        }


def episodes_of(episodes: list[Cell]) -> Traces:
    return Traces.of(episodes)


WORLDS = (2, 3, 5, 17, 29, 33, 34, 37, 49, 59, 19, 8)  # the last two need two states or one, the others up to four


def paid_by_machine(seed: int, number: int, like: list[Cell] | None = None) -> list[Cell]:
    """Short random walks over three observations, paid by one of a few machines."""
    rng = np.random.default_rng(seed)
    world = int(like[0]["world"]) if like else int(rng.choice(WORLDS))
    out: list[Cell] = []
    for _ in range(number):
        steps = int(rng.integers(1, 5))
        seen = rng.integers(0, 3, steps + 1).tolist()
        moves = rng.integers(0, 2, steps).tolist()
        out.append(
            {
                "world": world,
                "observations": seen,
                "actions": moves,
                "rewards": _paid(world, seen, moves),
                "terminated": bool(rng.random() < 0.3),
                "truncated": bool(rng.random() < 0.3),
            }
        )
    return out


def _paid(world: int, seen: list[int], moves: list[int]) -> list[float]:
    table = np.random.default_rng(1000 + world)
    states = 2 + world % 2
    delta, pay = table.integers(0, states, (states, 3)), table.integers(0, 2, (states, 3, 2))
    u, out = 0, []
    for target, move in zip(seen[1:], moves, strict=True):
        out.append(float(pay[u, target, move if world % 3 == 0 else 0]))
        u = int(delta[u, target])
    return out


def check(result: LearnResult, episodes: list[Cell], options: Options, stopped: str = "") -> None:
    """Raises if the result is not true of these episodes; ``stopped``: by what the search may have ended early."""
    key = _key(episodes)
    optima = {pair: best for pair in _pairs(options) if (best := truth(key, pair, options)) is not None}
    coarsest = next((pair for pair in LABELS[options.labels] if pair in optima), None)
    if coarsest is None:
        assert result.status == "unrealisable", result
        assert result.machine is None
        return
    assert result.status in ("optimal", "feasible", "unknown"), result
    assert result.status != "unknown" or result.interrupted or result.machine is None
    labels = next(pair for pair in optima if kinds(pair) == (result.trigger_on, result.reward_on))
    if stopped == "effort":
        assert labels == coarsest
    elif not stopped and not result.interrupted and options.budget:
        assert labels == smallest(optima, coarsest, options)
    check_machine(result, episodes, options, labels, optima[labels])


def check_machine(
    result: LearnResult, episodes: list[Cell], options: Options, labels: Pair, best: dict[str, tuple[int, int]]
) -> None:
    """Raises if what is said of machines with these labels is not true; ``best`` is the optimum by each objective."""
    optimum = best[options.objective]
    if result.status == "optimal":
        assert (result.states, result.triggers) == result.bounds == optimum, (result, optimum)
    else:
        least = best["states"][0], best["triggers"][1]
        assert result.bounds == optimum or (result.bounds[0] <= least[0] and result.bounds[1] <= least[1]), (
            result,
            best,
        )
    if result.machine is not None:
        trigger_on, reward_on = (on if callable(on) else None for on in labels)
        report = replay(result.machine, Traces.of(episodes), trigger_on=trigger_on, reward_on=reward_on)
        assert (report.mismatches, report.unseen) == (0, 0), result
        assert not options.acyclic or result.machine.acyclic
        assert options.explain == "reward" or not result.termination_conflicts
        ours = len(result.machine.triggers), result.machine.states
        if options.objective == "states":
            ours = ours[1], ours[0]
            assert ours >= optimum
        else:
            assert ours >= (optimum[1], optimum[0])


def _key(episodes: list[Cell]) -> str:
    return json.dumps([{name: value for name, value in episode.items() if name != "world"} for episode in episodes])


def _pairs(options: Options) -> list[Pair]:
    return COMPARED.get(options.labels, LABELS[options.labels])


def kinds(pair: Pair) -> tuple[str, ...]:
    return tuple("function" if callable(on) else str(on) for on in pair)


def smallest(optima: dict[Pair, dict[str, tuple[int, int]]], coarsest: Pair, options: Options) -> Pair:
    """The labels to take: the coarsest, unless their machine is large and others have a smaller one."""

    def order(pair: Pair) -> tuple[int, ...]:
        states, triggers = optima[pair][options.objective]
        return (states, triggers) if options.objective == "states" else (triggers, states)

    if order(coarsest)[0] <= options.small:
        return coarsest
    return min([coarsest, *optima], key=order)  # the first of equals


@cache
def truth(episodes: str, labels: Pair, options: Options) -> dict[str, tuple[int, int]] | None:
    """The optimum by each objective under these labels; None if no machine explains the episodes."""
    steps = label_traces(Traces.of(json.loads(episodes)), *labels, options.explain)
    try:
        both: tuple[Literal["states"], Literal["triggers"]] = ("states", "triggers")
        return {objective: exhaustive_optimum(steps, objective, options.acyclic) for objective in both}
    except InputError:  # unrealisable under these labels
        return None
