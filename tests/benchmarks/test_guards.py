"""The benchmark of guards: its worlds have the machines that they are made of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from markovize import describe, learn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from guard_worlds import plane, random_objects


@pytest.mark.slow
def test_objects_at_random_places() -> None:
    result = learn(random_objects(120, ("coffee",), seed=0).traces(), trigger_on="guards")
    assert (result.status, result.guards, result.literals, result.states) == ("optimal", 3, 3, 2)
    assert describe(result.unwrap()) == ["in state 0, here = coffee → state 1"]


@pytest.mark.slow
def test_a_plane_with_noise_beside_it() -> None:
    walks = plane(150, seed=0, irrelevant=6)
    result = learn(walks.traces(), trigger_on="guards", time_limit=8)
    assert result.status in ("optimal", "feasible") and result.guards == 2
    machine = result.unwrap()
    assert [feature.name for feature in machine.features] == ["x", "y"]  # not the noise


@pytest.mark.long
def test_every_world_is_solved_to_a_proof() -> None:
    for walks in (random_objects(400, ("coffee", "mail"), 1), plane(300, 1), plane(300, 1, irrelevant=2)):
        assert learn(walks.traces(), trigger_on="guards", time_limit=300).status == "optimal"
