"""From a candidate to a machine: names for codes, gaps for thresholds, numbers for states, rewards from a replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from markovize.episodes.allowance import EXACT
from markovize.episodes.columns import Floats
from markovize.episodes.features import Feature, Guard, Literal
from markovize.episodes.features.function import FeatureFunction
from markovize.episodes.labelled_steps import LabelledSteps
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.traces import Traces
from markovize.learning.assembly import TerminationConflict, collect_rewards, number_states
from markovize.learning.guards.candidate import Bound, Box, Candidate
from markovize.learning.guards.judge import AnyJudge
from markovize.learning.guards.polish import Room
from markovize.machine.machine import RewardMachine, Trigger
from markovize.machine.replay import run


def assemble_guards(
    traces: Traces,
    steps: LabelledSteps,
    candidate: Candidate,
    judge: AnyJudge[Any],
    rooms: Mapping[tuple[int, Bound], Room],
    function: FeatureFunction | None,
) -> tuple[RewardMachine, tuple[TerminationConflict, ...]]:
    """The machine, replayed on all episodes by code of its own: an error if it does not explain them."""
    guards = [_guard(judge, row, box, rooms) for row, box in enumerate(candidate.boxes)]
    trial = judge.try_out(candidate)
    edges = [(move.source, move.target) for move in candidate.moves]
    name = number_states(candidate.states, edges, trial.way.after)
    moves = zip(candidate.moves, guards, strict=False)
    triggers = [Trigger(int(name[move.source]), guard, int(name[move.target])) for move, guard in moves]
    finds = judge.problem.finds_reward_guards
    bare = RewardMachine(
        GUARDS,
        GUARDS if finds else steps.rewards.kind,
        candidate.states,
        _in_order(triggers),
        features=_features(judge, guards),
        reward_guards=tuple(sorted(guards[len(triggers) :])),
    )
    if finds:
        way = run(bare, traces, features=function)
        steps = replace(steps, rewards=way.reward_labels)
    else:
        way = run(replace(bare, reward_on=GUARDS), traces, features=function)
    allowance = EXACT if judge.problem.pays is None else judge.problem.pays.allowance
    rewards, ends = collect_rewards(traces, steps, way.before, way.after, candidate.states, allowance)
    return replace(bare, rewards=rewards), ends


def _features(judge: AnyJudge[Any], guards: list[Guard]) -> tuple[Feature, ...]:
    """Those that the guards speak of, in the order of the episodes."""
    used = {literal.feature for guard in guards for literal in guard}
    return tuple(feature for feature in judge.problem.table.features if feature.name in used)


def _guard(judge: AnyJudge[Any], row: int, box: Box, rooms: Mapping[tuple[int, Bound], Room]) -> Guard:
    return Guard([_literal(judge, bound, rooms.get((row, bound))) for bound in box])


def _literal(judge: AnyJudge[Any], bound: Bound, room: Room | None) -> Literal:
    table, values = judge.problem.table, judge.problem.ranked[bound.feature]
    name = table.features[bound.feature].name
    if bound.side == "is":
        return Literal(name, "is", table.values[bound.feature][bound.code])
    if room is None:  # there was no time to look
        room = Room(bound.code, bound.code)
    # a literal that could be dropped, which only a search that was stopped leaves, has room beyond all values
    low, high = float(values[max(room.low - 1, 0)]), float(values[min(room.high, len(values) - 1)])
    middle = low + (high - low) / 2
    if not (low < middle and int(values.searchsorted(middle)) == bound.code):
        # another value lies between the middle and the bound, which moving other bounds has pushed aside
        middle = _threshold(values, bound.code)
    return Literal(name, bound.side, middle, (min(low, middle), max(high, middle)))


def _threshold(values: Floats, code: int) -> float:
    """A number above all values before this one, and not above it: in the middle, if there is one."""
    if code == 0:
        return float(values[0])
    if code == len(values):
        return float(np.nextafter(values[-1], np.inf))
    low, high = float(values[code - 1]), float(values[code])
    middle = low + (high - low) / 2
    return middle if low < middle <= high else high


def _in_order(triggers: list[Trigger]) -> tuple[Trigger, ...]:
    """As files list them; on the data it does not matter which of several comes first."""
    return tuple(sorted(triggers, key=lambda t: (t.source, t.target, t.on.text() if isinstance(t.on, Guard) else "")))
