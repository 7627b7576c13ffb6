"""From triggers to a machine: the order in which files list labels of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.values import Value, canonical, sort_key
from markovize.learning.assembly import _plainly_ordered, _rank

SCALARS = st.one_of(st.booleans(), st.integers(-3, 3), st.floats(-2, 2), st.text("ab", max_size=2)).map(canonical)
ROWS = st.lists(SCALARS, max_size=3).map(tuple)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.lists(SCALARS), st.lists(ROWS), st.lists(st.one_of(SCALARS, ROWS))))
def test_labels_are_ranked_as_by_their_sort_keys(values: list[Value]) -> None:
    every = range(len(values))
    assert list(_rank(every, values)) == sorted(every, key=lambda n: sort_key(values[n]))


@pytest.mark.parametrize(
    ("values", "plainly"),
    [
        ([1, 2.5], True),
        (["a", "b"], True),
        ([1, "a"], False),
        ([True, 1], False),
        ([(1, "a"), (2, "b")], True),
        ([(1,), (2, 3)], False),
        ([(True,), (1,)], False),
        ([((1,),), ((2,),)], False),
        ([], True),
    ],
)
def test_where_pythons_own_order_will_do(values: list[Value], plainly: bool) -> None:
    assert _plainly_ordered(values) == plainly


def test_ranks_of_some_labels_only() -> None:
    assert _rank({2, 0}, ["c", "x", "a"]) == {2: 0, 0: 1}
    assert np.array([*_rank(range(2), [(2, 1), (1, 9)]).values()]).tolist() == [0, 1]
