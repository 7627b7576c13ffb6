"""The compiled inner loops of the deep agents: whole episodes, and recurrent layers swept over them.

A network's weights change once per episode, and what it sees is the number of a cell. So an episode is played in one
call, and the input layer is a row of its weights. Each loop has its twin in PyTorch, in the tests.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from markovize.episodes.traces import Bools, Floats, Ints, Longs

Singles = npt.NDArray[np.float32]
RNN: Final = 0
GRU: Final = 1
LSTM: Final = 2
LIMIT: Final = np.float32(9.0)  # beyond it, tanh is 1 in single precision
FAST: Final = {"contract", "reassoc", "nsz", "nnan"}


class Course(NamedTuple):
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


@njit(cache=True, error_model="numpy", fastmath=FAST)
def tanh(x: np.float32) -> np.float32:
    """Lambert's continued fraction for a quarter of x, doubled twice; unlike the library's it is vectorised."""
    x = min(max(x, -LIMIT), LIMIT) * np.float32(0.25)
    y = x * x
    above = x * (np.float32(135135) + y * (np.float32(17325) + y * (np.float32(378) + y)))
    below = np.float32(135135) + y * (np.float32(62370) + y * (np.float32(3150) + y * np.float32(28)))
    t = above / below
    t = np.float32(2) * t / (np.float32(1) + t * t)
    return np.float32(2) * t / (np.float32(1) + t * t)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def sigmoid(x: np.float32) -> np.float32:
    """The logistic function."""
    return np.float32(0.5) + np.float32(0.5) * tanh(np.float32(0.5) * x)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_product(out: Singles, matrix: Singles, vector: Singles) -> None:
    """out += matrix @ vector, four rows at a time."""
    rows, columns = matrix.shape
    whole = rows - rows % 4
    for i in range(0, whole, 4):
        a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for k in range(columns):
            a += matrix[i, k] * vector[k]
            b += matrix[i + 1, k] * vector[k]
            c += matrix[i + 2, k] * vector[k]
            d += matrix[i + 3, k] * vector[k]
        out[i] += a
        out[i + 1] += b
        out[i + 2] += c
        out[i + 3] += d
    for i in range(whole, rows):
        for k in range(columns):
            out[i] += matrix[i, k] * vector[k]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def add_product_back(out: Singles, vector: Singles, matrix: Singles) -> None:
    """out += vector @ matrix, eight rows at a time."""
    rows, columns = matrix.shape
    whole = rows - rows % 8
    for k in range(0, whole, 8):
        a, b, c, d = vector[k], vector[k + 1], vector[k + 2], vector[k + 3]
        e, f, g, h = vector[k + 4], vector[k + 5], vector[k + 6], vector[k + 7]
        for i in range(columns):
            out[i] += (
                a * matrix[k, i]
                + b * matrix[k + 1, i]
                + c * matrix[k + 2, i]
                + d * matrix[k + 3, i]
                + e * matrix[k + 4, i]
                + f * matrix[k + 5, i]
                + g * matrix[k + 6, i]
                + h * matrix[k + 7, i]
            )
    for k in range(whole, rows):
        for i in range(columns):
            out[i] += vector[k] * matrix[k, i]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def finish_values(hidden: Singles, layers: Layers, out: Singles) -> None:
    """The values of all actions, from what comes out of the first layer."""
    middle = layers.middle_bias.copy()
    add_product(middle, layers.middle, hidden)
    for i in range(len(middle)):
        middle[i] = max(middle[i], np.float32(0))
    for a in range(len(out)):
        out[a] = layers.last_bias[a]
    add_product(out, layers.last, middle)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def view_values(first: First, layers: Layers, s: int, m: int, hidden: Singles, out: Singles) -> None:
    """The values of all actions in one view."""
    bits, n_states = first.bits[m], len(first.weights) - first.bits.shape[1]
    for i in range(len(hidden)):
        hidden[i] = first.bias[i] + first.weights[s, i]
    for j in range(len(bits)):
        for i in range(len(hidden)):
            hidden[i] += bits[j] * first.weights[n_states + j, i]
    for i in range(len(hidden)):
        hidden[i] = max(hidden[i], np.float32(0))
    finish_values(hidden, layers, out)


# --- episodes -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def take(course: Course, walk: Walk, n: int, u: int, m: int, s: int, a: int) -> tuple[bool, int, int, int]:
    """Writes step n and what is seen after it; (whether the episode ends, u, m and s) after it."""
    n_states = len(course.successor)
    end, after = course.ends[u, s, a], (course.machine[u, s, a], course.memory[m, s, a], course.successor[s, a])
    walk.views[n], walk.actions[n], walk.rewards[n] = m * n_states + s, a, course.reward[u, s, a]
    walk.views[n + 1] = after[1] * n_states + after[2]
    walk.outcome[0], walk.outcome[1] = n + 1, end
    return end, after[0], after[1], after[2]


@njit(cache=True)
def play(course: Course, first: First, layers: Layers, epsilon: float, rng: np.random.Generator, walk: Walk) -> float:
    """An ε-greedy episode of an agent without hidden state; each view is evaluated at its first visit. Its return."""
    n_states, n_actions = course.successor.shape
    values = np.zeros((len(course.memory) * n_states, n_actions), np.float32)
    known = np.zeros(len(values), np.bool_)
    hidden = np.zeros(len(first.bias), np.float32)
    s, u, m, total, end, n = course.start, course.initial, 0, 0.0, False, 0
    while n < len(walk.actions) and not end:
        view = m * n_states + s
        if rng.random() < epsilon:
            a = int(rng.random() * n_actions)
        else:
            if not known[view]:
                view_values(first, layers, s, m, hidden, values[view])
                known[view] = True
            a = int(np.argmax(values[view]))
        total += course.reward[u, s, a]
        end, u, m, s = take(course, walk, n, u, m, s, a)
        n += 1
    return total


@njit(cache=True)
def play_recurrently(
    course: Course,
    kind: int,
    recurrence: Recurrence,
    layers: Layers,
    epsilon: float,
    rng: np.random.Generator,
    walk: Walk,
) -> float:
    """An ε-greedy episode of an agent that remembers by a recurrent layer. Its return."""
    n_actions = course.successor.shape[1]
    size = recurrence.outputs.shape[1]
    output, cell, values = np.zeros(size, np.float32), np.zeros(size, np.float32), np.zeros(n_actions, np.float32)
    gates = np.zeros(4 * size, np.float32)
    s, u, m, total, end, n = course.start, course.initial, 0, 0.0, False, 0
    while n < len(walk.actions) and not end:
        advance(kind, recurrence, s, output, cell, gates)
        if rng.random() < epsilon:
            a = int(rng.random() * n_actions)
        else:
            finish_values(output, layers, values)
            a = int(np.argmax(values))
        total += course.reward[u, s, a]
        end, u, m, s = take(course, walk, n, u, m, s, a)
        n += 1
    return total


@njit(cache=True)
def play_optimally(course: Course, best: Bools, rng: np.random.Generator, walk: Walk) -> float:
    """An episode of actions that are ``best[u, s, a]``, equal ones drawn at random. Its return."""
    s, u, m, total, end, n = course.start, course.initial, 0, 0.0, False, 0
    while n < len(walk.actions) and not end:
        left = int(rng.random() * best[u, s].sum())
        a = 0
        while not best[u, s, a] or left > 0:
            left -= best[u, s, a]
            a += 1
        total += course.reward[u, s, a]
        end, u, m, s = take(course, walk, n, u, m, s, a)
        n += 1
    return total


# --- recurrent layers -----------------------------------------------------------------------------------------------


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
