"""Stepping an environment from Python does exactly what the compiled loop does on the world's tables."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import markovize  # noqa: F401 - registers the worlds
from markovize.agents.tabular import ActiveLearner, RunResult, Settings
from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.compiled.arrays import Hyperparameters
from markovize.agents.tabular.compiled.worlds import FULL
from markovize.agents.tabular.runners import RECENT, STATES, TRANSITIONS, EnvRunner
from markovize.gym import WorldEnv
from markovize.machine.machine import RewardMachine
from markovize.worlds import random_grid_world

ONE_STATE = RewardMachine("transition", "transition", 1)


def both(env: gym.Env[Any, Any], settings: Settings) -> tuple[RunResult, RunResult]:
    """The results of the compiled and of the stepped run, which leave the random generator in the same state."""
    learners = [ActiveLearner(env, settings, compiled=compiled) for compiled in (True, False)]
    compiled, stepped = [learner.run() for learner in learners]
    assert learners[0].rng.bit_generator.state == learners[1].rng.bit_generator.state
    return compiled, stepped


def assert_same_run(compiled: RunResult, stepped: RunResult) -> None:
    assert np.array_equal(compiled.returns, stepped.returns)
    assert np.array_equal(compiled.lengths, stepped.lengths)
    assert compiled.machine == stepped.machine
    assert [solve.episode for solve in compiled.solves] == [solve.episode for solve in stepped.solves]
    for name in ("observations", "actions", "rewards", "offsets", "terminated"):
        assert np.array_equal(getattr(compiled.kept, name), getattr(stepped.kept, name))
    assert compiled.kept.observation_values == stepped.kept.observation_values
    values = {(u, s, a): q for u, s, a, q in compiled.q_rows()}
    seen = {(u, s, a): q for u, s, a, q in stepped.q_rows()}
    assert any(seen.values())
    assert seen == {place: values[place] for place in seen}
    assert not any(q for place, q in values.items() if place not in seen)


WORLDS = [
    ("BreakfastWorld", {"task": "b"}, 200),
    ("BreakfastWorld", {"task": "c"}, 150),
    ("OfficeWorld", {"task": "b"}, 120),
    ("BeachWorld", {"levels": 2}, 30),
]


@pytest.mark.parametrize(("world", "options", "episodes"), WORLDS)
@pytest.mark.parametrize(
    ("mode", "changes"),
    [
        ("paper", {"max_wait": 200}),
        ("q-learning", {}),
        ("q-learning", {"crm": True}),
        ("q-learning", {"shaping": True, "crm": True, "keep": 15}),
    ],
)
def test_values_machines_and_kept_episodes_are_the_same(
    world: str, options: dict[str, Any], episodes: int, mode: str, changes: dict[str, Any]
) -> None:
    if world == "BeachWorld":  # state labels cannot explain it
        changes = changes | {"trigger_on": "transition", "reward_on": "transition"}
    env = gym.make(f"markovize/{world}-v0", **options)
    assert_same_run(*both(env, Settings.of(mode, episodes=episodes, seed=3, **changes)))


@pytest.mark.parametrize(("world", "options", "best"), [("BreakfastWorld", {"task": "c"}, 2.2), ("OfficeWorld", {}, 1)])
def test_directed_runs_end_alike(world: str, options: dict[str, Any], best: float) -> None:
    """Planned values may differ in their last digit, and with them the way; not what is found."""
    settings = Settings.of("directed", episodes=400, seed=2)
    for compiled in (True, False):
        env = gym.make(f"markovize/{world}-v0", **options)
        result = ActiveLearner(env, settings, compiled=compiled).run()
        assert result.greedy_return == pytest.approx(best)
        assert result.optimal_return == pytest.approx(best)


def test_a_mind_that_grows_while_it_plays_learns_the_same() -> None:
    world = random_grid_world(np.random.default_rng(5), width=12, height=12, solid=0.0)
    assert len(world.observations) > STATES
    settings = Settings.of("q-learning", episodes=150, seed=1, max_steps=300, epsilon=0.6, crm=True)
    compiled, stepped = both(WorldEnv(world), settings)
    assert stepped.machine.states > 1
    assert len(stepped.observations) > STATES
    assert_same_run(compiled, stepped)


def play(env: gym.Env[Any, Any], episodes: int, directed: bool) -> tuple[EnvRunner, Agent]:
    runner = EnvRunner(env, np.random.default_rng(9))
    runner.codec.relabel("transition", "transition")
    agent = Agent.new(runner.codec, ONE_STATE, runner.room, steps=100)
    how = Hyperparameters(directed, 0.2, 50, 0.1, 0.95, False, False, False)
    done = 0
    while done < episodes:
        played = runner.play(agent, how, episodes - done)
        done += len(played.returns)
        if played.why == FULL:
            agent.add_rows()
    return runner, agent


@pytest.mark.parametrize("directed", [True, False])
def test_what_was_seen_is_counted_in_the_arrays_that_have_grown(directed: bool) -> None:
    runner, agent = play(gym.make("Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"), 60, directed)
    arrays = agent.arrays
    assert len(runner.codec) > TRANSITIONS
    assert agent.room == (arrays.model.first.shape[0], len(arrays.model.seen))
    last = arrays.episode.transitions[: arrays.episode.status[0].length]
    assert np.array_equal(last, runner.recent[-1].transitions)
    if directed:
        assert np.count_nonzero(arrays.model.seen) == len(runner.codec)
        assert arrays.model.seen.sum() == arrays.values.visits.sum()
    else:
        assert np.count_nonzero(arrays.values.q) > 0


@pytest.mark.parametrize("directed", [True, False])
def test_the_last_episodes_can_be_played_again(directed: bool) -> None:
    env = gym.make("FrozenLake-v1", is_slippery=True)
    runner, _ = play(env, RECENT + 15, directed)
    assert len(runner.recent) == RECENT
    for seed, transitions, rewards in runner.recent:
        assert (transitions.dtype, rewards.dtype) == (np.dtype(np.int32), np.dtype(np.float64))
        assert len(transitions) == len(rewards)
        assert env.reset(seed=seed)[0] == runner.codec.values(int(transitions[0]))[0]
        for x, paid in zip(transitions.tolist(), rewards.tolist(), strict=True):
            _, action, after = runner.codec.values(x)
            observation, reward, *_ = env.step(action)
            assert (observation, reward) == (after, paid)


class AsArrays(gym.ObservationWrapper[Any, Any, Any]):
    """The same observations as arrays."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.MultiDiscrete([16, 1])

    def observation(self, observation: Any) -> Any:
        return np.array([observation, 0])


def test_arrays_are_told_apart_as_numbers_are() -> None:
    (_, plain), (runner, arrays) = (play(env, 50, False) for env in (lake(), AsArrays(lake())))
    assert np.array_equal(plain.arrays.values.q, arrays.arrays.values.q)
    assert runner.codec.observations.values[0] == (0, 0)


def lake() -> gym.Env[Any, Any]:
    return gym.make("FrozenLake-v1")
