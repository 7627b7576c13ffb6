"""Stacked observations: features of the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markovize.episodes.features.function import ObservationFeatures
from markovize.errors import InputError, one_line
from markovize.features.columns import named, plain_vector


def last_frame(*names: str, stacked: int | None = None) -> ObservationFeatures:
    """Features of the newest of several stacked vectors, by these names, or ``0``, ``1``, … where none are given.

    Stacks have the newest vector last, as those of ``gymnasium.wrappers.FrameStackObservation``. Where they have been
    flattened, ``stacked`` says how many vectors they hold.

    >>> last_frame("x", "y").function([(0.0, 1.0), (0.5, 2.0)])
    {'x': 0.5, 'y': 2.0}
    >>> last_frame(stacked=2).function((0.0, 1.0, 0.5, 2.0))
    {'0': 0.5, '1': 2.0}
    """
    if stacked is not None and stacked < 1:
        raise InputError(f"stacked must be at least 1, not {stacked}")
    by_name = named(*names) if names else None

    def newest(stack: Any) -> Mapping[str, Any]:
        entries = plain_vector(stack)
        if stacked is None:
            frame = plain_vector(entries[-1]) if entries else []
        elif len(entries) % stacked:
            raise InputError(
                f"{one_line(stack, 60)} cannot be {stacked} stacked vectors: it has {len(entries)} entries"
            )
        else:
            frame = entries[len(entries) - len(entries) // stacked :]
        return by_name.function(frame) if by_name else {str(place): value for place, value in enumerate(frame)}

    return ObservationFeatures(newest)
