"""Layers of a network, compiled: from a view, or from what a recurrent layer gives, to the values of all actions."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from markovize.agents.deep.fast.arrays import First, Layers, Singles

LIMIT: Final = np.float32(9.0)  # beyond it, tanh is 1 in single precision
FAST: Final = {"contract", "reassoc", "nsz", "nnan"}


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
