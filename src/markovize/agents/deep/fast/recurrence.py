"""Recurrent layers, compiled: one step, a whole episode, and the way back through time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from markovize.agents.deep.fast.arrays import Recurrence, Singles
from markovize.agents.deep.fast.layers import FAST, add_product, add_product_back, sigmoid, tanh
from markovize.episodes.traces import Longs

RNN: Final = 0
GRU: Final = 1
LSTM: Final = 2


@njit(cache=True, error_model="numpy", fastmath=FAST)
def advance(kind: int, layer: Recurrence, s: int, output: Singles, cell: Singles, gates: Singles) -> None:
    """One step of a recurrent layer, as PyTorch defines it; ``gates`` keeps what the way back needs."""
    size = len(output)
    sums, x = layer.output_bias.copy(), layer.input_bias.copy()
    add_product(sums, layer.outputs, output)
    for i in range(len(x)):
        x[i] += layer.inputs[s, i]
    if kind == RNN:
        for i in range(size):
            output[i] = tanh(x[i] + sums[i])
    elif kind == GRU:
        for i in range(2 * size):
            gates[i] = sigmoid(x[i] + sums[i])
        for i in range(size):
            new = sums[2 * size + i]
            gates[2 * size + i] = tanh(x[2 * size + i] + gates[i] * new)
            gates[3 * size + i] = new
        for i in range(size):
            z = gates[size + i]
            output[i] = (np.float32(1) - z) * gates[2 * size + i] + z * output[i]
    else:
        for i in range(2 * size):
            gates[i] = sigmoid(x[i] + sums[i])
        for i in range(2 * size, 3 * size):
            gates[i] = tanh(x[i] + sums[i])
        for i in range(3 * size, 4 * size):
            gates[i] = sigmoid(x[i] + sums[i])
        for i in range(size):
            cell[i] = gates[size + i] * cell[i] + gates[i] * gates[2 * size + i]
            output[i] = gates[3 * size + i] * tanh(cell[i])


@njit(cache=True)
def sweep(kind: int, layer: Recurrence, states: Longs) -> tuple[Singles, Singles, Singles]:
    """A recurrent layer along an episode: outputs, cells (of an LSTM) and gates, each with a row for each step."""
    steps, size = len(states), layer.outputs.shape[1]
    outputs, cells = np.zeros((steps, size), np.float32), np.zeros((steps, size), np.float32)
    gates = np.zeros((steps, 4 * size), np.float32)
    output, cell = np.zeros(size, np.float32), np.zeros(size, np.float32)
    for n in range(steps):
        advance(kind, layer, states[n], output, cell, gates[n])
        for i in range(size):  # whole rows would take seconds to compile
            outputs[n, i], cells[n, i] = output[i], cell[i]
    return outputs, cells, gates


@njit(cache=True, error_model="numpy", fastmath=FAST)
def sweep_back(
    kind: int, layer: Recurrence, outputs: Singles, cells: Singles, gates: Singles, given: Singles
) -> tuple[Singles, Singles]:
    """The way back through time: from gradients of outputs to those of the gates' inputs and recurrent sums.

    They differ only in a GRU, whose reset gate stands between the two.
    """
    steps, size = outputs.shape
    one = np.float32(1)
    inputs, sums = np.zeros((steps, len(layer.outputs)), np.float32), np.zeros((steps, len(layer.outputs)), np.float32)
    back, back_cell = np.zeros(size, np.float32), np.zeros(size, np.float32)
    nothing = np.zeros(size, np.float32)
    for n in range(steps - 1, -1, -1):
        d_in, d_sum, gate = inputs[n], sums[n], gates[n]
        before = outputs[n - 1] if n > 0 else nothing
        if kind == RNN:
            for i in range(size):
                d_in[i] = (given[n, i] + back[i]) * (one - outputs[n, i] * outputs[n, i])
                d_sum[i] = d_in[i]
                back[i] = 0
        elif kind == GRU:
            for i in range(size):
                r, z, new, inner = gate[i], gate[size + i], gate[2 * size + i], gate[3 * size + i]
                d = given[n, i] + back[i]
                d_new = d * (one - z) * (one - new * new)
                d_in[i] = d_new * inner * r * (one - r)
                d_in[size + i] = d * (before[i] - new) * z * (one - z)
                d_in[2 * size + i] = d_new
                d_sum[i], d_sum[size + i], d_sum[2 * size + i] = d_in[i], d_in[size + i], d_new * r
                back[i] = d * z
        else:
            before_cell = cells[n - 1] if n > 0 else nothing
            for i in range(size):
                enter, keep, new, leave = gate[i], gate[size + i], gate[2 * size + i], gate[3 * size + i]
                d, shown = given[n, i] + back[i], tanh(cells[n, i])
                d_cell = back_cell[i] + d * leave * (one - shown * shown)
                d_in[i] = d_cell * new * enter * (one - enter)
                d_in[size + i] = d_cell * before_cell[i] * keep * (one - keep)
                d_in[2 * size + i] = d_cell * enter * (one - new * new)
                d_in[3 * size + i] = d * shown * leave * (one - leave)
                back_cell[i] = d_cell * keep
                back[i] = 0
            for i in range(4 * size):
                d_sum[i] = d_in[i]
        add_product_back(back, d_sum, layer.outputs)
    return inputs, sums
