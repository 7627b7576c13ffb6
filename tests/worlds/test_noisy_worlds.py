"""Harvest and Mining: chance, noise, and what is optimal in them."""

from __future__ import annotations

from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import markovize  # noqa: F401 - registers the environments
from markovize.agents.tabular.evaluation import optimal_return
from markovize.errors import InputError
from markovize.product.value_iteration import optimal_values
from markovize.worlds import noisy_walks, world

CYCLE = (0, 1, 2, 3)  # plant, water, harvest, sell


@pytest.mark.parametrize(("name", "steps"), [("Harvest", 50), ("Mining", 1_000)])
def test_environments_are_registered_and_keep_the_rules(name: str, steps: int) -> None:
    env = gymnasium.make(f"markovize/{name}World-v0")
    assert env.spec is not None
    assert env.spec.max_episode_steps == steps
    check_env(env.unwrapped, skip_render_check=True)


def test_equal_seeds_and_actions_make_equal_episodes() -> None:
    env = gymnasium.make("markovize/HarvestWorld-v0")

    def episode(seed: int) -> list[tuple[int, float]]:
        env.reset(seed=seed)
        return [(int(step[0]), float(step[1])) for step in (env.step(a) for a in (*CYCLE, *CYCLE, 3, 0))]

    assert episode(1) == episode(1)
    assert episode(1) != episode(2)


def test_harvest_pays_by_the_quality_at_harvest() -> None:
    env, rng = gymnasium.make("markovize/HarvestWorld-v0"), np.random.default_rng(0)
    prices: dict[int, list[float]] = {0: [], 1: [], 2: []}
    mistakes, changes, steps = [], 0, 0
    for seed in range(60):
        seen = [env.reset(seed=seed)[0]]
        for n in range(48):
            observation, reward, *_ = env.step(CYCLE[n % 4])
            seen.append(observation)
            if n % 4 == 3:
                prices[seen[-3]].append(float(reward))  # what was seen before harvesting
            else:
                assert reward == 0.0
        wrong = env.step(int(rng.integers(1, 4)))[1]
        mistakes.append(float(wrong))
        changes, steps = changes + sum(a != b for a, b in pairwise(seen)), steps + 48
    for quality, level in enumerate((1.0, 1.5, 2.0)):
        assert abs(np.mean(prices[quality]) - level) < 0.15
        assert max(abs(np.array(prices[quality]) - level)) <= 0.4
    assert max(abs(np.array(mistakes) + 1.0)) <= 0.2
    assert 0.01 < changes / steps < 0.1


def test_what_is_optimal_in_harvest() -> None:
    """The cycle, whatever the quality: waiting for a better one costs a mistake."""
    harvest = world("harvest")
    policy = optimal_values(harvest, 0.9).argmax(axis=2)
    assert policy.tolist() == [[0] * 3, [1] * 3, [2] * 3, *([[3] * 3] * 3)]
    assert optimal_return(harvest, 0.9, 50) == pytest.approx(16.83, abs=0.005)


def test_what_is_optimal_in_mining() -> None:
    """Equipment at (16, 10), gold at (19, 13), then deliver: 33 steps."""
    mining = world("mining")
    q = optimal_values(mining, 0.9)
    assert q[0, mining.start].max() == pytest.approx(1.1 * 0.9**32)
    assert optimal_return(mining, 0.9, 1_000) == pytest.approx(1.1)
    assert world("mining", task="T4").machine.states == 5


def test_mining_pays_on_delivery_within_its_noise() -> None:
    env = gymnasium.make("markovize/MiningWorld-v0")
    way = [2] * 10 + [3] * 4 + [0] * 3 + [1] * 3 + [0] * 11 + [1] * 2  # equipment, gold, delivery
    paid = []
    for seed in range(40):
        assert env.reset(seed=seed)[0].tolist() == [20, 20]
        steps = [env.step(action) for action in way]
        assert {float(step[1]) for step in steps[:-1]} == {0.0}
        assert steps[-1][2]
        paid.append(float(steps[-1][1]))
    assert max(abs(np.array(paid) - 1.1)) <= 0.2
    assert max(paid) - min(paid) > 0.3


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="mining tasks are T3, T4, not 'T9'"):
        world("mining", task="T9")
    with pytest.raises(InputError, match="record episodes"):
        noisy_walks(world("harvest"), 1, np.random.default_rng(0))
