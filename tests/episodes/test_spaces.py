"""Spaces: which are refused and with what advice, and the labels of the rest."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from markovize.episodes.spaces import check_discrete, check_space, fits, value_of, values_of
from markovize.errors import InputError, UnsupportedError


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
