"""Noisy walks: the compiled kernel against a plain twin, and what every walk obeys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError
from markovize.worlds import World, noisy_walks, random_grid_world, world
from markovize.worlds.walks import SHORTEST_CAP, always_ends, distances

pytestmark = pytest.mark.kernels

WORLDS = {
    "office": world("office", task="loop"),
    "breakfast": world("breakfast", task="b"),
    "beach": world("beach", levels=3),
}


def plain_walks(
    world: World, episodes: int, rng: np.random.Generator, noise: float, max_steps: int, targets: list[str]
) -> list[Episode]:
    """What the kernel does, in words rather than arrays. It must ask for random numbers in the same order."""
    ends = always_ends(world)
    ways = [distances(world, world.landmarks[name], ends).tolist() for name in targets]
    last, out = len(world.actions) - 1, []
    shortest = min(SHORTEST_CAP, max_steps)
    for _ in range(episodes):
        draw = rng.random()
        cap = shortest + int((max_steps + 1 - shortest) * draw * draw * draw)
        way = ways[int(rng.random() * len(ways))]
        state, u, ended = world.start, world.machine.initial, False
        episode = Episode([world.observations[state]], [], [])
        while not ended and episode.steps < cap:
            away, action = way[state], last
            if rng.random() < noise:
                action = int(rng.random() * len(world.actions))
            elif away > 0:
                nearer = [a for a in range(last + 1) if way[world.successor[state, a]] == away - 1]
                action = nearer[0]
                for number, other in enumerate(nearer[1:], start=2):
                    if rng.random() * number < 1.0:
                        action = other
            state, u, reward, ended = world.step(state, u, action)
            episode = Episode(
                [*episode.observations, world.observations[state]],
                [*episode.actions, world.actions[action]],
                [*episode.rewards, reward],
                ended,
                not ended,
            )
            if not ended and (away <= 0 or way[state] == 0):
                way = ways[int(rng.random() * len(ways))]
        out.append(episode)
    return out


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_the_kernel_walks_like_its_plain_twin(name: str, noise: float) -> None:
    place = WORLDS[name]
    targets = [n for n, cells in place.landmarks.items() if not always_ends(place)[list(cells)].all()]
    walked = noisy_walks(place, 60, np.random.default_rng(5), noise=noise, max_steps=80)
    assert list(walked) == plain_walks(place, 60, np.random.default_rng(5), noise, 80, targets)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.floats(0, 1), st.integers(1, 5))
def test_random_worlds_are_walked_like_by_the_plain_twin(seed: int, max_steps: int, noise: float, states: int) -> None:
    place = random_grid_world(np.random.default_rng(seed), width=5, height=4, states=states)
    options = {"noise": noise, "max_steps": max_steps}
    walked = noisy_walks(place, 8, np.random.default_rng(seed), targets="abcd", **options)  # type: ignore[arg-type]
    assert list(walked) == plain_walks(place, 8, np.random.default_rng(seed), noise, max_steps, list("abcd"))


def test_walks_depend_on_the_seed_and_on_nothing_else() -> None:
    place = WORLDS["office"]
    first, again, other = (noisy_walks(place, 50, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert list(first) == list(again)
    assert list(first) != list(other)


def test_a_generator_that_goes_on_gives_new_walks() -> None:
    rng = np.random.default_rng(3)
    assert list(noisy_walks(WORLDS["office"], 20, rng)) != list(noisy_walks(WORLDS["office"], 20, rng))


@pytest.mark.parametrize("name", WORLDS)
def test_columns_are_those_that_reading_the_episodes_would_give(name: str) -> None:
    walked = noisy_walks(WORLDS[name], 40, np.random.default_rng(2))
    read = Traces.of(list(walked))
    assert walked.observation_values == read.observation_values
    assert walked.action_values == read.action_values
    for column in ("observations", "actions", "rewards", "offsets", "terminated", "truncated"):
        assert np.array_equal(getattr(walked, column), getattr(read, column)), column
        assert getattr(walked, column).dtype == getattr(read, column).dtype, column


def test_typical_walks_are_short_and_some_are_long() -> None:
    walked = noisy_walks(world("office", task="e"), 3000, np.random.default_rng(0))
    lengths = np.diff(walked.offsets)
    assert lengths.max() <= 200
    assert 8 <= np.median(lengths) <= 60
    assert (lengths > 80).mean() > 0.05
    assert set(np.unique(walked.rewards)) == {-1.0, 0.0, 1.0}


def test_without_noise_paths_keep_clear_of_plants() -> None:
    walked = noisy_walks(world("office", task="e"), 300, np.random.default_rng(0), noise=0.0)
    assert walked.rewards.min() == 0


def test_what_always_ends_an_episode_is_not_a_target_unless_asked_for() -> None:
    beach = WORLDS["beach"]
    assert not noisy_walks(beach, 100, np.random.default_rng(0), noise=0.0).terminated.any()
    sent = noisy_walks(beach, 100, np.random.default_rng(0), noise=0.0, targets=["exit"])
    assert sent.terminated.all()
    assert sent.steps == 200


def test_a_target_out_of_reach_is_waited_for_once() -> None:
    beach = WORLDS["beach"]
    stuck = replace(beach, successor=np.array([[0] * 5, [1] * 5, [2] * 5], np.int32))
    walked = noisy_walks(stuck, 10, np.random.default_rng(0), noise=0.0, targets=["shack"])
    assert walked.action_values == [4]


def test_no_episodes_are_no_episodes() -> None:
    walked = noisy_walks(WORLDS["beach"], 0, np.random.default_rng(0))
    assert (len(walked), walked.steps) == (0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 1.5}, "noise between 0 and 1, not 10, 200, 1.5"),
        ({"max_steps": 0}, "max_steps ≥ 1"),
        ({"targets": ["moon"]}, "beach has the landmarks beach, shack, exit, not 'moon'"),
        ({"targets": []}, "at least one landmark"),
    ],
)
def test_bad_requests_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        noisy_walks(WORLDS["beach"], 10, np.random.default_rng(0), **options)  # type: ignore[arg-type]
