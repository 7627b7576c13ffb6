"""Guards with a tolerance and outliers against all machines there are, on tiny instances."""

from __future__ import annotations

import numpy as np
import pytest
from noise_oracle import TooMuchError
from noisy_guard_oracle import draw_noisy_guards, smallest_noisy_guards

from markovize import learn, replay
from markovize.learning.guards import pays


def agree(first: int, count: int) -> int:
    """How many instances could be compared; fails at the first that differs."""
    compared = 0
    for seed in range(first, first + count):
        noisy, acyclic = draw_noisy_guards(np.random.default_rng(seed)), bool(seed % 2)
        try:
            wanted = smallest_noisy_guards(noisy, acyclic=acyclic)
        except TooMuchError:
            continue
        compared += 1
        traces = noisy.instance.traces()
        result = learn(
            traces,
            trigger_on="guards",
            before=False,
            acyclic=acyclic,
            tolerance=noisy.tolerance,
            outliers=noisy.outliers,
        )
        where = f"seed {seed}, {'acyclic' if acyclic else 'cyclic'}"
        if wanted is None:
            assert result.status == "unrealisable", where
            continue
        assert result.noise is not None
        found = result.guards, result.literals, result.states, result.triggers, len(result.noise.outliers)
        assert (result.status, found) == ("optimal", wanted), where
        assert result.guard_bounds == wanted[:2], where
        report = replay(result.unwrap(), traces, tolerance=noisy.tolerance)
        assert (report.mismatches, report.unseen) == (wanted[4], 0), where
        assert max(emission.spread for emission in result.unwrap().rewards) <= noisy.tolerance, where
        assert not (acyclic and not result.unwrap().acyclic), where
    return compared


@pytest.mark.parametrize("first", range(0, 240, 30))
def test_the_search_agrees_with_all_machines(first: int) -> None:
    """At least 200 in all: of a few others the oracle would try too many machines."""
    assert agree(first, 30) >= 25


def test_steps_on_the_way_may_say_what_they_pay_only_roughly(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where thousands of outcomes are told apart."""
    monkeypatch.setattr(pays, "FEW", 1)
    monkeypatch.setattr(pays, "GRID", 2)
    assert agree(500, 50) >= 42


@pytest.mark.long
def test_the_search_agrees_on_many_more() -> None:
    assert agree(10_000, 2_200) >= 2_000
