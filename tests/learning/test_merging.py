"""Learning from a stream: the same answer, to the last number, as from the same episodes in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from agreement import EVERY
from instances import random_steps
from pieces import Pieces, noisy

from markovize import Learner, LearnResult, Traces, learn
from markovize.episodes.merged import MergedTraces
from markovize.learning.merging import Merger, merge
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

OPTIONS: list[dict[str, Any]] = [
    {},
    {"explain": "reward+termination"},
    {"objective": "states", "acyclic": True},
    {"trigger_on": "source", "reward_on": "transition"},
    {"trigger_on": lambda *step: [step[2], "seen"], "reward_on": lambda *step: step[2]},
]


def as_printed(result: LearnResult) -> LearnResult:
    """Without what is no part of the answer: how long it took, and the digest of what it was learned from."""
    return replace(result, seconds=0.0, identity=None)


def walks(seed: int, episodes: int = 60) -> Traces:
    return noisy_walks(world("breakfast", task="b"), episodes, np.random.default_rng(seed))


def agree(traces: Traces, size: int, **options: Any) -> LearnResult:
    """That chunks of this size change nothing, nor shards that are merged each for itself."""
    whole = as_printed(learn(traces, **options))
    stream = Pieces(traces, size)
    assert as_printed(learn(stream, **options)) == whole
    assert as_printed(learn(merge(merge([chunk]) for chunk in stream.chunks()), **options)) == whole
    return whole


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_walks(seed: int, options: dict[str, Any]) -> None:
    assert agree(walks(seed), size=1 + 5 * seed, **options).support


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_noise_is_refuted_by_the_same_steps(seed: int, options: dict[str, Any]) -> None:
    assert agree(noisy(seed), size=1 + 2 * seed, **options).contradiction is not None


@pytest.mark.parametrize("seed", range(16))
def test_few_episodes_of_random_machines(seed: int) -> None:
    rng, kinds = np.random.default_rng(seed), EVERY[seed % len(EVERY)]
    few = random_steps(rng, kinds=kinds, episodes=8, length=6, rewards=3)
    traces = Traces.of([few.episode(int(n)) for n in rng.integers(0, len(few), 30)])
    agree(traces, size=1 + seed, trigger_on=kinds[0], reward_on=kinds[1])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300))
def test_many_episodes_of_random_machines(seed: int) -> None:
    test_few_episodes_of_random_machines(1_000 + seed)


def test_labels_are_compared_as_in_memory() -> None:
    """Where the coarsest labels have a large machine, others are tried."""
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(60):
        cells = rng.integers(0, 4, 7).tolist()
        episodes.append((cells, [0] * 6, [float(cell == cells[0]) for cell in cells[1:]]))
    assert agree(Traces.of(episodes), size=11).compared


def test_rewards_of_time() -> None:
    traces = Traces.of([([0] * n + [1], [0] * n, [0] * (n - 1) + [1 - n / 100]) for n in [*range(1, 9), 3, 3]])
    assert agree(traces, size=3).time is not None


def test_nothing_to_learn_from() -> None:
    assert agree(Traces.of([]), size=1).states == 1
    assert agree(Traces.of([([0], [], [])] * 3), size=2).states == 1


def test_memory_grows_with_histories_and_not_with_steps() -> None:
    once = walks(0)
    merger = Merger()
    for _ in range(50):
        merger.add(once)
    log = merger.merged()
    assert log.steps == merge([once]).steps < once.steps
    assert log.recorded == (50 * len(once), 50 * once.steps)
    assert log.depths().max() == once.depths().max()


def test_each_step_is_located_where_the_log_first_has_it() -> None:
    traces = walks(1)
    log = merge(Pieces(traces, 7).chunks())
    for step in range(0, log.steps, 97):
        episode, number = log.locate(step)
        here = traces.offsets[episode] + number
        assert log.depths()[step] == number
        assert log.rewards[step] == traces.rewards[here]
        assert log.states_before()[step] == traces.states_before()[here]
        assert log.states_after()[step] == traces.states_after()[here]
        assert log.ends()[step] == traces.ends()[here]


def test_a_learner_goes_on_with_more_of_a_stream() -> None:
    traces, learner = walks(2), Learner()
    few = Traces.of([traces.episode(n) for n in range(30)])
    for part in (few, traces, traces):
        fresh = learn(part)
        warm = learner.learn(Pieces(part, 7))
        assert (warm.status, warm.states, warm.triggers) == (fresh.status, fresh.states, fresh.triggers)


def test_split_streams_have_the_episodes_of_split_traces() -> None:
    traces = walks(3)
    for whole, part in zip(traces.split(0.3, seed=5), Pieces(traces, 7).split(0.3, seed=5), strict=True):
        read = part.read()
        assert list(read) == list(whole)
        assert len(part) == len(whole)
        assert read.observation_values == whole.observation_values
        assert np.array_equal(read.observations, whole.observations)
        assert as_printed(learn(part)) == as_printed(learn(whole))


def test_merged_traces_are_traces() -> None:
    assert isinstance(merge([walks(0)]), MergedTraces)
