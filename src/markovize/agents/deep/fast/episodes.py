"""Whole episodes, compiled: by a network, by one with a recurrent layer, and by optimal actions."""

from __future__ import annotations

import numpy as np
from numba import njit

from markovize.agents.deep.fast.arrays import First, Layers, Recurrence, Walk, WorldTables
from markovize.agents.deep.fast.layers import finish_values, view_values
from markovize.agents.deep.fast.recurrence import advance
from markovize.episodes.traces import Bools


@njit(cache=True)
def take(tables: WorldTables, walk: Walk, n: int, u: int, m: int, s: int, a: int) -> tuple[bool, int, int, int]:
    """Writes step n and what is seen after it; (whether the episode ends, u, m and s) after it."""
    n_states = len(tables.successor)
    end, after = tables.ends[u, s, a], (tables.machine[u, s, a], tables.memory[m, s, a], tables.successor[s, a])
    walk.views[n], walk.actions[n], walk.rewards[n] = m * n_states + s, a, tables.reward[u, s, a]
    walk.views[n + 1] = after[1] * n_states + after[2]
    walk.outcome[0], walk.outcome[1] = n + 1, end
    return end, after[0], after[1], after[2]


@njit(cache=True)
def play(
    tables: WorldTables, first: First, layers: Layers, epsilon: float, rng: np.random.Generator, walk: Walk
) -> float:
    """An ε-greedy episode of an agent without hidden state; each view is evaluated at its first visit. Its return."""
    n_states, n_actions = tables.successor.shape
    values = np.zeros((len(tables.memory) * n_states, n_actions), np.float32)
    known = np.zeros(len(values), np.bool_)
    hidden = np.zeros(len(first.bias), np.float32)
    s, u, m, total, end, n = tables.start, tables.initial, 0, 0.0, False, 0
    while n < len(walk.actions) and not end:
        view = m * n_states + s
        if rng.random() < epsilon:
            a = int(rng.random() * n_actions)
        else:
            if not known[view]:
                view_values(first, layers, s, m, hidden, values[view])
                known[view] = True
            a = int(np.argmax(values[view]))
        total += tables.reward[u, s, a]
        end, u, m, s = take(tables, walk, n, u, m, s, a)
        n += 1
    return total


@njit(cache=True)
def play_recurrently(
    tables: WorldTables,
    kind: int,
    recurrence: Recurrence,
    layers: Layers,
    epsilon: float,
    rng: np.random.Generator,
    walk: Walk,
) -> float:
    """An ε-greedy episode of an agent that remembers by a recurrent layer. Its return."""
    n_actions = tables.successor.shape[1]
    size = recurrence.outputs.shape[1]
    output, cell, values = np.zeros(size, np.float32), np.zeros(size, np.float32), np.zeros(n_actions, np.float32)
    gates = np.zeros(4 * size, np.float32)
    s, u, m, total, end, n = tables.start, tables.initial, 0, 0.0, False, 0
    while n < len(walk.actions) and not end:
        advance(kind, recurrence, s, output, cell, gates)
        if rng.random() < epsilon:
            a = int(rng.random() * n_actions)
        else:
            finish_values(output, layers, values)
            a = int(np.argmax(values))
        total += tables.reward[u, s, a]
        end, u, m, s = take(tables, walk, n, u, m, s, a)
        n += 1
    return total


@njit(cache=True)
def play_optimally(tables: WorldTables, best: Bools, rng: np.random.Generator, walk: Walk) -> float:
    """An episode of actions that are ``best[u, s, a]``, equal ones drawn at random. Its return."""
    s, u, m, total, end, n = tables.start, tables.initial, 0, 0.0, False, 0
    while n < len(walk.actions) and not end:
        left = int(rng.random() * best[u, s].sum())
        a = 0
        while not best[u, s, a] or left > 0:
            left -= best[u, s, a]
            a += 1
        total += tables.reward[u, s, a]
        end, u, m, s = take(tables, walk, n, u, m, s, a)
        n += 1
    return total
