"""Runs that look for other machines as small as their own, and walk where they disagree."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from markovize import InputError, learn
from markovize.agents.tabular import ActiveLearner, RunResult, Settings
from markovize.agents.tabular.ties import Ties
from markovize.episodes.labelling import Step


class Conveyor(gym.Env[Any, Any]):
    """From 0, a belt leads over 1 and 2 back; or one goes to 3, which pays after a ride and ends the episode."""

    observation_space, action_space = gym.spaces.Discrete(4), gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.at, self.rode = 0, False
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at = (3 if action else 1) if self.at == 0 else (self.at + 1) % 3
        self.rode = self.rode or self.at == 1
        return self.at, float(self.at == 3 and self.rode), self.at == 3, False, {}


class IcyHall(gym.Env[Any, Any]):
    """Cells in a row; the right end pays, and ends the episode, after the left end. One step in four is a slip."""

    observation_space, action_space = gym.spaces.Discrete(5), gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.at, self.key = 2, False
        return 2, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        right = bool(action) != (self.np_random.random() < 0.25)
        self.at = min(4, max(0, self.at + (1 if right else -1)))
        self.key = self.key or self.at == 0
        paid = self.at == 4 and self.key
        return self.at, float(paid), paid, False, {}


def office() -> gym.Env[Any, Any]:
    return gym.make("markovize/OfficeWorld-v0", task="c")


def run(env: gym.Env[Any, Any], episodes: int = 150, **changes: Any) -> RunResult:
    return ActiveLearner(env, Settings.of(episodes=episodes, **{"all": 20} | changes)).run()


def test_until_there_is_just_one() -> None:
    result = run(office())
    assert result.all is not None and result.all.unique
    assert result.episodes_to_unique is not None and 0 < result.episodes_to_unique < 150
    again = learn(result.kept, all=5, trigger_on=result.machine.trigger_on, reward_on=result.machine.reward_on).all
    assert again is not None and again.unique
    assert again.machines[0].triggers[0].on == result.machine.triggers[0].on
    told = result.to_json()
    assert (told["all"]["unique"], told["episodes_to_unique"]) == (True, result.episodes_to_unique)


def test_what_nothing_tells_apart_is_said_to_tie() -> None:
    result = run(Conveyor(), 60, max_steps=20)
    assert result.status == "optimal" and result.episodes_to_unique is None
    assert result.all is not None and result.all.complete
    assert {machine.triggers[0].on for machine in result.all.machines} == {0, 1, 2}
    assert result.all.separations == (None, None)


def test_walks_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The episode after a look begins with its walk."""
    asked: list[tuple[int, tuple[Step, ...]]] = []
    look = Ties.look

    def spy(self: Ties, machine: Any, traces: Any, labels: Any, episode: int, stop: Any) -> tuple[Step, ...]:
        walk = look(self, machine, traces, labels, episode, stop)
        asked.append((len(traces), walk))
        return walk

    monkeypatch.setattr(Ties, "look", spy)
    result = run(office())
    walks = [(number, walk) for number, walk in asked if walk]
    assert walks
    for number, walk in walks:
        episode = result.kept.episode(number)
        steps = zip(episode.observations, episode.actions, episode.observations[1:], strict=False)
        assert tuple(steps)[: len(walk)] == walk


def test_where_chance_rules() -> None:
    result = run(IcyHall(), 300, max_steps=60)
    assert (result.status, result.machine.triggers[0].on) == ("optimal", 0)
    assert result.all is not None and result.all.unique
    assert result.episodes_to_unique is not None


def test_nobody_asked() -> None:
    result = run(Conveyor(), 40, all=0, max_steps=20)
    assert result.all is None
    assert "all" not in result.to_json() and "all" not in result.settings.to_json()


@pytest.mark.parametrize("changes", [{"mode": "paper"}, {"mode": "q-learning"}, {"engine": "ilp"}])
def test_other_modes_and_engines_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="all is for mode directed and the engine sat"):
        Settings.of(changes.pop("mode", "directed"), all=3, **changes)


def test_continuous_observations_are_refused() -> None:
    settings = Settings.of(all=3, trigger_on=lambda _s, _a, t: t[0] > 0.5)
    with pytest.raises(InputError, match="discrete observations"):
        ActiveLearner(gym.make("MountainCar-v0"), settings)
