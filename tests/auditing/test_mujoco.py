"""MuJoCo's environments: verdicts as their sources say, and what the observation hides is named."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from continuous_defects import Memory

from markovize import check_reward

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("mujoco", reason="the extra `mujoco` is not installed")


@pytest.mark.parametrize(
    ("name", "hidden"), [("HalfCheetah-v5", "data.qpos[0]"), ("Hopper-v5", "data.qpos[0]"), ("Reacher-v5", "")]
)
def test_markov_given_the_state(name: str, hidden: str) -> None:
    report = check_reward(name)
    assert (report.verdict, report.signature, report.given) == ("markov", ("state", "action"), "state")
    assert (f"hides {hidden}" in " ".join(report.notes)) == bool(hidden)


def test_alive_or_not_is_seen_in_the_state_entered() -> None:
    assert check_reward("InvertedPendulum-v5").signature == ("next_state",)


@pytest.mark.parametrize(("rule", "verdict"), [("clock", "time"), ("first", "history"), ("action before", "history")])
def test_histories_of_wrappers_are_found(rule: str, verdict: str) -> None:
    def make() -> gym.Env[Any, Any]:
        return Memory(gym.make("HalfCheetah-v5"), rule)

    assert check_reward(make).verdict == verdict
