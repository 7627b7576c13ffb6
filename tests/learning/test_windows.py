"""The fullest windows of cells against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from markovize.learning.windows import clashing_pairs, outside_of_windows

pytestmark = pytest.mark.kernels


def cells(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    n = int(rng.integers(1, 14))
    groups, ends = rng.integers(0, 3, n), rng.integers(0, 2, n).astype(np.int32) * int(rng.integers(0, 2))
    return groups, ends, rng.integers(0, 9, n) / 4, rng.integers(1, 4, n), float(rng.integers(0, 5)) / 4


def fullest(entries: list[tuple[int, float, int]], width: float) -> int:
    """How many steps the best window of (end, level, count) holds."""
    return max(
        sum(count for end, level, count in entries if end == its_end and low <= level and level - low <= width)
        for its_end, low, _ in entries
    )


def test_windows_leave_as_few_steps_outside_as_can_be() -> None:
    rng = np.random.default_rng(0)
    for _ in range(400):
        groups, ends, levels, counts, width = cells(rng)
        outside, steps = outside_of_windows(groups, ends, levels, counts, width)
        wanted = 0
        for group in set(groups.tolist()):
            here = groups == group
            entries = list(zip(ends[here].tolist(), levels[here].tolist(), counts[here].tolist(), strict=True))
            wanted += int(counts[here].sum()) - fullest(entries, width)
            inside = here & ~outside
            assert np.ptp(levels[inside]) <= width
            assert len(set(ends[inside].tolist())) == 1
        assert steps == wanted == int(counts[outside].sum())


def test_pairs_clash_and_show_that_there_are_outliers() -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        groups, ends, levels, counts, width = cells(rng)
        outside, steps = outside_of_windows(groups, ends, levels, counts, width)
        pairs = clashing_pairs(groups.astype(np.int64), ends, levels, counts, outside, width, 50)
        assert bool(len(pairs)) is bool(steps)
        for one, other in pairs.tolist():
            assert groups[one] == groups[other]
            assert ends[one] != ends[other] or abs(levels[one] - levels[other]) > width
        assert len(clashing_pairs(groups.astype(np.int64), ends, levels, counts, outside, width, 1)) == min(
            1, len(pairs)
        )
