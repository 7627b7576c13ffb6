"""A learner that keeps what it knows between calls, and searches that leave questions open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from markovize.episodes.traces import Traces
from markovize.errors import InputError
from markovize.learning.entry import learn
from markovize.learning.learner import Learner, LearnOptions
from markovize.learning.memory import MOST_GUESSED
from markovize.machine.replay import replay
from markovize.worlds import noisy_walks, world


def part(traces: Traces, episodes: int) -> Traces:
    return traces.select(range(episodes))


@pytest.mark.parametrize("objective", ["triggers", "states"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_warm_calls_find_what_cold_ones_find(objective: str, seed: int) -> None:
    traces = noisy_walks(world("office", task="c"), 120, np.random.default_rng(seed))
    learner = Learner(objective=objective, acyclic=True)  # type: ignore[arg-type]
    for episodes in (20, 60, 61, 120):
        data = part(traces, episodes)
        warm, cold = learner.learn(data), learn(data, objective=objective, acyclic=True)  # type: ignore[arg-type]
        assert (warm.status, warm.states, warm.triggers) == (cold.status, cold.states, cold.triggers)
        assert warm.machine is not None
        assert replay(warm.machine, data).mismatches == 0
    assert warm.states == 2


@pytest.mark.parametrize(("task", "share", "size"), [("b", 0.2, (3, 2)), ("c", 0.3, (5, 5))])
def test_with_a_tolerance_facts_are_of_these_rewards_only(task: str, share: float, size: tuple[int, int]) -> None:
    """Numbers of outcomes are the same, but not how far these are apart: a smaller machine does now."""
    apart = noisy_walks(world("breakfast", task=task), 60, np.random.default_rng(0))
    near = replace(apart, rewards=share * apart.rewards)
    options: LearnOptions = {"trigger_on": "state", "reward_on": "state", "tolerance": 0.1}
    learner = Learner(**options)
    first = learner.learn(apart)
    assert first.states is not None and first.states > size[0]
    for result in (learner.learn(near), learn(near, since=first, **options)):
        assert (result.status, result.states, result.triggers) == ("optimal", *size)


def test_new_rewards_do_not_confuse_a_warm_solver() -> None:
    """Outcomes are numbered by first appearance: a smaller reward that comes later must not renumber them."""
    first = [(["h", "c", "o"], ["g", "g"], [5, 1]), (["h", "h", "o"], ["s", "g"], [5, 2])]
    learner = Learner()
    assert learner.learn(first).states == 2
    more = [*first, (["h", "m", "o"], ["g", "g"], [5, 0]), (["h", "m", "h", "o"], ["g", "s", "g"], [5, 5, 0])]
    result = learner.learn(more)
    cold = learn(more)
    assert (result.states, result.triggers) == (cold.states, cold.triggers)
    assert replay(result.unwrap(), more).mismatches == 0


def test_other_episodes_start_from_nothing() -> None:
    learner = Learner()
    hard = noisy_walks(world("breakfast", task="c"), 80, np.random.default_rng(0))
    assert learner.learn(hard, effort=2_000).unwrap().states > 1
    easy = [(["h", "c", "o"], ["g", "g"], [0, 1]), (["h", "h", "o"], ["s", "g"], [0, 0])]
    assert learner.learn(easy).states == 2


def test_labels_are_refined_and_stay_so_as_long_as_the_episodes_go_on() -> None:
    learner = Learner()
    assert learner.learn([([0, 0], ["a"], [0])]).reward_on == "state"
    pair = [([0, 0], ["a"], [0]), ([0, 0], ["b"], [1])]
    assert learner.learn(pair).reward_on == "transition"
    assert learner.learn([*pair, ([0, 0], ["a"], [0])]).reward_on == "transition"
    assert learner.learn(pair[:1]).reward_on == "state"


def test_labels_that_other_episodes_refuted_are_tried_again() -> None:
    """The finer labels number the steps of both alike; only under the coarser ones are they other episodes."""
    learner = Learner(trigger_on=lambda *_step: "any", reward_on="auto")
    refuting = [([0, 1], ["left"], [0]), ([0, 1], ["right"], [1])]
    assert learner.learn(refuting).reward_on == "transition"
    assert learner.learn([([0, 1], ["left"], [0]), ([0, 2], ["right"], [1])]).reward_on == "state"


@pytest.mark.parametrize("task", ["d", "e", "loop"])
@pytest.mark.parametrize("acyclic", [True, False])
def test_little_effort_still_explains_everything(task: str, acyclic: bool) -> None:
    """Questions may be left open, but the machine must explain the data, and optimal must mean proven."""
    traces = noisy_walks(world("office", task=task), 300, np.random.default_rng(4))
    learner = Learner(acyclic=acyclic)
    for episodes in (100, 200, 300):
        data = part(traces, episodes)
        result = learner.learn(data, effort=200)
        assert result.status in ("optimal", "feasible")
        assert replay(result.unwrap(), data).mismatches == 0
        assert result.machine is not None
        assert not acyclic or result.machine.acyclic
        assert result.bounds[0] <= result.machine.states
        assert result.bounds[1] <= len(result.machine.triggers)


@pytest.mark.parametrize("acyclic", [True, False])
def test_what_was_proven_stays_proven(acyclic: bool) -> None:
    """Where questions are left open the next search starts anywhere, but never below what is known."""
    traces = noisy_walks(world("breakfast", task="c"), 80, np.random.default_rng(0))
    learner = Learner(acyclic=acyclic)
    before = 0
    for episodes in range(20, 81, 10):
        triggers = learner.learn(part(traces, episodes), effort=300).bounds[1]
        assert triggers >= before
        before = triggers
    assert before > 1


def test_effort_is_repeatable() -> None:
    traces = noisy_walks(world("office", task="d"), 300, np.random.default_rng(5))
    first, second = (Learner().learn(traces, effort=500) for _ in range(2))
    assert first.machine == second.machine


def test_bad_time_limits_are_refused() -> None:
    with pytest.raises(InputError, match="time limit"):
        Learner().learn([], time_limit=0)


def hard_walks(episodes: int) -> Traces:
    breakfast = world("breakfast", task="c", rewards="cumulative")
    return noisy_walks(breakfast, episodes, np.random.default_rng(0))


def test_a_machine_that_spells_out_the_episodes_is_no_guess() -> None:
    """The next search asked for machines with 1,746 states, which took all memory that there was."""
    learner, asked = Learner(trigger_on="state", reward_on="state"), set[int]()
    traces = hard_walks(101)
    assert learner.learn(part(traces, 100), effort=50).unwrap().states > 1_000
    again = learner.learn(traces, effort=50, on_progress=lambda progress: asked.add(progress.states))
    assert replay(again.unwrap(), traces).mismatches == 0
    assert 1 < max(asked) <= MOST_GUESSED


def test_a_question_that_stays_open_gets_more_effort_each_time() -> None:
    """What is proven once is never asked again: so the effort is no waste."""
    traces, spent = hard_walks(100), list[int]()
    learner = Learner(trigger_on="state", reward_on="state")
    for episodes in range(94, 100):
        learner.learn(part(traces, episodes), effort=30)
        spent.append(learner._memory.facts.experience.looks_open)
    assert spent == [1, 2, 3, 4, 5, 6]
    floors = learner._memory.facts.proven_by_look.floors
    fresh = Learner(trigger_on="state", reward_on="state")
    fresh.learn(part(traces, 99), effort=30)
    before = fresh._memory.facts.proven_by_look.floors
    assert floors.next_question("states") > before.next_question("states")
