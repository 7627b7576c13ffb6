"""Spaces: which are refused and with what advice, and numbers for the elements of the rest."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.spaces import (
    SpaceIndex,
    check_discrete,
    check_space,
    element_at,
    fits,
    index_of,
    size_of,
    value_of,
    values_of,
)
from markovize.errors import InputError, UnsupportedError

FINITE: list[tuple[Any, int]] = [
    (spaces.Discrete(5), 5),
    (spaces.Discrete(5, start=-2), 5),
    (spaces.MultiDiscrete([3, 4]), 12),
    (spaces.MultiDiscrete(np.array([[2, 3], [1, 2]]), start=np.array([[1, 0], [-1, 5]])), 12),
    (spaces.MultiBinary(3), 8),
    (spaces.MultiBinary([2, 2]), 16),
    (spaces.Box(-1, 1, (2,), np.int8), 9),
    (spaces.Box(0, 3, (), np.uint8), 4),
    (spaces.Tuple((spaces.Discrete(2, start=1), spaces.MultiDiscrete([2, 3]))), 12),
]


@pytest.mark.parametrize(("space", "size"), FINITE, ids=str)
def test_numbers_are_a_bijection(space: Any, size: int) -> None:
    assert size_of(space) == size
    elements = [element_at(space, number) for number in range(size)]
    assert all(element in space for element in elements)
    assert [index_of(space, element) for element in elements] == list(range(size))
    assert len({value_of(element) for element in elements}) == size
    assert all(fits(space, value_of(element)) for element in elements)
    with pytest.raises(InputError, match="is not the number of an element"):
        element_at(space, size)


@pytest.mark.parametrize("space", [space for space, _ in FINITE], ids=str)
def test_samples_have_numbers_and_labels(space: Any) -> None:
    index = SpaceIndex(space)
    for _ in range(20):
        sample = space.sample()
        number = index.number(sample)
        assert value_of(index.element(number)) == value_of(sample)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.data())
@settings(max_examples=50, deadline=None)
def test_numbers_are_row_major(counts: list[int], data: st.DataObject) -> None:
    point = [data.draw(st.integers(0, count - 1)) for count in counts]
    assert index_of(spaces.MultiDiscrete(counts), point) == np.ravel_multi_index(tuple(point), tuple(counts))


@pytest.mark.parametrize(
    ("space", "element"),
    [
        (spaces.Discrete(4), 4),
        (spaces.Discrete(4), -1),
        (spaces.Discrete(4, start=2), 1),
        (spaces.Discrete(4), [1]),
        (spaces.MultiDiscrete([2, 2]), [0, 2]),
        (spaces.MultiDiscrete([2, 2]), [0]),
        (spaces.Box(0, 1, (), np.int8), 0.5),
        (spaces.Tuple((spaces.Discrete(2),)), (1, 1)),
        (spaces.Tuple((spaces.Discrete(2),)), 1),
    ],
)
def test_what_is_outside_has_no_number(space: Any, element: Any) -> None:
    with pytest.raises(InputError, match="is not an element of"):
        index_of(space, element)
    assert not fits(space, value_of(element))


def test_types_matter_to_labels() -> None:
    assert not fits(spaces.Discrete(2), True)
    assert fits(spaces.Box(0, 1, (1,), bool), (True,))
    assert not fits(spaces.Box(0, 1, (1,), bool), (1,))
    assert fits(spaces.Text(4, charset="ab"), "ab")
    assert not fits(spaces.Text(4, charset="ab"), "c")
    assert not fits(spaces.Text(4, charset="ab"), 1)
    assert not fits(spaces.MultiDiscrete(np.array([[2, 2], [2, 2]])), ((0, 1), 1))
    assert fits(spaces.Box(0.0, 1.0), 0.5)  # nothing is known of it, so nothing is held against it


@pytest.mark.parametrize(
    "space",
    [
        spaces.Text(3),
        spaces.Box(0.0, 1.0),
        spaces.Box(0, 255, (84, 84, 3), np.uint8),
        spaces.MultiBinary(63),
        spaces.Tuple((spaces.Text(3), spaces.Discrete(2))),
    ],
)
def test_no_size(space: Any) -> None:
    assert size_of(space) is None
    with pytest.raises(UnsupportedError, match="too many elements to number them"):
        SpaceIndex(space)


def test_the_largest_size() -> None:
    assert size_of(spaces.MultiBinary(62)) == 2**62


@pytest.mark.parametrize(
    ("name", "words"),
    [("CartPole", "DiscretizeObservation"), ("Blackjack", None), ("Taxi", None), ("CliffWalking", None)],
)
def test_environments(name: str, words: str | None) -> None:
    env = gym.make(max(id for id in gym.registry if id.startswith(f"{name}-v")))  # whatever this Gymnasium has
    if words is None:
        check_discrete(env)
    else:
        with pytest.raises(UnsupportedError, match=words):
            check_discrete(env)


@pytest.mark.parametrize(
    ("space", "what", "words"),
    [
        (spaces.Box(0.0, 1.0, (3,)), "observation", "observations are continuous .*DiscretizeObservation .* or a Tra"),
        (spaces.Box(0.0, 1.0, (3,)), "action", "actions are continuous .*DiscretizeAction .* or a TransformAction"),
        (spaces.Dict({"a": spaces.Discrete(2)}), "observation", "Dict space.*FlattenObservation.*TransformObservation"),
        (spaces.Dict({"a": spaces.Discrete(2)}), "action", "Dict space.*TransformAction"),
        (spaces.Graph(spaces.Discrete(2), None), "observation", "Graph space.*TransformObservation"),
        (spaces.Tuple((spaces.Discrete(2), spaces.Box(0.0, 1.0))), "observation", "continuous"),
    ],
)
def test_advice(space: Any, what: str, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        check_space(space, what)


def test_the_advice_works() -> None:
    space = spaces.Dict({"a": spaces.Discrete(2), "b": spaces.MultiBinary(2)})
    check_space(spaces.flatten_space(space))
    if hasattr(gym.wrappers, "DiscretizeObservation"):
        env = gym.make("CartPole-v1")
        wide = np.array([5.0, 5.0, 1.0, 5.0], np.float32)
        bounded = gym.wrappers.TransformObservation(env, lambda o: np.clip(o, -wide, wide), spaces.Box(-wide, wide))
        check_discrete(gym.wrappers.DiscretizeObservation(bounded, bins=4))


@pytest.mark.parametrize(
    ("raw", "name"), [({"a": 1}, "dict"), (object(), "object"), (None, "null"), ([1, [None]], "null")]
)
def test_what_is_no_label(raw: Any, name: str) -> None:
    with pytest.raises(InputError, match=rf"this action is no label: (a )?{name} is not"):
        value_of(raw, "action")


def test_batches() -> None:
    assert values_of(spaces.Discrete(3), np.array([2, 0])) == [2, 0]
    assert values_of(spaces.Discrete(3), [np.int64(2), 0]) == [2, 0]
    assert values_of(spaces.Text(3), ("a", "b")) == ["a", "b"]
    pair = spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2)))
    assert values_of(pair, (np.array([1, 2]), np.array([[0, 1], [1, 1]], np.int8))) == [(1, (0, 1)), (2, (1, 1))]
