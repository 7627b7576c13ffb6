"""The compiled loop that runs a machine over episodes; a plain Python twin is in the tests."""

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.episodes.traces import Ints, Longs


@njit(cache=True)
def state_at_start(initial: int, after: Ints, starts: Ints | None, episode: int) -> int:
    """The machine state in which an episode begins: where it goes on, if ``starts`` says so."""
    if starts is not None:  # noqa: SIM102 - the compiler drops this test, but not one of both
        if starts[episode] >= 0:
            return int(after[starts[episode]])
    return initial


@njit(cache=True)
def episode_states(
    offsets: Longs, labels: Ints, delta: Ints, initial: int, starts: Ints | None = None
) -> tuple[Ints, Ints]:
    """The machine state before and after every step; ``starts``: after which step an episode goes on, or -1."""
    before = np.zeros(len(labels), np.int32)
    after = np.zeros(len(labels), np.int32)
    for e in range(len(offsets) - 1):
        u = state_at_start(initial, after, starts, e)
        for n in range(offsets[e], offsets[e + 1]):
            before[n] = u
            u = delta[u, labels[n]]
            after[n] = u
    return before, after
