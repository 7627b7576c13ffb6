"""Records of trials: they say what happened, survive a file, and are the same in every repetition."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from finished import beach, breakfast, cumulative, finish, lake, office

from markovize.errors import InputError
from markovize.experiments import Task, Trial
from markovize.experiments.execute.tabular import record_run
from markovize.experiments.records import Finished, TrialRecord, TrialTimings
from markovize.machine.machine import Emission, RewardMachine, Trigger
from markovize.machine.matching import match
from markovize.pictures.world.plan import GridView, view_of

KINDS: list[Callable[[], Finished]] = [breakfast, cumulative, office, beach, lake]


@pytest.mark.parametrize("make", KINDS)
def test_records_survive_a_file(make: Callable[[], Finished]) -> None:
    record, timings = make()
    assert TrialRecord.from_json(json.loads(json.dumps(record.to_json()))) == record
    assert TrialTimings.from_json(json.loads(json.dumps(timings.to_json()))) == timings


@pytest.mark.parametrize("make", KINDS)
def test_the_episode_is_what_the_last_policy_does(make: Callable[[], Finished]) -> None:
    record, _ = make()
    episode, u = record.episode, record.machine.initial
    assert sum(step.reward for step in episode.steps) == pytest.approx(record.final_return)
    for step in episode.steps:
        v = record.machine.step(u, step.label)
        assert v == step.state
        if step.fired is None:
            assert u == v
        else:
            trigger = record.machine.triggers[step.fired]
            assert (trigger.source, trigger.on, trigger.target) == (u, step.label, v)
        u = v


def test_episodes_that_end_and_episodes_that_are_cut() -> None:
    assert breakfast()[0].episode.terminated
    cut, _ = finish("markovize/OfficeWorld-v0", "e", task="e", episodes=5, max_steps=4)
    assert not cut.episode.terminated
    assert len(cut.episode.steps) == 4


def test_actions_have_names_where_the_world_names_them() -> None:
    assert {step.action for step in breakfast()[0].episode.steps} <= {"up", "right", "down", "left", "stay"}
    assert {step.action for step in lake()[0].episode.steps} <= {"0", "1", "2", "3"}


@pytest.mark.parametrize("make", KINDS)
def test_curves_start_at_one_and_end_with_the_result(make: Callable[[], Finished]) -> None:
    record, timings = make()
    curve = record.curve
    assert (curve.episode[0], curve.episode[-1]) == (1, record.reported)
    assert list(curve.episode) == sorted(set(curve.episode))
    assert len(curve.episode) <= 201
    assert (curve.states[-1], curve.exemplars[-1], curve.triggers[-1]) == (
        record.states,
        record.exemplars,
        record.triggers,
    )
    assert list(timings.curve) == sorted(timings.curve)
    assert timings.curve[-1] == pytest.approx(timings.solve_seconds, abs=1e-5)
    assert timings.solve_seconds <= timings.seconds


def test_points_are_those_of_the_published_curves() -> None:
    record, _ = finish("markovize/BreakfastWorld-v0", "b", mode="q-learning", episodes=10_000)
    assert record.curve.episode[:4] == (1, 50, 100, 150)
    assert len(record.curve.episode) == 201


def test_mean_returns_are_of_the_last_hundred_episodes_waiting_included() -> None:
    import markovize

    settings = markovize.Settings.of("paper", episodes=300, max_wait=20_000, seed=3)
    env = gym.make("markovize/OfficeWorld-v0", task="e")
    result = markovize.ActiveLearner(env, settings).run()
    record, _ = record_run(Trial("x", Task("e", "markovize/OfficeWorld-v0"), 3), env, result)
    assert record.waited == result.episodes - 300 > 0
    assert record.reported == 300
    for point, mean in zip(record.curve.episode, record.curve.mean_return, strict=True):
        end = record.waited + point
        assert mean == pytest.approx(float(result.returns[max(0, end - 100) : end].mean()))


def test_repetitions_are_the_same_but_for_the_clock() -> None:
    first, second = (finish("markovize/BreakfastWorld-v0", "b full", seed=0, episodes=200) for _ in range(2))
    assert json.dumps(first[0].to_json()) == json.dumps(second[0].to_json())
    assert "seconds" not in json.dumps(
        {name: value for name, value in first[0].to_json().items() if name != "settings"}
    )


def changed(**fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(json.dumps(breakfast()[0].to_json()))
    return known | fields


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "is a JSON object, not list; run the trial again"),
        (lambda: changed(colour=1), 'has no field "colour".*run the trial again'),
        (lambda: {k: v for k, v in changed().items() if k != "seed"}, 'lacks the field "seed".*run the trial again'),
        (lambda: changed(seed="0"), "field \"seed\" must not be '0'"),
        (lambda: changed(episodes=True), 'field "episodes" must not be True'),
        (lambda: changed(machine={"format": "other"}), '"format" must be'),
        (lambda: changed(curve=changed()["curve"] | {"states": [1]}), "must have equal lengths"),
        (lambda: changed(curve=changed()["curve"] | {"states": 1}), 'field "states" must be a list'),
        (lambda: changed(episode=changed()["episode"] | {"steps": [{}]}), "a step lacks the field"),
        (lambda: changed(view={"width": 3}), "a view has other fields"),
        (lambda: changed(view=changed()["view"] | {"cells": [[1]]}), "a view has other fields"),
    ],
)
def test_what_is_not_a_record_is_refused(data: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        TrialRecord.from_json(data() if callable(data) else data)


def test_timings_are_checked_too() -> None:
    with pytest.raises(InputError, match="a trial's timings lacks the field"):
        TrialTimings.from_json({"seconds": 1.0})


@pytest.mark.parametrize("task", ["b", "e"])
def test_walls_stand_where_moves_are_blocked(task: str) -> None:
    env = gym.make("markovize/OfficeWorld-v0", task=task)
    view = view_of(env)
    assert isinstance(view, GridView)
    grid, walls = env.unwrapped.world.grid, set(view.walls)  # type: ignore[attr-defined]
    for cell, (x, y) in enumerate(grid.cells):
        sides = ((x, y + 1, x + 1, y + 1), (x + 1, y, x + 1, y + 1), (x, y, x + 1, y), (x, y, x, y + 1))
        for action, side in enumerate(sides):  # up, right, down, left
            assert (grid.moves[cell, action] == cell) == (side in walls)
    assert not walls & set(view.doors)
    assert (view.name_of((8, 2)), view.name_of((4, 1)), view.name_of((0, 0))) == ("coffee", "plant", None)


def test_worlds_without_a_map_have_no_view() -> None:
    assert beach()[0].view is None
    assert lake()[0].view is None


# --- learned and true machines --------------------------------------------------------------------------------------

TRUE = RewardMachine(
    "state", "state", 3, (Trigger(0, "a", 1), Trigger(1, "b", 2)), (Emission(2, "c", 2, 1.0), Emission(0, "c", 0, 0.0))
)


def learned(*triggers: Trigger, states: int = 3, rewards: tuple[Emission, ...] = ()) -> RewardMachine:
    return RewardMachine("state", "state", states, triggers, rewards)


def test_other_numbers_and_listed_alternatives_make_no_difference() -> None:
    found = match(learned(Trigger(0, "x", 2, ("y", "a")), Trigger(2, "b", 1)), TRUE)
    assert found.equal
    assert found.states == ((0, 0), (1, 2), (2, 1))


def test_an_exact_label_comes_before_an_alternative() -> None:
    found = match(learned(Trigger(0, "x", 2, ("a",)), Trigger(0, "a", 1), Trigger(1, "b", 2)), TRUE)
    assert found.same == ((1, 0), (2, 1))
    assert (found.extra, found.missing) == ((0,), ())


def test_triggers_that_lead_elsewhere_differ() -> None:
    found = match(learned(Trigger(0, "a", 1), Trigger(1, "b", 0), states=2), TRUE)
    assert (found.same, found.extra, found.missing) == (((0, 0),), (1,), (1,))
    assert not found.equal


def test_wrong_rewards_are_contradictions_and_unseen_ones_are_not() -> None:
    right = (Trigger(0, "a", 1), Trigger(1, "b", 2))
    assert match(learned(*right, rewards=(Emission(2, "c", 2, 1.0), Emission(1, "z", 1, 5.0))), TRUE).equal
    found = match(learned(*right, rewards=(Emission(2, "c", 2, 0.5),)), TRUE)
    assert [(c.emission.reward, c.true_reward) for c in found.contradictions] == [(0.5, 1.0)]


def test_labels_of_another_kind_cannot_be_compared() -> None:
    other = RewardMachine("transition", "transition", 2, (Trigger(0, (0, 1, "a"), 1),))
    found = match(other, TRUE)
    assert (found.states, found.same, found.extra, found.missing) == ((), (), (0,), (0, 1))


def test_the_true_machine_is_found_and_counted() -> None:
    record, _ = breakfast()
    assert record.optimal
    found = record.match()
    assert found is not None and found.equal
    assert record.episodes_to_machine is not None
    assert 0 < record.episodes_to_machine <= record.episodes
    small, _ = finish("markovize/OfficeWorld-v0", "e", task="e", episodes=5)
    assert small.episodes_to_machine is None
    assert lake()[0].match() is None
    assert lake()[0].optimal is None
