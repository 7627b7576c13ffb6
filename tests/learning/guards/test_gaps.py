"""Every threshold in its gap explains the data, and none outside does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from guard_oracle import Instance, draw_instance
from guard_problems import problem_of

from markovize import Guard, Learner, Literal, RewardMachine, Traces, check, learn, replay
from markovize.episodes.features import Relation, tabulate_features
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.guards import judge
from markovize.learning.guards.assembly import assemble_guards
from markovize.learning.guards.candidate import Bound, Candidate
from markovize.learning.guards.judge import Judge
from markovize.learning.guards.polish import find_rooms
from markovize.learning.limits import Limits
from markovize.machine.replay import run


def explains(machine: RewardMachine, traces: Traces) -> bool:
    """Whether no cell is paid differently, and no two triggers of a state with other targets ever hold at once."""
    if check(traces, machine).conflicts:
        return False
    table, before = tabulate_features(traces, machine.features), states_before(machine, traces)
    for first in machine.triggers:
        for second in machine.triggers:
            if first.source == second.source and first.target != second.target:
                assert isinstance(first.on, Guard) and isinstance(second.on, Guard)
                if np.any(table.holds(first.on) & table.holds(second.on) & (before == first.source)):
                    return False
    return True


def states_before(machine: RewardMachine, traces: Traces) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.asarray(run(machine, traces).before)


def with_threshold(machine: RewardMachine, old: Literal, owner: Guard, value: float) -> RewardMachine:
    """The machine with one threshold moved, in this guard."""

    def moved(guard: Guard) -> Guard:
        if guard is not owner:
            return guard
        return Guard([replace(literal, value=value, gap=None) if literal is old else literal for literal in guard])

    triggers = tuple(replace(trigger, on=moved(trigger.on)) for trigger in machine.triggers)  # type: ignore[arg-type]
    return replace(machine, triggers=triggers, reward_guards=tuple(map(moved, machine.reward_guards)), rewards=())


def guards_of(machine: RewardMachine) -> list[Guard]:
    return [*(trigger.on for trigger in machine.triggers), *machine.reward_guards]  # type: ignore[list-item]


@pytest.mark.parametrize("seed", range(40))
def test_inside_and_outside(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # the ends of rooms are looked for in several turns, as where there are thousands of values
        monkeypatch.setattr(judge, "NEAR_CODES", 1)
        monkeypatch.setattr(judge, "WIDER", 2)
    rng = np.random.default_rng(seed)
    traces = draw_instance(rng).traces()
    machine = learn(traces, trigger_on="guards", before=False, count_steps=True).unwrap()
    for guard in guards_of(machine):
        for literal in guard:
            if literal.gap is None:
                continue
            low, high = literal.gap
            assert low < literal.threshold <= high
            others = {other.relation: other.threshold for other in guard if other.feature == literal.feature}
            for value in (*rng.uniform(low, high, 3).tolist(), high):
                if not fits(literal, value, others):
                    continue
                assert explains(with_threshold(machine, literal, guard, value), traces)
            for value in (low - 1e-9, high + 1e-9):
                if fits(literal, value, others):
                    assert not explains(with_threshold(machine, literal, guard, value), traces)


def fits(literal: Literal, value: float, others: Mapping[Relation, float]) -> bool:
    """Whether the guard still has an interval, which guards insist on."""
    if literal.relation == "at_least":
        return value < others.get("below", np.inf)
    return value > others.get("at_least", -np.inf)


@pytest.mark.parametrize("effort", [1, 20])
def test_machines_of_searches_that_were_stopped_have_gaps_around_their_thresholds(effort: int) -> None:
    for seed in range(40):
        traces = draw_instance(np.random.default_rng(seed)).traces()
        result = Learner(trigger_on="guards", before=False).learn(traces, effort=effort)
        if result.machine is None:
            continue
        assert replay(result.machine, traces).mismatches == 0
        for literal in (literal for guard in guards_of(result.machine) for literal in guard if literal.gap):
            assert literal.gap is not None and literal.gap[0] <= literal.threshold <= literal.gap[1]


@pytest.mark.parametrize("code", [0, 1, 2, 3])
@pytest.mark.parametrize("side", ["at_least", "below"])
def test_a_literal_that_could_be_dropped_has_room_beyond_all_values(side: str, code: int) -> None:
    instance = Instance((True,), [[((0.5,), 1.0), ((1.5,), 1.0), ((2.5,), 1.0)]])
    traces, problem = instance.traces(), problem_of(instance)
    judge, candidate = Judge(problem), Candidate((), ((Bound(0, side, code),),))  # type: ignore[arg-type]
    steps = label_traces(traces, lambda *_: 0, lambda *_: 0)
    for rooms in (find_rooms(candidate, judge, Limits()), {}):
        machine, _ = assemble_guards(traces, steps, candidate, judge, rooms, None)
        held = tabulate_features(traces, machine.features).holds(machine.reward_guards[0])
        assert held.tolist() == judge.holds(candidate.boxes[0]).tolist()
