"""A reward that remembers a rare place: the audit follows the ways of episodes that were paid."""

from __future__ import annotations

import pytest
from plane_env import Plane

from markovize import check_reward
from markovize.auditing import restored
from markovize.auditing.tours import Scan

MISSED = (0, 8, 12)  # seeds of walks after which the reward was called constant


@pytest.mark.parametrize("seed", MISSED)
def test_coffee_before_office_is_history(seed: int) -> None:
    report = check_reward(Plane(), seed=seed)
    assert (report.verdict, report.signature[-1], report.given) == ("history", "history", "state")
    assert sorted(report.replay_witness(Plane())) == [0, 1]


class Costly(Plane):
    """Every reward is another: none is rare, but some are large."""

    def step(self, action: int) -> tuple[object, float, bool, bool, dict[str, object]]:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward - 0.01 * float(self.at[0]), terminated, truncated, info


def test_the_same_among_rewards_that_all_differ() -> None:
    report = check_reward(Costly(), seed=8)
    assert (report.verdict, report.signature) == ("history", ("next_state", "history"))
    one, two = sorted(report.replay_witness(Costly()))
    assert two - one == pytest.approx(1)


def test_what_was_paid_in_walks_is_never_called_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scan", "follow_trails"):  # nothing that contradicts
        monkeypatch.setattr(restored, name, lambda *_, **__: Scan(comparable=1_000, tried=1_000))
    report = check_reward(Plane(), seed=8)
    assert report.verdict == "not-testable"
    assert "rewards from 0 to 1 were paid, but always 0 where states were restored" in report.reason
    assert "env.unwrapped's at" in report.reason


def test_a_constant_reward_is_one_of_the_steps_that_were_seen() -> None:
    class Unpaid(Plane):
        def step(self, action: int) -> tuple[object, float, bool, bool, dict[str, object]]:
            observation, _, _, truncated, info = super().step(action)
            return observation, -1.0, False, truncated, info

    report = check_reward(Unpaid(), steps=9_000)
    assert (report.verdict, report.signature) == ("markov", ())
    assert report.headline == f"Markov: the reward was the same in all {report.steps:,} steps"
