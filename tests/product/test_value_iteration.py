"""Value iteration: against plain sweeps in NumPy, in every form that something plans on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.traces import Floats
from markovize.product.value_iteration import Decisions, iterate_values, optimal_values
from markovize.worlds import World, world

pytestmark = pytest.mark.kernels

WORLDS = [world("office", task=task) for task in ("b", "d", "loop")] + [world("breakfast", task="c"), world("beach")]


def random_decisions(seed: int, gamma: float) -> Decisions:
    """States with any number of actions, none included, and actions with any number of outcomes."""
    rng = np.random.default_rng(seed)
    states = int(rng.integers(1, 8))
    rows = np.concatenate(([0], np.cumsum(rng.integers(0, 4, states))))
    first = np.concatenate(([0], np.cumsum(rng.integers(0, 4, rows[-1]))))
    weight = rng.integers(1, 5, first[-1]).astype(np.float64)
    total = np.array([weight[a:b].sum() for a, b in itertools.pairwise(first)], np.float64)
    ends = rng.random(first[-1]) < 0.2
    target = rng.integers(states, size=first[-1])
    return Decisions(rows, first, total, target, weight, rng.normal(size=first[-1]), np.where(ends, 0.0, gamma))


def sweep(decisions: Decisions, values: Floats) -> tuple[Floats, Floats]:
    """One sweep that sees only the values before it: the rows' values, and the states'."""
    rows, first, total, target, weight, reward, discount = decisions
    gains = weight * (reward + discount * values[target])
    q = np.array([gains[a:b].sum() / t if b > a else 0.0 for a, b, t in zip(first[:-1], first[1:], total, strict=True)])
    return q, np.array([q[a:b].max() if b > a else 0.0 for a, b in itertools.pairwise(rows)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 0.95), st.booleans())
def test_values_are_those_of_plain_sweeps(seed: int, gamma: float, warm: bool) -> None:
    decisions = random_decisions(seed, gamma)
    q = np.random.default_rng(seed).normal(size=len(decisions.total)) if warm else np.zeros(len(decisions.total))
    values = iterate_values(decisions, q, gamma, 1e-10)
    wanted_q, wanted = np.zeros(len(q)), np.zeros(len(values))
    for _ in range(1 if gamma == 0 else 600):
        wanted_q, wanted = sweep(decisions, wanted)
    assert values == pytest.approx(wanted, abs=1e-9)
    if gamma:  # without a future one sweep is all
        assert q == pytest.approx(wanted_q, abs=1e-9)


@pytest.mark.parametrize("where", WORLDS, ids=lambda where: where.name)
def test_optimal_values_satisfy_bellmans_equation(where: World) -> None:
    q, tables = optimal_values(where, 0.9), where.tables
    after = np.where(tables.terminated, 0.0, q.max(axis=2)[tables.u, np.broadcast_to(where.successor, tables.u.shape)])
    assert q == pytest.approx(tables.reward + 0.9 * after, abs=1e-12)


def test_a_tolerance_below_rounding_comes_to_an_end() -> None:
    forever = Decisions(
        np.array([0, 1]), np.array([0, 1]), np.ones(1), np.array([0]), np.ones(1), np.array([1e12]), np.array([0.999])
    )
    q = np.zeros(1)
    assert iterate_values(forever, q, 0.999, 1e-300) == pytest.approx([1e15], rel=1e-12)
