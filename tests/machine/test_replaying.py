"""Replaying a machine, against a plain Python replay."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any, cast

import numpy as np
import pytest
from instances import KINDS, Kinds, random_steps

import markovize
from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Traces
from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.machine.machine import Emission, RewardMachine, Trigger
from markovize.machine.replay import replay, run

pytestmark = pytest.mark.kernels


def random_machine(rng: np.random.Generator, traces: Traces, kinds: Kinds) -> RewardMachine:
    """Triggers on some labels of the data and on one that never occurs; rewards for some (u, label, u')."""
    states = int(rng.integers(1, 4))
    steps = [(e.observations[n], e.actions[n], e.observations[n + 1]) for e in traces for n in range(e.steps)]
    triggers: dict[Any, Trigger] = {}
    emissions: dict[Any, Emission] = {}
    for s, a, t in [*steps, ("never", "seen", "this")]:
        u, v, w = (int(x) for x in rng.integers(0, states, 3))
        on, pays = (labelling_of(kind).label((s, a, t)) for kind in kinds)
        if u != v and rng.random() < 0.5:
            triggers.setdefault((u, on), Trigger(u, on, v))
        emissions.setdefault((v, pays, w), Emission(v, pays, w, float(rng.integers(0, 2))))
    initial = int(rng.integers(0, states))
    return RewardMachine(*kinds, states, tuple(triggers.values()), tuple(emissions.values()), initial)


def plain_replay(machine: RewardMachine, traces: Traces, kinds: Kinds) -> tuple[list[int], list[Any], list[Any]]:
    delta = {(t.source, t.on): t.target for t in machine.triggers}
    known = {(e.source, e.on, e.target): e.reward for e in machine.rewards}
    after, unseen, wrong = [], [], []
    for number, e in enumerate(traces):
        u = machine.initial
        for n in range(e.steps):
            step = (e.observations[n], e.actions[n], e.observations[n + 1])
            v = delta.get((u, labelling_of(kinds[0]).label(step)), u)
            key = (u, labelling_of(kinds[1]).label(step), v)
            if key not in known:
                unseen.append((key[1], e.rewards[n]))
            elif known[key] != e.rewards[n]:
                wrong.append((number, n, known[key], e.rewards[n]))
            u = v
            after.append(u)
    return after, unseen, wrong


def usual_rewards(traces: Traces, kind: str) -> dict[Any, float]:
    """The commonest reward of each label; of equally common ones the one nearest to zero."""
    counts: dict[Any, Counter[float]] = defaultdict(Counter)
    for e in traces:
        for n in range(e.steps):
            label = labelling_of(kind).label((e.observations[n], e.actions[n], e.observations[n + 1]))
            counts[label][e.rewards[n]] += 1
    return {label: max(seen, key=lambda r: (seen[r], -abs(r), -r)) for label, seen in counts.items()}


@pytest.mark.parametrize("kinds", [*KINDS, ("transition", "state")])
@pytest.mark.parametrize("seed", range(12))
def test_against_a_plain_replay(kinds: Kinds, seed: int) -> None:
    rng = np.random.default_rng(seed)
    traces = random_steps(rng, kinds=kinds, episodes=5, length=6)
    machine = random_machine(rng, traces, kinds)
    after, unseen, wrong = plain_replay(machine, traces, kinds)
    assert run(machine, traces).after.tolist() == after
    report = replay(machine, traces)
    usual = usual_rewards(traces, kinds[1])
    assert report.to_json() == {
        "steps": traces.steps,
        "unseen": len(unseen),
        "mismatches": len(wrong),
        "unseen_paid": sum(reward != usual[label] for label, reward in unseen),
    }
    assert report.first_mismatch == (wrong[0] if wrong else None)
    assert len(unseen) + len(wrong) > 0, "a case that shows nothing"


def test_states_start_again_with_every_episode() -> None:
    machine = RewardMachine("state", "state", 3, (Trigger(2, 1, 0), Trigger(0, 1, 1)), initial=2)
    way = run(machine, Traces.of([([0, 1, 0, 1], [0] * 3, [0] * 3), ([0], [], []), ([0, 0, 1], [0] * 2, [0] * 2)]))
    assert way.before.tolist() == [2, 0, 0, 2, 2]
    assert way.after.tolist() == [0, 0, 1, 2, 0]


def test_a_learned_machine_replays_its_own_data_even_after_json() -> None:
    traces = random_steps(np.random.default_rng(1), episodes=8, length=6)
    machine = markovize.learn(traces).unwrap()
    again = RewardMachine.from_json(json.loads(json.dumps(machine.to_json())))
    assert replay(again, traces).to_json() == {
        "steps": traces.steps,
        "unseen": 0,
        "mismatches": 0,
        "unseen_paid": 0,
    }


def test_labels_meet_by_their_json_value() -> None:
    traces = Traces.of([([0, True, [1, 2.0], 3], ["a"] * 3, [0, 5, 7])])
    for on, state in ((True, 1), (1, 0)):
        assert run(RewardMachine("state", "state", 2, (Trigger(0, on, 1),)), traces).after.tolist() == [state] * 3
    pays = (Emission(0, True, 0, 0), Emission(0, (1.0, 2), 0, 5), Emission(0, cast(Value, np.int64(3)), 0, 7))
    machine = RewardMachine.from_json(RewardMachine("state", "state", 1, (), pays).to_json())
    assert replay(machine, traces).to_json() == {"steps": 3, "unseen": 0, "mismatches": 0, "unseen_paid": 0}


def test_nothing_to_replay() -> None:
    report = replay(RewardMachine("transition", "state", 2, (Trigger(0, (0, 0, 1), 1),)), Traces.of([([0], [], [])]))
    assert (report.steps, report.unseen, report.mismatches, report.first_mismatch) == (0, 0, 0, None)


def test_functions_must_be_given_where_they_were_used() -> None:
    traces = Traces.of([([0, 1, 2], ["a", "b"], [0, 1])])
    machine = RewardMachine("function", "function", 2, (Trigger(0, "odd", 1),), (Emission(1, "even", 1, 1.0),))
    parity = lambda _s, _a, t: "odd" if t % 2 else "even"  # noqa: E731
    assert replay(machine, traces, trigger_on=parity, reward_on=parity).unseen == 1
    with pytest.raises(InputError, match="pass it as trigger_on="):
        replay(machine, traces)
    with pytest.raises(InputError, match="pass it as reward_on="):
        replay(machine, traces, trigger_on=parity)
    with pytest.raises(InputError, match="reward_on is 'function'; it cannot be run with 'state' labels"):
        replay(machine, traces, trigger_on=parity, reward_on="state")
    plain = RewardMachine("state", "state", 1)
    assert replay(plain, traces, trigger_on="state").unseen == 2
    with pytest.raises(InputError, match="trigger_on is 'state'; it cannot be run with 'function' labels"):
        replay(plain, traces, trigger_on=parity)
