"""Numbers for the elements of finite spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.spaces import fits, value_of
from markovize.errors import InputError, UnsupportedError
from markovize.gym.space_index import SpaceIndex, all_elements

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
    index = SpaceIndex(space)
    assert index.size == size
    elements = [index.element(number) for number in range(size)]
    assert all(element in space for element in elements)
    assert [index.number(element) for element in elements] == list(range(size))
    assert len({value_of(element) for element in elements}) == size
    assert all(fits(space, value_of(element)) for element in elements)
    with pytest.raises(InputError, match="is not the number of an element"):
        index.element(size)


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
    assert SpaceIndex(spaces.MultiDiscrete(counts)).number(point) == np.ravel_multi_index(tuple(point), tuple(counts))


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
        SpaceIndex(space).number(element)
    assert not fits(space, value_of(element))


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
def test_no_numbers(space: Any) -> None:
    with pytest.raises(UnsupportedError, match="too many elements to number them"):
        SpaceIndex(space)


def test_the_largest_size() -> None:
    assert SpaceIndex(spaces.MultiBinary(62)).size == 2**62


def test_all_elements_of_a_small_space() -> None:
    assert [value_of(element) for element in all_elements(spaces.MultiDiscrete([2, 2]))] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    with pytest.raises(UnsupportedError, match="has 32 elements; at most 31 can be tried one by one"):
        all_elements(spaces.MultiBinary(5), most=31)
