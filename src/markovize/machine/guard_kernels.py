"""The compiled loop that runs a machine with guards over episodes; a plain Python twin is in the tests.

Guards are arrays: those of state u are ``of_state[u] : of_state[u + 1]``, in listed order; guard g has the literals
``first[g] : first[g + 1]``; a literal asks whether low ≤ numbers[column] < high, or, where ``column`` is negative,
whether codes[-1 - column] is the code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from markovize.episodes.traces import Floats, Ints, Longs
from markovize.machine.kernels import state_at_start


class CompiledGuards(NamedTuple):
    """The guards of a machine's triggers, as the loop reads them."""

    of_state: Ints  # for each state its first guard, and the end
    target: Ints  # where each guard leads
    number: Ints  # which of the machine's triggers it is of
    first: Ints  # for each guard its first literal, and the end
    column: Ints
    low: Floats
    high: Floats
    code: Ints


@njit(cache=True)
def guarded_states(
    offsets: Longs, numbers: Floats, codes: Ints, guards: CompiledGuards, initial: int, starts: Ints | None = None
) -> tuple[Ints, Ints, Ints]:
    """The machine state before and after every step, and the trigger that fired or -1; columns are rows here."""
    steps = offsets[-1]
    before = np.zeros(steps, np.int32)
    after = np.zeros(steps, np.int32)
    fired = np.full(steps, -1, np.int32)
    for e in range(len(offsets) - 1):
        u = state_at_start(initial, after, starts, e)
        for n in range(offsets[e], offsets[e + 1]):
            before[n] = u
            for g in range(guards.of_state[u], guards.of_state[u + 1]):
                held = True
                for k in range(guards.first[g], guards.first[g + 1]):
                    column = guards.column[k]
                    if column < 0:
                        held = codes[-1 - column, n] == guards.code[k]
                    else:
                        value = numbers[column, n]
                        held = guards.low[k] <= value and value < guards.high[k]
                    if not held:
                        break
                if held:
                    u = guards.target[g]
                    fired[n] = guards.number[g]
                    break
            after[n] = u
    return before, after, fired
