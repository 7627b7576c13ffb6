"""Machines by merging states: what is found explains all of the data, and is the true machine where there is much."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import markovize
from markovize.episodes.allowance import Allowance
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.greedy import shrink
from markovize.learning.judge import Judge, size
from markovize.learning.limits import Limits
from markovize.learning.prefix_tree import build_tree
from markovize.learning.state_merging import merge_states


def harvests(episodes: int, seed: int) -> markovize.Traces:
    """Episodes that mostly do what pays, and now and then anything."""
    env, rng = gymnasium.make("markovize/HarvestWorld-v0"), np.random.default_rng(seed)
    found: list[Any] = []
    for _ in range(episodes):
        observations, actions, rewards = [int(env.reset(seed=int(rng.integers(2**31)))[0])], [], []
        for _ in range(20):
            right = min(3, env.unwrapped.machine_state)  # type: ignore[attr-defined]
            actions.append(int(rng.integers(4)) if rng.random() < 0.3 else int(right))
            observation, reward, *_ = env.step(actions[-1])
            observations.append(int(observation))
            rewards.append(float(reward))
        found.append((observations, actions, rewards))
    return markovize.Traces.of(found)


def judge_of(traces: markovize.Traces, tolerance: float) -> Judge:
    steps = label_traces(traces, "transition", "transition")
    return Judge(build_tree(steps, Allowance(tolerance))[0])


def test_a_machine_with_far_more_triggers_than_a_search_would_find() -> None:
    """The true one has six states and 189 triggers, of which these episodes show some."""
    judge = judge_of(harvests(100, seed=0), 0.4)
    found = merge_states(judge, Limits())
    assert found is not None
    assert judge.explains(found)
    assert size(found)[0] < 20
    assert size(found)[1] > 40
    assert 4 <= size(shrink(found, judge, acyclic=False, limits=Limits(work=20)))[0] <= 20


@pytest.mark.parametrize("seed", range(5))
def test_what_is_found_explains_little_data_too(seed: int) -> None:
    judge = judge_of(harvests(4, seed), 0.4)
    found = merge_states(judge, Limits())
    assert found is not None
    assert judge.explains(found)


def test_what_it_leaves_to_others() -> None:
    traces = harvests(4, seed=0)
    outliers = build_tree(label_traces(traces, "transition", "transition"), Allowance(0.4, 1))[0]
    assert merge_states(Judge(outliers), Limits()) is None
    ambiguous = build_tree(label_traces(traces, "transition", "state"), Allowance(0.4))[0]
    assert merge_states(Judge(ambiguous), Limits()) is None


def test_words_without_noise_are_merged_to_about_as_many_states_as_label_them() -> None:
    """Whether a word has a number of a's that three divides: too many triggers for the repair of conflicts."""
    rng = np.random.default_rng(0)
    drawn = sorted({"".join(rng.choice(["a", "b"], size=rng.integers(0, 9))) for _ in range(200)})
    words = markovize.Traces.of(
        [(["^", *w, "$"], [0] * (len(w) + 1), [0] * len(w) + [int(w.count("a") % 3 == 0)]) for w in drawn]
    )
    judge = Judge(build_tree(label_traces(words, "state", "state"))[0])
    found = merge_states(judge, Limits())
    assert found is not None and judge.explains(found) and size(found) == (3, 3)
