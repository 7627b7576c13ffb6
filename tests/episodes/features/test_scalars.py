"""The columns of observations are remembered with their episodes: what a second call gets is what a first one would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from markovize.episodes.features import extract_features
from markovize.episodes.features.scalars import Scalars
from markovize.episodes.traces import Traces
from markovize.errors import InputError

SEEN = [{"x": 0, "here": "hall"}, {"x": 1.5, "here": "door"}, {"x": 2, "here": "hall"}]


def walk(seen: Sequence[object]) -> Traces:
    return Traces.of([(seen, ["go"] * (len(seen) - 1), [0.0] * (len(seen) - 1))])


def test_second_call_gets_what_a_first_one_gets() -> None:
    traces = walk(SEEN)
    every: tuple[dict[str, Any], ...] = ({}, {"before": True}, {"categorical": ["x"]}, {})
    for options in every:
        once, fresh = extract_features(traces, **options), extract_features(walk(SEEN), **options)
        assert once.features == fresh.features
        assert once.values == fresh.values
        for ours, theirs in zip(once.columns, fresh.columns, strict=True):
            assert np.array_equal(ours, theirs)


def test_what_a_function_made_up_for_is_still_refused_without_it() -> None:
    unlike = walk([1, (1, 2), 3])
    with_function = extract_features(unlike, function=lambda _s, _a, t: {"is_list": isinstance(t, tuple)})
    assert [feature.name for feature in with_function.features] == ["is_list"]
    with pytest.raises(InputError, match="not alike"):
        extract_features(unlike)


def test_numbers_that_are_none_are_refused_each_time() -> None:
    mixed = Scalars([1, "two"])
    for _ in range(2):
        with pytest.raises(InputError, match="the feature x is not numeric: 'two' is no number"):
            mixed.numbers("x")
    with pytest.raises(InputError, match="too large"):
        Scalars([10**400]).numbers("x")
