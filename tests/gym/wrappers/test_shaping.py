"""Potentials: the values they should have, and that shaping changes no policy's rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wrapper_cases import Ring, errand, errand_machine, ring_machine

from markovize.errors import InputError
from markovize.gym.wrappers import MarkovRewardWrapper, Potential
from markovize.machine.machine import Emission, RewardMachine, Trigger


def test_values_on_a_chain() -> None:
    assert Potential.of(errand_machine(), 0.9).values == pytest.approx([0.81, 0.9, 1.0], abs=1e-8)


def test_values_on_a_cycle() -> None:
    patrol = RewardMachine(
        "state",
        "state",
        2,
        (Trigger(0, "a", 1), Trigger(1, "b", 0)),
        (Emission(0, "a", 1, 0.0), Emission(1, "b", 0, 1.0), Emission(0, "b", 0, -5.0), Emission(1, "a", 1, 0.0)),
    )
    # V0 = γ V1, V1 = 1 + γ V0
    assert Potential.of(patrol, 0.5).values == pytest.approx([2 / 3, 4 / 3], abs=1e-8)


def test_nothing_is_promised_where_nothing_is_known() -> None:
    assert Potential.of(RewardMachine("state", "state", 3), 0.9).values.tolist() == [0, 0, 0]
    losing = RewardMachine("state", "state", 1, (), (Emission(0, 1, 0, -1.0, terminal=True),))
    assert Potential.of(losing, 0.9).values.tolist() == [-1.0]


@pytest.mark.parametrize("gamma", [0.0, 0.3, 0.9, 0.99])
@pytest.mark.parametrize("seed", range(4))
def test_values_solve_their_equations(gamma: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 4, (12, 2)).tolist()
    rewards = [Emission(u, n, v, float(rng.normal()), bool(rng.random() < 0.3)) for n, (u, v) in enumerate(ends)]
    values = Potential.of(RewardMachine("state", "state", 5, (), tuple(rewards)), gamma).values
    gains: dict[int, list[float]] = {u: [] for u in range(5)}
    for e in rewards:
        gains[e.source].append(e.reward + (0.0 if e.terminal else gamma * float(values[e.target])))
    assert values == pytest.approx([max(gains[u], default=0.0) for u in range(5)], abs=1e-7)


def test_large_rewards_come_to_an_end() -> None:
    machine = RewardMachine("state", "state", 1, (), (Emission(0, 1, 0, 1e12),))
    assert Potential.of(machine, 0.999).values == pytest.approx([1e15], rel=1e-9)


@pytest.mark.parametrize("gamma", [-0.1, 1, float("nan"), "0.9", None])
def test_discounts(gamma: Any) -> None:
    with pytest.raises(InputError, match="0 ≤ gamma < 1"):
        Potential.of(errand_machine(), gamma)


def test_tolerances() -> None:
    with pytest.raises(InputError, match="tolerance between 0 and 1"):
        Potential.of(errand_machine(), 0.9, tolerance=0.0)


def returns(env: MarkovRewardWrapper, actions: list[int], gamma: float) -> tuple[float, float, int, bool]:
    """(discounted return with shaping, without, steps, terminated) of one episode."""
    env.reset(seed=len(actions))
    shaped = unshaped = 0.0
    for n, action in enumerate(actions):
        _, reward, terminated, truncated, info = env.step(action)
        shaped += gamma**n * float(reward)
        unshaped += gamma**n * info["rm_unshaped_reward"]
        if terminated or truncated:
            return shaped, unshaped, n + 1, terminated
    return shaped, unshaped, len(actions), False


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=30),
    st.floats(0, 0.99),
    st.lists(st.floats(-5, 5), min_size=12, max_size=12),
)
@settings(max_examples=150, deadline=None)
def test_policies_keep_their_rank(actions: list[int], gamma: float, rewards: list[float]) -> None:
    """The return of a terminated episode changes by -Φ(u0), of any other by γ^n·Φ(u_n) - Φ(u0)."""
    base = ring_machine()
    emissions = [Emission(e.source, e.on, e.target, r, e.terminal) for e, r in zip(base.rewards, rewards, strict=False)]
    machine = RewardMachine("state", "state", 2, base.triggers, tuple(emissions))
    env = MarkovRewardWrapper(Ring(limit=25), machine, shaping=gamma)
    assert env.potential is not None
    shaped, unshaped, steps, terminated = returns(env, actions, gamma)
    values = env.potential.values
    rest = 0.0 if terminated else gamma**steps * values[env.rm_state]
    assert shaped == pytest.approx(unshaped + rest - values[0], abs=1e-7)


def test_both_endings_occur() -> None:
    env = MarkovRewardWrapper(Ring(limit=25), ring_machine(), shaping=0.9)
    assert {returns(env, actions, 0.9)[3] for actions in ([1] * 20, [0, 1] * 20)} == {True, False}


def test_progress_pays_at_once() -> None:
    env = MarkovRewardWrapper(errand(), errand_machine(), shaping=0.9)
    env.reset(seed=0)
    rewards = [env.step(2)[1] for _ in range(3)]
    # staying costs (γ-1)·Φ(0), the first corner is worth γ·Φ(1) - Φ(0) = 0
    assert rewards == pytest.approx([-0.081, -0.081, 0.0], abs=1e-8)


def test_values_cannot_be_changed_by_accident() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Potential.of(errand_machine(), 0.5).values[0] = np.inf
