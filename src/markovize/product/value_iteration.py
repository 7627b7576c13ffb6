"""Value iteration, once for all that plans: products, worlds and their machines, machines alone, tabular agents.

Values are updated in place (Gauss-Seidel): each update sees those before it in the same sweep.
"""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numba import njit

from markovize.episodes.traces import Floats, Longs

if TYPE_CHECKING:
    from markovize.worlds import World

PRECISION: Final = 1e-14  # of Q*, relative to the largest value there can be: above rounding, far below any tie
BITS: Final = 64  # more than a double has: when an error has been halved so often, nothing of it is left


class Decisions(NamedTuple):
    """A Markov decision process with finitely many states, in sparse columns.

    The actions of state s are the rows ``rows[s] : rows[s + 1]``, the outcomes of a row ``first[row] : first[row + 1]``
    in the columns from ``target`` on. An outcome counts with its weight among the ``total`` of its row, be that
    probabilities or how often each was seen. ``discount`` is 0 where nothing follows. A row without outcomes is worth
    0, and so is a state without rows.
    """

    rows: Longs
    first: Longs
    total: Floats
    target: Longs
    weight: Floats
    reward: Floats
    discount: Floats


def iterate_values(decisions: Decisions, q: Floats, gamma: float, tolerance: float) -> Floats:
    """Improves ``q``, the values of all rows, until they are within ``tolerance`` of the optimum; the states' values.

    ``gamma`` is the largest discount. Where rounding forbids such a tolerance, it stops when no sweep can help.
    """
    values = np.zeros(len(decisions.rows) - 1)
    sweep_values(decisions, q, values, gamma, tolerance, most_sweeps(gamma))
    return values


def most_sweeps(gamma: float) -> int:
    """After so many sweeps, nothing is left of any error.

    >>> most_sweeps(0.0), most_sweeps(0.5)
    (1, 64)
    """
    return 1 if gamma == 0 else math.ceil(-BITS * math.log(2.0) / math.log(gamma))


@njit(cache=True)
def sweep_values(decisions: Decisions, q: Floats, values: Floats, gamma: float, tolerance: float, sweeps: int) -> bool:
    """At most so many sweeps over all rows; whether ``q`` is within the tolerance then. The next call goes on."""
    rows, first, total = decisions.rows, decisions.first, decisions.total
    target, weight, reward, discount = decisions.target, decisions.weight, decisions.reward, decisions.discount
    states = np.arange(len(values))
    for s in states:
        values[s] = best_of(q, rows[s], rows[s + 1])
    for _ in range(sweeps):
        change = 0.0
        for s in states:
            for row in range(rows[s], rows[s + 1]):
                value = 0.0
                for x in range(first[row], first[row + 1]):
                    value += weight[x] * (reward[x] + discount[x] * values[target[x]])
                if total[row] > 0:
                    value /= total[row]
                change = max(change, abs(value - q[row]))
                q[row] = value
                values[s] = best_of(q, rows[s], rows[s + 1])
        if change * gamma <= tolerance * (1.0 - gamma):  # then the fixed point is within the tolerance
            return True
        if len(states) == len(values):  # rows without outcomes are worth 0 now, and stay so
            states = states[first[rows[states]] < first[rows[states + 1]]]
    return False


@njit(cache=True)
def best_of(q: Floats, begin: int, end: int) -> float:
    """The largest of these values; 0 if there are none."""
    if begin == end:
        return 0.0
    top = q[begin]
    for row in range(begin + 1, end):
        top = max(top, q[row])
    return float(top)


def optimal_values(world: World, gamma: float) -> Floats:
    """Q* of the true product of world and machine, indexed ``[u, state, action]``.

    >>> from markovize.worlds import world
    >>> office = world("office", task="b")
    >>> value = optimal_values(office, 0.95)[0, office.start].max()  # 15 steps, the last of which pays
    >>> bool(abs(value - 0.95**14) < 1e-9)
    True
    """
    if world.drift is not None:
        return _optimal_values_by_chance(world, gamma)
    tables = world.tables
    machine_states, states, actions = tables.reward.shape
    steps = tables.reward.size
    decisions = Decisions(
        rows=np.arange(0, steps + 1, actions),
        first=np.arange(steps + 1),
        total=np.ones(steps),
        target=(tables.u * np.int64(states) + world.successor).ravel(),
        weight=np.ones(steps),
        reward=tables.reward.ravel(),
        discount=np.where(tables.terminated, 0.0, gamma).ravel(),
    )
    q = np.zeros(steps)
    largest = float(np.abs(tables.reward).max()) / (1.0 - gamma)
    iterate_values(decisions, q, gamma, PRECISION * largest)
    return q.reshape(machine_states, states, actions)


def _optimal_values_by_chance(world: World, gamma: float) -> Floats:
    """The same where chance moves the world on: each step has an outcome for each state that may come."""
    assert world.drift is not None
    states, actions = world.successor.shape
    shape = world.machine.states, states, actions, states
    target, reward, discount = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape)
    for u, s, a, t in np.ndindex(shape):
        step = world.step(s, u, a, t)
        target[u, s, a, t] = step.u * states + t
        reward[u, s, a, t], discount[u, s, a, t] = step.reward, 0.0 if step.terminated else gamma
    rows = target.size // states
    decisions = Decisions(
        rows=np.arange(0, rows + 1, actions),
        first=np.arange(0, target.size + 1, states),
        total=np.ones(rows),
        target=target.ravel(),
        weight=np.broadcast_to(world.drift[world.successor], shape).ravel().copy(),
        reward=reward.ravel(),
        discount=discount.ravel(),
    )
    q = np.zeros(rows)
    iterate_values(decisions, q, gamma, PRECISION * float(np.abs(reward).max()) / (1.0 - gamma))
    return q.reshape(shape[:3])
