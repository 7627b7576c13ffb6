"""Observations that never come back: states are restored instead, and the same defects are found."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from continuous_defects import (
    DrawnAtReset,
    Effort,
    FarFromStart,
    FirstUnlock,
    Hurry,
    KeyFirst,
    LateByOneState,
    LateByOneStep,
    Locked,
    Memory,
    PaidOnce,
    Progress,
    SeededNoise,
    Step,
    StepCount,
    TasksLeak,
    Track,
    UnseededNoise,
    Windy,
)

from markovize import assert_reward_markov, check_reward

STEPS = 2_000

CASES: list[tuple[type[Track], str, tuple[str, ...]]] = [
    (Track, "markov", ("next_state",)),
    (Windy, "markov", ("next_state",)),
    (Effort, "markov", ("state", "action")),
    (Progress, "markov", ("state", "action")),
    (LateByOneState, "markov", ("state", "action")),
    (LateByOneStep, "history", ("state", "action", "next_state", "history")),
    (StepCount, "time", ("next_state", "time")),
    (Hurry, "time", ("time",)),
    (FarFromStart, "history", ("next_state", "history")),
    (FirstUnlock, "history", ("next_state", "history")),
    (KeyFirst, "history", ("next_state", "history")),
    (TasksLeak, "previous-episodes", ("state", "action", "next_state", "previous-episodes")),
    (SeededNoise, "noise", ("state", "action", "next_state")),
    (DrawnAtReset, "noise", ("state", "action", "next_state")),
    (UnseededNoise, "noise", ("state", "action", "next_state")),
]


@pytest.mark.parametrize(("kind", "verdict", "signature"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_each_defect_is_named(kind: type[Track], verdict: str, signature: tuple[str, ...]) -> None:
    report = check_reward(kind(), steps=STEPS)
    assert (report.verdict, report.signature) == (verdict, signature)
    assert report.comparable >= 20
    json.dumps(report.to_json(), allow_nan=False)
    assert (report.witness is None) == report.markov
    if kind in (TasksLeak, UnseededNoise):  # by equal seeds
        return
    assert report.given == "state"
    assert "position, velocity" in report.notes[0]
    if report.witness is not None:
        one, two = report.replay_witness(kind())
        assert one != two
        assert (one, two) == report.witness.rewards


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("CartPole-v1", ()),
        ("MountainCar-v0", ()),
        ("MountainCarContinuous-v0", ("state", "action")),
        ("Pendulum-v1", ("state", "action")),
        ("Acrobot-v1", ("next_state",)),
    ],
)
def test_classic_control_is_markov(name: str, signature: tuple[str, ...]) -> None:
    report = assert_reward_markov(gym.make(name), steps=STEPS)
    assert (report.signature, report.given) == (signature, "state")


@pytest.mark.parametrize("name", ["MountainCar-v0", "MountainCarContinuous-v0"])
def test_a_wrapper_that_remembers_is_found(name: str) -> None:
    def make() -> gym.Env[Any, Any]:
        return PaidOnce(gym.make(name))

    report = check_reward(make)
    assert (report.verdict, report.given) == ("history", "state")
    assert report.signature[-1] == "history"
    assert report.replay_witness(make()) == report.witness.rewards  # type: ignore[union-attr]


def test_what_cannot_be_restored_is_not_claimed() -> None:
    class LockedWithWalls(Locked):
        hit = Track.hit

    report = check_reward(Locked(), steps=STEPS)
    assert (report.verdict, report.signature) == ("not-testable", ())
    assert "vault cannot be copied" in report.reason
    report = check_reward(LockedWithWalls(), steps=STEPS)
    assert (report.verdict, report.given) == ("markov", "observation")
    assert "vault cannot be copied" in report.notes[-1]


def test_what_is_left_of_a_failed_copy_goes_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with Box2D's definitions of fixtures: made without their parts by a copy, they raise when thrown away."""
    gone: list[str] = []

    class Fixture:
        def __init__(self) -> None:
            self.shape = threading.Lock()  # cannot be copied

        def __del__(self) -> None:
            if not hasattr(self, "shape"):
                gone.append("a half")
                raise TypeError("no fixture")

    class Walker(Locked):
        def begin(self) -> None:
            self.fixture = Fixture()

    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    report = check_reward(Walker(), steps=STEPS)
    assert report.verdict == "not-testable"
    assert gone
    assert not told


def test_equal_seeds_give_equal_reports() -> None:
    one, two = (check_reward(KeyFirst(), seed=3, steps=STEPS).to_json() for _ in range(2))
    del one["seconds"], two["seconds"]
    assert one == two


def test_a_reward_that_was_never_paid_is_not_testable() -> None:
    class Nothing(Track):
        def pay(self, _: Step) -> float:
            return 0.0

    report = check_reward(Nothing(), steps=STEPS)
    assert report.verdict == "not-testable"
    assert "paid anything but 0" in report.reason


@pytest.mark.parametrize(("rule", "verdict"), [("clock", "time"), ("first", "history"), ("action before", "history")])
def test_wrappers_with_a_memory(rule: str, verdict: str) -> None:
    report = check_reward(lambda: Memory(gym.make("Pendulum-v1"), rule), steps=STEPS)
    assert (report.verdict, report.given) == (verdict, "state")


class FarBonus(gym.Env[Any, Any]):
    """A bonus once an episode, so far from the start that few walks get there; the state sits in an object."""

    observation_space = gym.spaces.Box(-100, 100, (4,), np.float64)
    action_space = gym.spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.body = {"x": self.np_random.uniform(-0.1, 0.1, 2), "v": np.zeros(2)}
        self.paid, self.steps = False, 0
        return np.concatenate([self.body["x"], self.body["v"]]), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        v = 0.9 * self.body["v"] + 0.1 * np.asarray(action, np.float64)
        self.body = {"x": self.body["x"] + v, "v": v}
        now = bool(self.body["x"][0] > 30) and not self.paid
        self.paid = self.paid or now
        observation = np.concatenate([self.body["x"], self.body["v"]])
        return observation, now - 0.01, False, self.steps >= 100, {}


@pytest.mark.parametrize("seed", range(3))
def test_a_rare_bonus_far_away(seed: int) -> None:
    """Was missed, or even called constant, with these seeds."""
    report = check_reward(FarBonus(), seed=seed, seconds=120)  # a busy machine needs them, others stop long before
    assert report.verdict == "history"
    assert sorted(report.replay_witness(FarBonus())) == pytest.approx([-0.01, 0.99])
