"""Short runs whose course is known to the step: the same compiled, and run by Python where nothing is compiled.

``make coverage`` runs what is marked ``kernels`` a second time without compilation, where the kernels' own lines can be
seen. That the same numbers come out says that compiling changes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium as gym
import pytest

from markovize import ActiveLearner, Settings

TRANSITIONS = {"trigger_on": "transition", "reward_on": "transition"}


class Course(NamedTuple):
    """How a run went: the machine's size, how often one was searched for, all steps and all rewards."""

    states: int
    triggers: int
    solves: int
    steps: int
    rewards: float


class Run(NamedTuple):
    """A run, and its course in the world's tables and stepped through Gymnasium."""

    world: str
    options: dict[str, Any]
    mode: str
    changes: dict[str, Any]
    table: Course
    stepped: Course


def same(course: Course) -> tuple[Course, Course]:
    return course, course


RUNS = [
    Run(
        "BreakfastWorld",
        {"task": "b"},
        "directed",
        {"episodes": 60},
        Course(5, 4, 8, 1587, 161.7),
        Course(5, 4, 6, 1371, 174.7),
    ),
    Run(
        "BreakfastWorld",
        {"task": "b", "rewards": "cumulative"},
        "directed",
        {"episodes": 40, "acyclic": True},
        Course(5, 4, 16, 1497, 37.1),
        Course(5, 4, 16, 1481, 36.4),
    ),
    Run(
        "BreakfastWorld",
        {"task": "b"},
        "q-learning",
        {"episodes": 100, "crm": True, "shaping": True},
        *same(Course(4, 4, 3, 3666, 189.1)),
    ),
    Run("OfficeWorld", {"task": "c"}, "q-learning", {"episodes": 60, "keep": 60}, *same(Course(1, 0, 0, 3227, -13.0))),
    Run(
        "BreakfastWorld",
        {"task": "b"},
        "paper",
        {"episodes": 100, "patience": 10, "max_wait": 40},
        *same(Course(4, 3, 1, 5920, 17.3)),
    ),
    Run("BeachWorld", {"levels": 3}, "directed", {"episodes": 40, **TRANSITIONS}, *same(Course(4, 3, 2, 684, 87.1))),
]


def course_of(run: Run, *, compiled: bool) -> Course:
    env = gym.make(f"markovize/{run.world}-v0", max_episode_steps=60, **run.options)
    result = ActiveLearner(env, Settings.of(run.mode, seed=1, **run.changes), compiled=compiled).run()
    triggers, solves, rewards = len(result.machine.triggers), len(result.solves), float(result.returns.sum())
    return Course(result.machine.states, triggers, solves, int(result.lengths.sum()), round(rewards, 9))


@pytest.mark.kernels
@pytest.mark.parametrize("number", range(len(RUNS)))
def test_a_run_in_the_tables_of_a_world(number: int) -> None:
    assert course_of(RUNS[number], compiled=True) == RUNS[number].table


@pytest.mark.kernels
@pytest.mark.parametrize("number", range(len(RUNS)))
def test_the_same_stepped(number: int) -> None:
    assert course_of(RUNS[number], compiled=False) == RUNS[number].stepped
