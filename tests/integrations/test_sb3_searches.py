"""The callback's searches, by a clock of the test's own: they are few, and the training is not ruled by them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from markovize.integrations.sb3 import ConflictCallback
from markovize.integrations.sb3 import callback as callback_module
from markovize.integrations.sb3 import search as search_module
from markovize.learning.learner import Learner

torch = pytest.importorskip("torch", reason="the extra `sb3` is not installed")
pytest.importorskip("stable_baselines3", reason="the extra `sb3` is not installed")
from stable_baselines3 import DQN  # noqa: E402

torch.set_num_threads(1)
STEP, SEARCH, LIMIT = 0.01, 4.0, 10.0  # seconds


class Clock:
    """Each step of the world and each search takes its time; the searches are real."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.trained, self.searches, learn = 0.0, list[float](), Learner.learn

        def counted(learner: Learner, *episodes: Any, time_limit: float | None, **options: Any) -> Any:
            self.searches.append(SEARCH if time_limit is None else min(SEARCH, time_limit))
            return learn(learner, *episodes, **options)

        patch.setattr(Learner, "learn", counted)
        for module in (callback_module, search_module):
            patch.setattr(module, "monotonic", lambda: self.trained + sum(self.searches))


class Ticking(gym.Wrapper[Any, Any, Any, Any]):
    def __init__(self, env: gym.Env[Any, Any], clock: Clock) -> None:
        super().__init__(env)
        self.clock = clock

    def step(self, action: Any) -> Any:
        self.clock.trained += STEP
        return self.env.step(action)


def beach(clock: Clock) -> gym.Env[Any, Any]:
    """Each time on the beach pays less than the one before, so that longer episodes bring ever new conflicts."""
    return Ticking(gym.make("markovize/BeachWorld-v0", max_episode_steps=30), clock)


def watched(env: gym.Env[Any, Any], steps: int, **options: Any) -> ConflictCallback:
    callback = ConflictCallback(**options)
    DQN("MlpPolicy", env, seed=0, learning_starts=10**9, buffer_size=100, device="cpu").learn(steps, callback=callback)
    return callback


@pytest.mark.parametrize("limit", [None, LIMIT])
def test_searches_get_a_share_of_the_time(limit: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    callback = watched(beach(clock), 1_000, time_limit=limit)
    share = LIMIT + 0.25 * clock.trained
    assert clock.trained == pytest.approx(10)
    assert (sum(clock.searches) <= share) == (limit is not None)
    assert callback.machine is not None
