"""Names for the entries of a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markovize.episodes.features.function import ObservationFeatures
from markovize.errors import InputError, one_line


def named(*names: str) -> ObservationFeatures:
    """Features of observations that are vectors, by these names; entries called ``_`` are left out.

    >>> features = named("x", "y", "_")
    >>> features((0.0, 1.0, 9.0), "go", (0.5, 2.0, 9.0))
    {'x': 0.5, 'y': 2.0, 'before.x': 0.0, 'before.y': 1.0}
    >>> features((0.0, 1.0), "go", (0.5, 2.0))
    Traceback (most recent call last):
    markovize.errors.InputError: named() has 3 names, but the observation (0.0, 1.0) has 2 entries
    """
    kept = [name for name in names if name != "_"]
    if not kept or len(set(kept)) != len(kept) or not all(names):
        raise InputError(f"named() needs different names, at least one, not {one_line(names, 80)}")

    def by_name(vector: Any) -> Mapping[str, Any]:
        entries = plain_vector(vector)
        if len(entries) != len(names):
            raise InputError(
                f"named() has {len(names)} names, but the observation {one_line(vector, 60)} has {len(entries)} entries"
            )
        return {name: value for name, value in zip(names, entries, strict=True) if name != "_"}

    return ObservationFeatures(by_name)


def plain_vector(vector: Any) -> list[Any]:
    """The entries of a vector, as Python's own numbers where it is an array.

    >>> import numpy as np
    >>> plain_vector(np.array([1, 2])), plain_vector((0.5, "a"))
    ([1, 2], [0.5, 'a'])
    """
    if hasattr(vector, "tolist"):
        vector = vector.tolist()
    if not isinstance(vector, (list, tuple)):
        raise InputError(f"the observation is no vector: {one_line(vector, 60)}")
    return list(vector)
