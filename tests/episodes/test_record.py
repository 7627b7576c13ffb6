"""Observations that are objects: one value, whatever the order of names; in files; and where they are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import markovize
from markovize import InputError, Traces
from markovize.episodes.record import Record
from markovize.episodes.spaces import value_of, values_of
from markovize.episodes.values import Interner, canonical, key_of

ROOM = {"image": np.array([[1, 2], [3, 4]], np.uint8), "door": "shut", "heat": np.float32(0.5)}


def test_the_order_of_names_means_nothing() -> None:
    first, second = (canonical(raw, objects=True) for raw in (ROOM, dict(reversed(ROOM.items()))))
    assert first == second and hash(first) == hash(second)
    assert isinstance(first, Record)
    assert first["image"] == ((1, 2), (3, 4)) and first["heat"] == 0.5
    assert dict(first.items()) == {"door": "shut", "heat": 0.5, "image": ((1, 2), (3, 4))}
    with pytest.raises(KeyError):
        first["window"]


def test_an_object_is_no_list_of_its_pairs() -> None:
    table = Interner(objects=True)
    assert table.ids([{"a": 1}, [["a", 1]], {"a": 1.0}, {"a": True}]) == [0, 1, 0, 2]
    assert key_of(canonical({"a": {"b": 1}}, objects=True)) != key_of((("a", (("b", 1),)),))


def test_batches_of_vector_environments() -> None:
    inner = gym.spaces.Dict({"door": gym.spaces.Discrete(3)})
    space = gym.spaces.Dict({"at": gym.spaces.Box(0.0, 1.0, (2,)), "in": inner})
    batch = {"at": np.array([[0.0, 0.5], [1.0, 0.25]]), "in": {"door": np.array([2, 0])}}
    singles: list[Any] = [{"at": [0, 0.5], "in": {"door": 2}}, {"at": [1, 0.25], "in": {"door": 0}}]
    assert values_of(space, batch) == [value_of(single, objects=True) for single in singles]


def test_episodes_of_objects_are_written_and_read(tmp_path: Path) -> None:
    traces = Traces.of([([ROOM, ROOM | {"door": "open"}], ["push"], [1.0], True)])
    markovize.write_episodes(tmp_path / "log.jsonl", traces)
    assert '{"door": "shut", "heat": 0.5, "image": [[1, 2], [3, 4]]}' in (tmp_path / "log.jsonl").read_text()
    again = markovize.read_episodes(tmp_path / "log.jsonl")
    assert again.episode(0) == traces.episode(0)
    learned = markovize.learn(again, trigger_on=lambda _s, _a, t: t["door"], reward_on=lambda _s, _a, t: t["door"])
    assert learned.unwrap().to_json()["rewards"][0]["on"] == "open"
    with pytest.raises(markovize.UnsupportedError, match="use JSONL"):
        markovize.write_episodes(tmp_path / "log.csv", traces)


@pytest.mark.parametrize(
    ("observations", "said"),
    [
        ([{"x": 1}, {"y": 1}], r"\[1\] is not an object with the names of the first, \['x'\]"),
        ([{"x": 1}, 3], r"\[0\]: a dict is not a label"),
        ([3, {"x": 1}], "a dict is not a label"),
        ([{"x": None}, {"x": 1}], "null is not a label"),
        ([{3: 1}, {3: 1}], "the names of an object are strings"),
    ],
)
def test_other_mixtures_are_refused(observations: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Traces.of([(observations, ["go"], [0.0])])


def test_neither_actions_nor_labels_are_objects() -> None:
    with pytest.raises(InputError, match="a dict is not a label"):
        Traces.of([([0, 1], [{"go": 1}], [0.0])])
    traces = Traces.of([([{"x": 1}, {"x": 2}], ["go"], [0.0])])
    with pytest.raises(InputError, match="is no label: an object is not a label"):
        markovize.learn(traces, trigger_on=lambda _s, _a, t: t, reward_on=lambda _s, _a, t: t["x"])
    with pytest.raises(InputError, match=r"objects, which are no 'transition' labels; .* as reward_on="):
        markovize.learn(traces, trigger_on=lambda _s, _a, t: t["x"], reward_on="transition")
