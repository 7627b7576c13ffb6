"""The search for guards against all machines there are, on tiny instances."""

from __future__ import annotations

import numpy as np
import pytest
from guard_oracle import draw_instance, smallest

from markovize import learn, replay
from markovize.learning.guards import formula


def agree(first: int, count: int) -> int:
    """How many instances had an optimum to compare with; fails at the first that differs."""
    compared = 0
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        instance, acyclic = draw_instance(rng), bool(seed % 2)
        wanted = smallest(instance, acyclic=acyclic)
        if wanted is None:
            continue
        compared += 1
        traces = instance.traces()
        result = learn(traces, trigger_on="guards", before=False, acyclic=acyclic, count_steps=True)
        found = (result.guards, result.literals, result.states)
        assert (result.status, found) == ("optimal", wanted), f"seed {seed}"
        assert result.guard_bounds == wanted[:2]
        report = replay(result.unwrap(), traces)
        assert (report.mismatches, report.unseen) == (0, 0)
        assert not (acyclic and not result.unwrap().acyclic)
    return compared


@pytest.fixture(params=[16, 1], ids=["all values", "few cuts"])
def first_cuts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instances have so few values that all of them would be told apart at once."""
    monkeypatch.setattr(formula, "FIRST_CUTS", request.param)


@pytest.mark.usefixtures("first_cuts")
def test_the_search_agrees_with_all_machines() -> None:
    assert agree(0, 200) >= 180


@pytest.mark.long
@pytest.mark.usefixtures("first_cuts")
def test_the_search_agrees_on_many_more() -> None:
    assert agree(10_000, 2_300) >= 2_000
