"""The arrays that the compiled loops work on, grouped by what they know."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from markovize.episodes.traces import Bools, Floats, Ints

Singles: TypeAlias = npt.NDArray[np.float32]


class WorldTables(NamedTuple):
    """A world as an agent walks it. ``machine`` pays and is hidden; ``memory`` is what the agent keeps in mind itself.

    What the agent sees in state s with memory m is called its view, ``m * states + s``.
    """

    successor: Ints  # [s, a]
    machine: Ints  # [u, s, a]
    reward: Floats  # [u, s, a]
    ends: Bools  # [u, s, a]
    memory: Ints  # [m, s, a]
    start: int
    initial: int


class Walk(NamedTuple):
    """Room for one episode; ``outcome`` is (steps, whether it ended by itself)."""

    views: Ints
    actions: Ints
    rewards: Singles
    outcome: Ints


class Layers(NamedTuple):
    """The last two layers of a network: from what comes out of the one before to the values of all actions."""

    middle: Singles  # [to, from]
    middle_bias: Singles
    last: Singles  # [action, from]
    last_bias: Singles


class First(NamedTuple):
    """The layer before them, of an agent without hidden state; its inputs are a state one-hot, then ``bits``."""

    weights: Singles  # [input, to]
    bias: Singles
    bits: Singles  # [m, bit]


class Recurrence(NamedTuple):
    """The layer before them, of an agent with a hidden state: from state and last output to all gates."""

    inputs: Singles  # [s, gate]
    input_bias: Singles
    outputs: Singles  # [gate, from]
    output_bias: Singles
