"""Engines that check each other, on random tiny instances; ``make test-long`` runs thousands more."""

from __future__ import annotations

import pytest
from agreement import disagreement, instance, main

CHUNK = 25


@pytest.mark.parametrize("start", range(0, 200, CHUNK))
def test_exhaustive_ilp_and_default_agree(start: int) -> None:
    for seed in range(start, start + CHUNK):
        assert disagreement(*instance(seed)) is None, f"seed {seed}"


@pytest.mark.long
def test_they_agree_on_thousands() -> None:
    assert main(6000, first=10_000) == 0
