"""Random machines and grids are valid, connected and reproducible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.errors import InputError
from markovize.worlds import random_grid_world, random_machine

seeds = st.integers(0, 10**6)


@settings(max_examples=50, deadline=None)
@given(seeds, st.integers(1, 5), st.integers(1, 6), st.booleans(), st.integers(0, 4))
def test_every_state_of_a_random_machine_can_be_entered(
    seed: int, states: int, labels: int, acyclic: bool, extra: int
) -> None:
    names = [f"label {n}" for n in range(labels)]
    machine = random_machine(np.random.default_rng(seed), states, names, acyclic=acyclic, extra=extra)
    assert machine == random_machine(np.random.default_rng(seed), states, names, acyclic=acyclic, extra=extra)
    reached = {0}
    for _ in range(states):
        reached |= {t.target for t in machine.triggers if t.source in reached}
    assert reached == set(range(states))
    assert states - 1 <= len(machine.triggers) <= states - 1 + extra
    assert machine.acyclic or not acyclic
    for u in range(states):
        for name in names:
            assert machine.reward(u, name, machine.step(u, name)) in (0.0, 1.0)


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(3, 8), st.integers(2, 8), st.integers(1, 5), st.booleans())
def test_every_cell_of_a_random_grid_can_be_reached(
    seed: int, width: int, height: int, states: int, acyclic: bool
) -> None:
    options = {"width": width, "height": height, "states": states, "acyclic": acyclic}
    world = random_grid_world(np.random.default_rng(seed), **options)  # type: ignore[arg-type]
    again = random_grid_world(np.random.default_rng(seed), **options)  # type: ignore[arg-type]
    assert (world.observations, world.machine) == (again.observations, again.machine)
    reached = {world.start}
    for _ in world.observations:
        reached |= {int(after) for state in reached for after in world.successor[state]}
    assert reached == set(range(len(world.observations)))
    assert world.machine.states == states
    assert len(world.landmarks) == 4


def test_dense_drawings_are_thinned_until_they_fit() -> None:
    world = random_grid_world(np.random.default_rng(0), width=4, height=4, solid=0.95)
    assert len(world.observations) > 4


def test_impossible_requests_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="more cells"):
        random_grid_world(rng, width=2, height=2, landmarks=4)
    with pytest.raises(InputError, match="at least one state"):
        random_machine(rng, 0, ["a"])
