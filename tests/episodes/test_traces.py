"""Episodes: validated once, kept in columns, and given back unchanged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import markovize
from markovize.episodes.traces import Episode, Traces, TracesBuilder
from markovize.errors import InputError
from markovize.gym.wrappers.episode_file import EpisodeFile

T = TypeVar("T")


def exactly(n: int, values: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(values, min_size=n, max_size=n)


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    steps = draw(st.integers(0, 4))
    observation = st.integers(0, 2) | st.booleans() | st.sampled_from(["a", (1, 2), (True, 2), 0.5])
    return Episode(
        draw(exactly(steps + 1, observation)),
        draw(exactly(steps, st.sampled_from(["go", 1, True]))),
        draw(exactly(steps, st.floats(-2, 2).map(lambda r: r + 0.0))),  # -0.0 is for a test of its own
        draw(st.booleans()),
        draw(st.booleans()),
    )


def typed(episode: Episode) -> str:
    return repr(episode)  # unlike ==, tells True from 1


@settings(deadline=None)
@given(st.lists(episodes(), max_size=5))
def test_episodes_come_back_unchanged(given_episodes: list[Episode]) -> None:
    traces = Traces.of(given_episodes)
    assert len(traces) == len(given_episodes)
    assert traces.steps == sum(e.steps for e in given_episodes)
    assert [typed(e) for e in traces] == [typed(e) for e in given_episodes]
    assert [typed(e) for e in Traces.of(e.to_json() for e in traces)] == [typed(e) for e in given_episodes]


@settings(deadline=None)
@given(st.lists(episodes(), max_size=5))
def test_columns_say_what_the_episodes_say(given_episodes: list[Episode]) -> None:
    traces = Traces.of(given_episodes)
    places, before, after, ends = [], [], [], []
    for number, episode in enumerate(given_episodes):
        for n in range(episode.steps):
            places.append((number, n))
            before.append(episode.observations[n])
            after.append(episode.observations[n + 1])
            ends.append(episode.terminated and n == episode.steps - 1)
    assert [traces.locate(n) for n in range(traces.steps)] == places
    assert repr([traces.observation_values[i] for i in traces.states_before()]) == repr(before)
    assert repr([traces.observation_values[i] for i in traces.states_after()]) == repr(after)
    assert traces.ends().tolist() == ends


def test_one_number_one_observation() -> None:
    traces = Traces.of([([1, 1.0, True, np.int64(1), -0.0, 0], ["a"] * 5, [0] * 5)])
    assert traces.observations.tolist() == [0, 0, 1, 0, 2, 2]


def test_arrays_tuples_and_ranges_are_lists_too() -> None:
    arrays = Traces.of([(np.array([[0, 0], [0, 1]]), np.array([3]), np.array([0.5], np.float32), True, False)])
    assert typed(arrays.episode(0)) == typed(Episode([(0, 0), (0, 1)], [3], [0.5], True, False))
    assert Traces.of([(range(3), ("a", "b"), (0, 1))]).episode(0).observations == [0, 1, 2]


def test_episode_without_steps_is_counted_and_has_none() -> None:
    traces = Traces.of([([5], [], [], True), ([5, 6], ["a"], [1.0])])
    assert (len(traces), traces.steps) == (2, 1)
    assert traces.ends().tolist() == [False]
    assert traces.locate(0) == (1, 0)


def test_numbers_from_the_end_and_beyond() -> None:
    traces = Traces.of([([0, 1], ["a"], [0]), ([2, 3], ["b"], [1])])
    assert traces.episode(-1) == traces.episode(1)
    for number in (2, -3):
        with pytest.raises(IndexError):
            traces.episode(number)


def test_select_keeps_the_order_asked_for() -> None:
    traces = Traces.of([([n, n + 1], ["a"], [n]) for n in range(4)])
    assert [e.observations[0] for e in traces.select([3, 1, 3])] == [3, 1, 3]


GOOD: dict[str, Any] = {"observations": [0, 1], "actions": ["a"], "rewards": [0.5]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rewards": [1, 2]}, 'field "rewards" has 2 entries for 1 actions'),
        ({"observations": [0]}, 'field "observations" has 1 entries; 1 actions need 2'),
        ({"observations": [], "actions": [], "rewards": []}, 'field "observations" is empty'),
        ({"observations": 5}, 'field "observations" must be a list, not 5'),
        ({"actions": "a"}, "field \"actions\" must be a list, not 'a'"),
        ({"rewards": None}, 'field "rewards" must be a list, not null'),
        ({"observations": np.array(5)}, 'field "observations" must be a list, not array'),
        ({"observations": [0, None]}, 'field "observations"\\[1\\]: null is not a label'),
        ({"actions": [math.nan]}, 'field "actions"\\[0\\]: nan is not a finite number'),
        ({"rewards": [math.nan]}, 'field "rewards"\\[0\\] is nan; rewards must be finite'),
        ({"rewards": [math.inf]}, 'field "rewards"\\[0\\] is inf'),
        ({"rewards": [True]}, 'field "rewards"\\[0\\] must be a number, not True'),
        ({"rewards": ["1"]}, "must be a number, not '1'"),
        ({"rewards": [10**400]}, 'field "rewards"\\[0\\] is too large for a float'),
        ({"rewards": [[0] * 100]}, r"must be a number, not \[0, 0, .*\.\.\.$"),
        ({"terminated": 1}, 'field "terminated" must be true or false, not 1'),
        ({"truncated": 10**5_000}, 'field "truncated" must be true or false, not a int'),
    ],
)
def test_refused_with_the_place_and_the_field(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=f"^episode 1: .*{reason}"):
        Traces.of([GOOD, {**GOOD, **change}])


@pytest.mark.parametrize("name", ["observations", "actions", "rewards"])
def test_missing_field_is_named(name: str) -> None:
    with pytest.raises(InputError, match=f'^episode 0: field "{name}" is missing$'):
        Traces.of([{k: v for k, v in GOOD.items() if k != name}])


def test_tuples_of_the_wrong_length() -> None:
    with pytest.raises(InputError, match=r"^episode 0: needs \(observations, actions, rewards"):
        Traces.of([([0, 1], ["a"])])


def test_unknown_fields_are_ignored() -> None:
    assert Traces.of([{**GOOD, "comment": None, "terminated": np.bool_(True)}]).episode(0).terminated is True


def test_infinities_of_both_signs_and_numbers_near_the_largest() -> None:
    with pytest.raises(InputError, match='"rewards"\\[0\\] is inf'):
        Traces.of([([0, 0, 0], [0, 0], [math.inf, -math.inf])])
    largest = 1.7e308
    assert Traces.of([([0, 0, 0], [0, 0], [largest, largest])]).rewards.tolist() == [largest, largest]


def test_nothing_of_a_refused_episode_is_played() -> None:
    builder = TracesBuilder()
    builder.add([0, 1], ["a"], [0], where="first")
    with pytest.raises(InputError, match=r"^second: "):
        builder.add([0, 1, 2], ["a", None], [0, 0], where="second")
    builder.add([1, 0], ["a"], [1], True, where="third")
    assert [e.observations for e in builder.build()] == [[0, 1], [1, 0]]


def test_minus_zero_is_zero_in_every_file(tmp_path: Path) -> None:
    """The two are one number, so they must be one text: a file read and written again has equal bytes."""
    episode = Episode([0, 1], ["go"], [-0.0])
    assert [math.copysign(1, reward) for reward in Traces.of([episode]).rewards] == [1.0]
    EpisodeFile(tmp_path / "recorded.jsonl").append(episode)
    recorded = (tmp_path / "recorded.jsonl").read_bytes()
    assert b'"rewards": [0.0]' in recorded
    for ending in ("jsonl", "csv"):
        markovize.write_episodes(tmp_path / f"once.{ending}", markovize.read_episodes(tmp_path / "recorded.jsonl"))
        markovize.write_episodes(tmp_path / f"twice.{ending}", markovize.read_episodes(tmp_path / f"once.{ending}"))
        assert (tmp_path / f"once.{ending}").read_bytes() == (tmp_path / f"twice.{ending}").read_bytes()


def test_rewards_are_rounded_once_at_the_edge() -> None:
    builder = TracesBuilder(reward_decimals=1)
    builder.add([0] * 5, [0] * 4, [0.1 + 0.2, 0.25, -0.04, 3], where="")
    rewards = builder.build().rewards.tolist()
    assert rewards == [0.3, 0.2, 0.0, 3.0]
    assert math.copysign(1, rewards[2]) == 1, "no minus zero"


def test_nothing_at_all() -> None:
    traces = Traces.of([])
    assert (len(traces), traces.steps, list(traces), traces.ends().tolist()) == (0, 0, [], [])


def test_a_split_is_by_episodes_and_repeatable() -> None:
    whole = Traces.of([([0, n], ["go"], [n]) for n in range(20)])
    learned, held_out = whole.split(0.3, seed=1)
    parts = [[episode.rewards[0] for episode in part] for part in (learned, held_out)]
    assert [len(part) for part in parts] == [14, 6]
    assert sorted(parts[0] + parts[1]) == list(range(20))
    assert parts == [sorted(part) for part in parts], "in their order"
    again = whole.split(0.3, seed=1)[1]
    assert [episode.rewards[0] for episode in again] == parts[1]
    assert [episode.rewards[0] for episode in whole.split(0.3, seed=2)[1]] != parts[1]


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_a_split_needs_a_share_and_two_episodes(share: float) -> None:
    whole = Traces.of([([0, 1], ["go"], [0])] * 2)
    assert [len(part) for part in whole.split(0.01)] == [1, 1]
    with pytest.raises(InputError, match="between 0 and 1"):
        whole.split(share)
    with pytest.raises(InputError, match="at least 2 episodes"):
        whole.select([0]).split(0.5)
