"""The Markov test against its plain definition, and the witnesses it shows."""

from __future__ import annotations

from itertools import combinations
from typing import Any, TypeVar

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.conflicts.check import check
from markovize.conflicts.report import CheckReport
from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Episode, Traces
from markovize.episodes.values import key_of
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine, Trigger

OBSERVATIONS = st.sampled_from([0, 1, True, "a"])
MACHINES = [
    RewardMachine("state", "state", 2, (Trigger(0, 1, 1),)),
    RewardMachine("state", "transition", 2, (Trigger(0, True, 1), Trigger(1, "a", 0)), initial=1),
    RewardMachine("transition", "state", 3, (Trigger(0, (0, 0, 1), 2), Trigger(2, (1, 1, 0), 1))),
]


T = TypeVar("T")


def exactly(n: int, values: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(values, min_size=n, max_size=n)


@st.composite
def some_traces(draw: st.DrawFn) -> Traces:
    out = []
    for _ in range(draw(st.integers(0, 4))):
        steps = draw(st.integers(0, 4))
        actions = draw(exactly(steps, st.sampled_from([0, 1])))
        rewards = draw(exactly(steps, st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.5])))
        out.append(Episode(draw(exactly(steps + 1, OBSERVATIONS)), actions, rewards))
    return Traces.of(out)


def named_steps(traces: Traces, machine: RewardMachine | None) -> list[tuple[Any, float, tuple[int, int]]]:
    """Each step's label as the definition has it, its reward and its place."""
    out = []
    for number, e in enumerate(traces):
        u = 0 if machine is None else machine.initial
        for n in range(e.steps):
            s, a, t = e.observations[n], e.actions[n], e.observations[n + 1]
            label: Any = (s, a, t)
            if machine is not None:
                v = u
                for trigger in machine.triggers:
                    if trigger.source == u and key_of(trigger.on) == key_of(
                        labelling_of(machine.trigger_on).label((s, a, t))
                    ):
                        v = trigger.target
                label, u = (u, labelling_of(machine.reward_on).label((s, a, t)), v), v
            out.append((key_of(label), float(e.rewards[n]), (number, n)))
    return out


def agrees_with_the_definition(report: CheckReport, steps: list[tuple[Any, float, tuple[int, int]]]) -> None:
    paid: dict[Any, set[float]] = {}
    for label, reward, _ in steps:
        paid.setdefault(label, set()).add(reward)
    conflicting = {label: rewards for label, rewards in paid.items() if len(rewards) > 1}
    assert report.markov == (not conflicting)
    assert report.conflicts == len(conflicting) == len(report.witnesses)
    assert report.steps == len(steps)
    shortest = []
    for witness in report.witnesses:
        key = key_of(witness.label)
        assert sorted(witness.rewards) == sorted(conflicting.pop(key)), "every reward once"
        places = list(zip(witness.episodes, witness.steps, strict=True))
        for place, reward in zip(places, witness.rewards, strict=False):
            assert (key, reward, place) in steps, "the rewards come in the order of the steps"
        lengths = [p[1] + q[1] for (a, r, p), (b, s, q) in combinations(steps, 2) if a == b == key and r != s]
        assert sum(witness.steps) == min(lengths), "there is a shorter witness"
        shortest.append(sum(witness.steps))
    assert shortest == sorted(shortest)


@settings(deadline=None)
@given(some_traces())
def test_is_the_reward_a_function_of_the_transition(traces: Traces) -> None:
    report = check(traces)
    assert report.episodes == len(traces)
    steps = named_steps(traces, None)
    agrees_with_the_definition(report, steps)
    labels = [label for label, _, _ in steps]
    assert report.comparable == sum(labels.count(label) > 1 for label in labels)
    assert report.testable == bool(report.conflicts or (steps and 2 * report.comparable >= len(steps)))
    for machine in MACHINES:
        settled = check(traces, machine)
        assert (settled.comparable, settled.testable) == (report.comparable, report.testable), "a matter of the data"


@pytest.mark.parametrize("machine", MACHINES)
@settings(deadline=None, max_examples=60)
@given(traces=some_traces())
def test_and_with_a_machine(machine: RewardMachine, traces: Traces) -> None:
    agrees_with_the_definition(check(traces, machine), named_steps(traces, machine))


def test_a_machine_can_settle_the_conflict() -> None:
    traces = Traces.of([([0, 2], ["a"], [0]), ([0, 1, 0, 2], ["a"] * 3, [0, 0, 1])])
    assert not check(traces).markov
    assert check(traces, MACHINES[0]).markov


def test_the_user_brings_the_labels() -> None:
    traces = Traces.of([([0, 2], ["a"], [0]), ([0, 1, 0, 2], ["a"] * 3, [0, 0, 1])])
    coffee = lambda _s, _a, t: t == 1  # noqa: E731
    machine = RewardMachine("function", "state", 2, (Trigger(0, True, 1),))
    assert check(traces, machine, trigger_on=coffee).markov
    with pytest.raises(InputError, match="pass it as trigger_on="):
        check(traces, machine)


def test_report_as_text_and_as_json() -> None:
    traces = Traces.of([([[0, 1], True], ["go"], [0.5]), ([[0, 1], True], ["go"], [2]), ([[0, 1], True], ["go"], [1])])
    report = check(traces)
    assert str(report.witnesses[0]) == "((0, 1), go, true) pays 0.5 or 2 or 1: episode 0 step 0, episode 1 step 0"
    assert report.to_json() == {
        "markov": False,
        "steps": 3,
        "episodes": 3,
        "conflicts": 1,
        "witnesses": [{"label": [[0, 1], "go", True], "rewards": [0.5, 2.0, 1.0], "episodes": [0, 1], "steps": [0, 0]}],
        "comparable": 3,
        "testable": True,
        "noise": {"labels": 1, "steps": 2},
        "history": {"labels": 0, "steps": 0},
        "repeated_histories": 3,
        "outside": 2,
    }


def test_rewards_compare_exactly() -> None:
    for second, markov in ((0.3, False), (0.1 + 0.2, True)):
        assert check(Traces.of([([0, 0], [0], [0.1 + 0.2]), ([0, 0], [0], [second])])).markov is markov
    assert check(Traces.of([([0, 0], [0], [0.0]), ([0, 0], [0], [-0.0])])).markov


def test_nothing_to_check() -> None:
    for traces in (Traces.of([]), Traces.of([([0], [], [])])):
        assert check(traces).markov
        assert not check(traces).testable
        assert check(traces, MACHINES[0]).to_json()["steps"] == 0


def test_numpy_labels_are_the_same_labels() -> None:
    traces = Traces.of([(np.array([0, 1]), [1.0], [0]), ([0.0, 1], np.array([1]), [1])])
    assert check(traces).conflicts == 1


def walk(name: str, steps: int) -> Traces:
    """Random actions in one of Gymnasium's own environments."""
    env = gymnasium.make(name)
    env.action_space.seed(0)
    episodes: list[Episode] = []
    while sum(episode.steps for episode in episodes) < steps:
        observations, actions, rewards = [env.reset(seed=len(episodes))[0]], [], []
        over = False
        while not over:
            actions.append(env.action_space.sample())
            observation, reward, terminated, truncated, _ = env.step(actions[-1])
            observations.append(observation)
            rewards.append(float(reward))
            over = terminated or truncated
        episodes.append(Episode(observations, actions, rewards, terminated, truncated))
    return Traces.of(episodes)


@pytest.mark.parametrize(("name", "testable"), [("MountainCar-v0", False), ("FrozenLake-v1", True), ("Taxi-v4", True)])
def test_no_conflict_says_nothing_where_steps_never_repeat(name: str, testable: bool) -> None:
    report = check(walk(name, 2_000))
    assert report.markov
    assert report.testable is testable


def test_a_conflict_is_an_answer_however_little_was_compared() -> None:
    report = check(Traces.of([(range(100), [0] * 99, [0] * 99), ([0, 1], [0], [1])]))
    assert (report.markov, report.comparable, report.testable) == (False, 2, True)
