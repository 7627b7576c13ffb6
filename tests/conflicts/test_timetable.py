"""Rewards that follow the step number but no line are named where no small machine explains them; nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from markovize import MarkovizeError, Traces, learn
from markovize.conflicts.timetable import find_timetable
from markovize.episodes.samples import sample_path
from markovize.io import read_episodes
from markovize.worlds import noisy_walks, random_grid_world, world

PRIMES = np.isin(np.arange(1, 21), [2, 3, 5, 7, 11, 13, 17, 19])


def walks(pays: np.ndarray[tuple[int], np.dtype[np.bool_]], episodes: int = 40) -> Traces:
    """Cells at random; a lit one pays at certain steps."""
    cells = np.random.default_rng(0).integers(0, 3, (episodes, len(pays) + 1))
    return Traces.of([(row.tolist(), [0] * len(pays), (row[1:] == 2) * pays.astype(float)) for row in cells])


def test_a_reward_at_prime_steps_is_one_of_time() -> None:
    traces = walks(PRIMES, 20)
    result = learn(traces)
    assert (result.status, result.machine, result.time) == ("unknown", None, find_timetable(traces))
    assert result.to_json()["time"].keys() == {"steps", "times"}
    with pytest.raises(MarkovizeError, match=r"one of time: .*TimeAwareObservation"):
        result.unwrap()


def test_where_a_small_machine_does_it_is_learned() -> None:
    """Every second step: the step number tells that as well, but two states are a shorter way to say it."""
    traces = walks(np.arange(40) % 2 == 1)
    assert find_timetable(traces) is not None
    result = learn(traces)
    assert (result.status, result.states, result.time) == ("optimal", 2, None)


def test_a_history_is_none() -> None:
    """The lit cell pays once the first one was entered."""
    cells = np.random.default_rng(0).integers(0, 3, (60, 41))
    ready = np.cumsum(cells[:, 1:] == 0, axis=1) > 0
    paid = ((cells[:, 1:] == 2) & ready).astype(float)
    assert find_timetable(Traces.of([(c.tolist(), [0] * 40, r) for c, r in zip(cells, paid, strict=True)])) is None


def test_no_world_of_ours_is_taken_for_one() -> None:
    places = [world("office", task=task) for task in "bcde"] + [world("breakfast", task=task) for task in "bc"]
    places += [world("beach"), *(random_grid_world(np.random.default_rng(n)) for n in range(5))]
    for place in places:
        for episodes in (3, 30, 300):
            for noise in (0.0, 0.2, 0.5):
                traces = noisy_walks(place, episodes, np.random.default_rng(episodes), noise=noise, max_steps=60)
                assert find_timetable(traces) is None or (learn(traces).time is None)


@pytest.mark.parametrize("name", ["office-e", "beach"])
def test_no_sample_is_taken_for_one(name: str) -> None:
    assert find_timetable(read_episodes(sample_path(name))) is None


def test_episodes_without_steps_or_conflicts_have_none() -> None:
    assert find_timetable(Traces.of([([0], [], [])])) is None
    assert find_timetable(Traces.of([([0, 1], [0], [1])] * 50)) is None
