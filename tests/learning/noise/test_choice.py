"""What ``auto`` takes where much of the reward is chance: no machine grows out of it, little is searched for."""

from __future__ import annotations

from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from markovize import Traces, learn, read_episodes
from markovize.learning.description import Ruler
from markovize.learning.search import CHOOSING, Progress
from markovize.learning.soon import search_soon

PLACES = ("hall", "coffee", "office", "mail", "lift")


def rooms(episodes: int, rng: np.random.Generator, steps: int = 10) -> Traces:
    """From room to room, anywhere next; nothing pays."""
    walks = (["hall", *(PLACES[n] for n in rng.integers(len(PLACES), size=steps))] for _ in range(episodes))
    return Traces.of([(walk, [0] * steps, [0.0] * steps) for walk in walks])


def planted_walks(rng: np.random.Generator, episodes: int, steps: int) -> Traces:
    """The same, but the office pays 1 after a coffee."""
    traces = rooms(episodes, rng, steps)
    seen = np.array(traces.observation_values)[traces.states_after()].reshape(episodes, steps)
    armed = np.maximum.accumulate(seen == "coffee", axis=1)
    return replace(traces, rewards=(armed & (seen == "office")).ravel().astype(float))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The outliers of each search that the engine is asked for."""
    searches, search = list[int](), search_soon

    def count(*given: Any) -> Any:
        searches.append(given[0].allowance.outliers)
        return search(*given)

    monkeypatch.setattr("markovize.learning.label_front.search_soon", count)
    return searches


def test_few_outliers_are_named_and_many_are_marked() -> None:
    ruler = Ruler(1024, np.array([0.0, 1.0]), np.array([512, 512]))
    assert ruler.name_outliers(5, 0.0) == 5 * 10  # of two values it is the other one
    assert ruler.name_outliers(100, 0.0) < 100 * log2(10) + 924 * log2(10 / 9) + 1e-6
    assert ruler.name_outliers(512, 0.0) == ruler.name_outliers(400, 0.0) == 1024
    three = Ruler(1024, np.array([0.0, 1.0, 2.0]), np.array([512, 256, 256]))
    assert three.name_outliers(5, 0.0) == 5 * 11
    many = [ruler.name_outliers(each, 0.0) for each in range(513)]
    assert many == sorted(many)


@pytest.mark.parametrize("seed", range(3))
def test_fair_coins_have_no_machine(seed: int, asked: list[int]) -> None:
    """Triggers explain many of them by chance, and each was named by its number."""
    rng = np.random.default_rng(seed)
    traces = rooms(100, rng)
    coins = replace(traces, rewards=rng.integers(0, 2, traces.steps).astype(float))
    result = learn(coins, outliers="auto")
    assert (result.status, result.states) == ("optimal", 1)
    assert result.noise is not None and len(result.noise.outliers) > 400
    assert any("% of the steps are outliers" in remark for remark in result.remarks)
    assert {*asked} <= {0}  # but whether they are explained as they are


@pytest.mark.parametrize("seed", range(3))
def test_one_level_is_not_searched_for_in_narrower_ones(seed: int, asked: list[int]) -> None:
    rng = np.random.default_rng(seed)
    traces = rooms(75, rng)
    result = learn(replace(traces, rewards=1 + rng.uniform(-0.1, 0.1, traces.steps)), tolerance="auto", outliers="auto")
    assert result.noise is not None
    assert (result.status, result.states, result.noise.outliers) == ("optimal", 1, ())
    assert result.noise.tolerance == pytest.approx(0.1, rel=0.02)
    assert not asked


@pytest.mark.parametrize("seed", range(3))
def test_levels_are_found_although_a_wide_tolerance_holds_them_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    traces = planted_walks(rng, episodes=200, steps=10)
    result = learn(
        replace(traces, rewards=traces.rewards + rng.uniform(-0.1, 0.1, traces.steps)),
        tolerance="auto",
        outliers="auto",
    )
    assert result.noise is not None
    assert (result.status, result.states, result.noise.outliers) == ("optimal", 2, ())


@pytest.mark.parametrize("seed", range(4))
def test_errors_are_no_reason_for_finer_labels(seed: int) -> None:
    """With so many, histories that repeat contradict each other; under finer labels they hardly repeat."""
    rng = np.random.default_rng(seed)
    traces = planted_walks(rng, episodes=150, steps=10)
    wrong = rng.random(traces.steps) < 0.05
    result = learn(
        replace(traces, rewards=np.where(wrong, 1 - traces.rewards, traces.rewards)), outliers="auto", time_limit=10
    )
    assert (result.trigger_on, result.reward_on, result.states) == ("state", "state", 2)


def test_finer_labels_are_taken_where_they_are_the_reason() -> None:
    """What a step pays depends on the action: by places alone half of what is paid is an outlier."""
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(600):
        seen, actions, rewards, armed = ["hall"], list[int](), list[float](), False
        for _ in range(4):
            seen.append(PLACES[rng.integers(len(PLACES))])
            actions.append(int(rng.integers(2)))
            rewards.append(float(armed and seen[-1] == "office" and actions[-1] == 1))
            armed |= seen[-1] == "coffee"
        episodes.append((seen, actions, rewards))
    traces = Traces.of(episodes)
    wrong = rng.random(traces.steps) < 0.01
    noisy = replace(traces, rewards=np.where(wrong, 1 - traces.rewards, traces.rewards))
    result = learn(noisy, outliers="auto", time_limit=20)
    assert (result.trigger_on, result.reward_on, result.states, result.triggers) == ("state", "transition", 2, 1)


def test_progress_says_that_allowances_are_compared() -> None:
    rng = np.random.default_rng(0)
    traces = planted_walks(rng, episodes=100, steps=10)
    wrong = rng.random(traces.steps) < 0.01
    heard: list[Progress] = []
    learn(
        replace(traces, rewards=np.where(wrong, 1 - traces.rewards, traces.rewards)),
        outliers="auto",
        on_progress=heard.append,
    )
    phases = [progress.phase for progress in heard]
    assert phases[0] == CHOOSING
    assert {*phases} > {CHOOSING}  # and the search after that is heard of as well
    assert "exemplars" not in heard[0].sentence(1.0)


@pytest.mark.slow
def test_the_tolerance_that_leaves_most_to_explain_comes_first() -> None:
    """Breakfast c with normal noise: a wider tolerance has a smaller machine, and after that little is asked."""
    clean = read_episodes(Path(__file__).parents[3] / "benchmarks" / "data" / "breakfast-c-cumulative.jsonl.gz")
    gap = float(np.diff(np.unique(clean.rewards)).min())
    noise = np.random.default_rng(11).normal(0, gap / 10, clean.steps)
    noisy = replace(clean, rewards=clean.rewards + noise)
    result = learn(noisy, trigger_on="state", reward_on="state", acyclic=True, tolerance="auto")
    assert (result.status, result.states, result.triggers) == ("optimal", 7, 6)
