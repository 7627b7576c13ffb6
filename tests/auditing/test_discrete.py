"""Real defects, injected again in a small world with discrete observations: all found, each named rightly."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest
from defects import (
    Corridor,
    DrawnAtReset,
    FirstUnlock,
    KeyFirst,
    LateByOneState,
    LateByOneStep,
    Rounding,
    SeededNoise,
    StepCount,
    TasksLeak,
    UnseededNoise,
)

import markovize
from markovize import assert_reward_markov, check_reward

STEPS = 2_000

CASES: list[tuple[type[Corridor], str, tuple[str, ...]]] = [
    (Corridor, "markov", ("next_state",)),
    (Rounding, "markov", ("next_state",)),
    (LateByOneState, "markov", ("state", "action")),
    (LateByOneStep, "history", ("next_state", "history")),
    (TasksLeak, "previous-episodes", ("state", "action", "next_state", "previous-episodes")),
    (StepCount, "time", ("next_state", "time")),
    (FirstUnlock, "history", ("next_state", "history")),
    (KeyFirst, "history", ("next_state", "history")),
    (SeededNoise, "noise", ("state", "action", "next_state")),
    (DrawnAtReset, "noise", ("state", "action", "next_state")),
    (UnseededNoise, "noise", ("state", "action", "next_state")),
]


@pytest.mark.parametrize(("kind", "verdict", "signature"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_each_defect_is_named(kind: type[Corridor], verdict: str, signature: tuple[str, ...]) -> None:
    report = check_reward(kind(), steps=STEPS)
    assert (report.verdict, report.signature, report.given) == (verdict, signature, "observation")
    assert report.steps >= STEPS
    assert report.comparable > report.steps / 2
    json.dumps(report.to_json(), allow_nan=False)
    assert (report.witness is None) == report.markov


@pytest.mark.parametrize("kind", [kind for kind, verdict, _ in CASES if verdict != "markov" and kind != UnseededNoise])
def test_the_witness_can_be_played_again(kind: type[Corridor]) -> None:
    report = check_reward(kind(), steps=STEPS)
    assert report.witness is not None
    first, second = report.witness.first.steps[-1], report.witness.second.steps[-1]
    assert first.label == second.label
    assert first.reward != second.reward
    assert report.replay_witness(kind()) == report.witness.rewards


def test_a_leak_shows_equal_seeds_and_actions_after_other_episodes() -> None:
    witness = check_reward(TasksLeak(), steps=STEPS).to_json()["witness"]
    first, second = (side["script"] for side in witness["trajectories"])
    assert [c for c in first if "reset" in c] == [first[0]]
    assert second[-len(first) :] == first
    assert len(second) > len(first)


def test_the_machine_of_a_history() -> None:
    machine = check_reward(KeyFirst(), steps=STEPS).machine
    assert machine is not None
    assert (machine.states, [trigger.on for trigger in machine.triggers]) == (2, [0])


def test_a_function_that_makes_environments_and_an_environment_that_cannot_be_copied() -> None:
    class Uncopied(TasksLeak):
        def __deepcopy__(self, memo: object) -> Uncopied:
            raise TypeError("never")

    assert check_reward(TasksLeak, steps=STEPS).verdict == "previous-episodes"
    assert check_reward(Uncopied(), steps=STEPS).verdict in ("previous-episodes", "noise")
    assert check_reward(Corridor(), steps=STEPS).markov


def test_equal_seeds_give_equal_reports() -> None:
    one, two = (check_reward(KeyFirst(), seed=3, steps=STEPS).to_json() for _ in range(2))
    del one["seconds"], two["seconds"]
    assert one == two


def test_episodes_of_a_file() -> None:
    walks = [([2, 1, 0, 1, 2, 3, 4], [0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1])] * 3
    walks += [([2, 3, 4, 3, 4], [1, 1, 0, 1], [0, 0, 0, 0]), ([2, 1, 2, 3, 4], [0, 1, 1, 1], [0, 0, 0, 0])] * 5
    report = check_reward(walks)
    assert report.verdict == "history"
    assert report.machine is not None
    with pytest.raises(markovize.InputError, match="cannot be played again"):
        report.replay_witness(Corridor())
    noise = check_reward([([0, 1, 0], ["a", "b"], [n % 2, 0]) for n in range(30)] + [([0, 0, 1], ["b", "a"], [0, 1])])
    assert noise.verdict == "noise"
    assert "earlier episodes" in noise.advice


def test_the_pytest_helper() -> None:
    assert assert_reward_markov(Corridor(), steps=STEPS).markov
    with pytest.raises(AssertionError, match="depends on what happened before"):
        assert_reward_markov(KeyFirst(), steps=STEPS)
    with pytest.raises(AssertionError, match="random"):
        assert_reward_markov(SeededNoise(), steps=STEPS)
    assert not assert_reward_markov(SeededNoise(), steps=STEPS, allow_noise=True).markov


def test_blackjack_is_noise_and_a_vector_is_refused() -> None:
    assert check_reward("Blackjack-v1", steps=STEPS).verdict == "noise"
    with pytest.raises(markovize.InputError, match="not a vector"):
        check_reward(gym.make_vec("FrozenLake-v1", num_envs=2))


def test_notebooks_show_a_card() -> None:
    """With the witness, the machine's picture, and what to do; all text is escaped."""
    html = check_reward([(["<a>", "b"], [0], [n % 2]) for n in range(40)])._repr_html_()
    assert "random: the same history pays different rewards" in html
    assert "&lt;a&gt;" in html
    assert "<a>" not in html
