"""Episodes in the numbers of the search for guards."""

from __future__ import annotations

import numpy as np
import pytest
from guard_problems import draw_problem

from markovize import Traces
from markovize.episodes.features import extract_features
from markovize.episodes.labelled_steps import label_traces
from markovize.learning.guards.problem import pose_guards


def test_values_become_ranks() -> None:
    seen = [{"x": 0.5, "here": "b"}, {"x": 2.5, "here": "a"}, {"x": 0.25, "here": "b"}, {"x": 2.5, "here": "b"}]
    traces = Traces.of([(seen, ["go"] * 3, [7, 0, 7])])
    steps = label_traces(traces, lambda *_: 0, lambda *_: 0)
    problem = pose_guards(steps, extract_features(traces), finds_reward_guards=True)
    assert [feature.name for feature in problem.table.features] == ["here", "x"]
    assert [codes.tolist() for codes in problem.codes] == [[0, 1, 1], [1, 0, 1]]
    assert problem.ranked[1].tolist() == [0.25, 2.5]
    assert [problem.row(step) for step in range(3)] == [(0, 1), (1, 0), (1, 1)]
    assert problem.row_of.tolist() == [0, 1, 2]
    assert (problem.outcomes.tolist(), problem.n_outcomes, problem.n_labels) == ([0, 1, 0], 2, 1)
    assert (problem.depth.tolist(), problem.episode_of.tolist()) == ([0, 1, 2], [0, 0, 0])


@pytest.mark.parametrize("seed", range(30))
def test_steps_with_equal_features_so_far(seed: int) -> None:
    problem = draw_problem(np.random.default_rng(seed))
    first: dict[tuple[tuple[int, ...], ...], int] = {}
    wanted = []
    for step in range(problem.steps):
        begin = int(problem.offsets[problem.episode_of[step]])
        history = tuple(problem.row(n) for n in range(begin, step + 1))
        wanted.append(first.setdefault(history, step))
    assert problem.first_alike().tolist() == wanted


def test_only_labels_with_several_outcomes_matter() -> None:
    traces = Traces.of([([0.5, 1.5, 2.5, 3.5], ["a", "b", "a"], [0, 1, 2])])
    steps = label_traces(traces, lambda *_: 0, lambda _s, action, _t: action)
    problem = pose_guards(steps, extract_features(traces), finds_reward_guards=False)
    assert problem.matters.tolist() == [True, False, True]
