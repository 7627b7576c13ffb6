"""Rewards of time are recognised, and no reward of a machine is taken for one."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from markovize import MarkovizeError, Traces, check, learn
from markovize.conflicts.clock import find_clock
from markovize.episodes.samples import sample_path
from markovize.io import read_episodes
from markovize.worlds import World, noisy_walks, random_grid_world, world


def lake_that_pays_for_haste(horizon: int = 100) -> Traces:
    """A lake without ice, as MiniGrid pays: 1 - 0.9 n / horizon at the goal, which is reached at different times."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=horizon)
    env.action_space.seed(0)
    episodes = []
    for seed in range(1_500):
        observations, actions, rewards, over, terminated = [env.reset(seed=seed)[0]], [], [], False, False
        while not over:
            actions.append(env.action_space.sample())
            observation, reward, terminated, truncated, _ = env.step(actions[-1])
            observations.append(observation)
            rewards.append(float(reward) and 1 - 0.9 * (len(actions) / horizon))
            over = terminated or truncated
        episodes.append((observations, actions, rewards, terminated))
    return Traces.of(episodes)


def test_what_minigrid_pays_is_named() -> None:
    traces = lake_that_pays_for_haste()
    clock = check(traces).time
    assert clock is not None
    assert (clock.start, clock.slope) == (1.0, -0.009)
    result = learn(traces)
    assert (result.status, result.machine, result.time) == ("unknown", None, clock)
    assert result.to_json()["time"]["slope"] == -0.009
    with pytest.raises(MarkovizeError, match=r"one of time.*TimeAwareObservation"):
        result.unwrap()


def test_a_clock_can_be_learned_on_request() -> None:
    traces = Traces.of([([0] * n + [1], [0] * n, [0] * (n - 1) + [1 - n / 100]) for n in range(1, 7)])
    assert learn(traces).time is not None
    result = learn(traces, count_steps=True)
    assert (result.status, result.time) == ("optimal", None)
    assert result.states is not None
    assert result.states >= 3


def test_a_cost_of_every_step_that_grows_with_time_is_named() -> None:
    rng = np.random.default_rng(0)
    traces = Traces.of([(rng.integers(0, 3, 21), [0] * 20, -np.arange(1, 21) / 7) for _ in range(10)])
    clock = find_clock(traces)
    assert clock is not None
    assert clock.slope == pytest.approx(-1 / 7)


WORLDS = [
    *(pytest.param(world("office", task=task), id=f"office-{task}") for task in (*"bcde", "loop")),
    *(
        pytest.param(world("breakfast", task=task, rewards=rewards), id=f"breakfast-{task}-{rewards}")
        for task in "bc"
        for rewards in ("full", "cumulative")
    ),
    pytest.param(world("beach"), id="beach"),
    *(pytest.param(random_grid_world(np.random.default_rng(n)), id=f"random-{n}") for n in range(10)),
]


@pytest.mark.parametrize("place", WORLDS)
def test_no_world_of_ours_is_taken_for_a_clock(place: World) -> None:
    for episodes in (1, 3, 10, 30, 100, 300):
        for noise in (0.0, 0.2, 0.5):
            traces = noisy_walks(place, episodes, np.random.default_rng(episodes), noise=noise, max_steps=60)
            assert find_clock(traces) is None


@pytest.mark.parametrize("name", ["office-e", "beach"])
def test_no_sample_is_taken_for_a_clock(name: str) -> None:
    assert find_clock(read_episodes(sample_path(name))) is None


def test_a_counter_of_what_was_met_is_not_a_clock() -> None:
    """Rewards 1, 2, 3, ... for the first, second, third coin, met at random times."""
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(50):
        coins = rng.integers(0, 2, 30)
        episodes.append(([0, *coins], [0] * 30, coins * np.cumsum(coins)))
    assert find_clock(Traces.of(episodes)) is None


def test_noise_is_not_a_clock() -> None:
    rng = np.random.default_rng(0)
    assert find_clock(Traces.of([(rng.integers(0, 2, 31), [0] * 30, rng.normal(size=30)) for _ in range(5)])) is None
