"""The bits of what is left around levels: each group of rewards is written in the shortest way."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from markovize.learning.description import Ruler, name
from markovize.learning.windows import Groups, Inside, finest_groups

NONE = Groups.none()
FINE = np.arange(-4_000, 14_001) / 10_000


def ruler_of(rewards: np.ndarray) -> Ruler:
    values, counts = np.unique(rewards, return_counts=True)
    return Ruler(int(counts.sum()), values, counts)


def group(*parts: np.ndarray) -> Groups:
    """Each of these columns of rewards pays alike."""
    columns = [np.full(len(part), number) for number, part in enumerate(parts)]
    levels = np.concatenate(parts)
    return Groups.gather(np.concatenate(columns), levels, np.ones(len(levels), np.int64))


def test_what_no_machine_can_do_without() -> None:
    ruler = Ruler(100, np.array([0.0, 1.0, 4.0]), np.array([90, 5, 5]))
    assert ruler.least(0.0, 0, NONE, 9) < ruler.least(0.0, 50, NONE, 9)
    rng = np.random.default_rng(0)
    rewards = np.concatenate([rng.uniform(-0.1, 0.1, 500), rng.uniform(0.9, 1.1, 50)]).round(4)
    ruler, no = ruler_of(rewards), np.zeros(550, np.int32)
    finest = finest_groups(no, no, rewards, np.ones(550, np.int64), np.argsort(rewards), 0.2)
    assert len(finest.steps) == 2
    two = ruler.sum_up(30.0, Inside(0, group(rewards[:500], rewards[500:])), NONE, 2, 1, 0.1).bits
    one = ruler.sum_up(0.0, Inside(50, group(rewards[:500])), NONE, 1, 1, 0.1).bits
    assert ruler.least(0.1, 0, finest, 1) < two < one
    assert ruler.least(0.1, 0, finest, 1) > 0.9 * two


def test_rewards_that_are_always_the_same_take_nothing_however_wide_the_tolerance() -> None:
    """A goal pays 1 ± 0.1, all else exactly nothing: the noise is there where it is."""
    rng = np.random.default_rng(0)
    zeros, ones = np.zeros(10_000), rng.uniform(0.9, 1.1, 300)
    ruler = ruler_of(np.concatenate([zeros, ones]))
    paid = ruler.residuals(group(ones), 0.1)
    assert ruler.residuals(group(zeros, ones), 0.1) == pytest.approx(paid, abs=50)
    assert ruler.residuals(group(zeros + rng.uniform(-0.1, 0.1, 10_000), ones), 0.1) > 30 * paid
    noisy = ruler.sum_up(20.0, Inside(0, group(zeros, ones)), NONE, 8, 2, 0.1).bits
    assert noisy < ruler.sum_up(0.0, Inside(300, group(zeros)), NONE, 2, 2, 0.0).bits


def test_each_level_may_be_noisy_in_its_own_way() -> None:
    rng = np.random.default_rng(0)
    narrow, wide = rng.uniform(-0.08, 0.08, 5_000).round(4), rng.uniform(0.74, 1.26, 500).round(4)
    ruler = ruler_of(np.concatenate([narrow, wide, FINE]))
    both = ruler.residuals(group(narrow, wide), 0.26)
    assert both == pytest.approx(5_000 * log2(1_601) + 500 * log2(5_201), rel=0.01)
    parts = np.array_split(np.sort(wide), 4)  # to tell them apart by their size would take a reason
    assert ruler.residuals(group(narrow, *parts), 0.26) > both - 2 * 500


def test_normal_rewards_cost_no_more_in_a_wider_tolerance_but_mixed_ones_do() -> None:
    rng = np.random.default_rng(0)
    rewards = rng.normal(0, 0.1, 10_000).round(4)
    ruler = ruler_of(np.concatenate([rewards, FINE]))
    bits = [ruler.residuals(group(rewards), tolerance) for tolerance in (0.4, 0.8)]
    assert bits[0] == pytest.approx(bits[1], rel=1e-3)
    inside = rewards[np.abs(rewards) <= 0.2]
    cut = ruler.sum_up(0.0, Inside(len(rewards) - len(inside), group(inside)), NONE, 1, 1, 0.2).bits
    assert ruler.sum_up(0.0, Inside(0, group(rewards)), NONE, 1, 1, 0.4).bits < cut
    mixed = np.concatenate([rewards, rng.normal(1, 0.1, 10_000).round(4)])
    assert ruler.residuals(group(mixed), 0.8) > 2 * bits[0] + 10_000


def test_only_labels_that_pay_something_else_than_most_steps_are_named() -> None:
    """Fine labels are many, and nearly all pay nothing: that is no reason against them."""
    ruler = Ruler(10_000, np.array([0.0, 1.0]), np.array([9_900, 100]))
    zeros, ones = [np.zeros(9)] * 1_100, [np.ones(10)] * 10
    fine = ruler.sum_up(0.0, Inside(0, group(*ones)), group(*zeros), 1_110, 1_110, 0.0)
    coarse = ruler.sum_up(0.0, Inside(100, group(np.zeros(9_900))), NONE, 1, 1, 0.0)
    assert fine.bits == pytest.approx(10 * log2(1_110) + 11, abs=0.1)
    assert fine.bits < coarse.bits / 5


def test_what_is_named_never_takes_less_where_there_is_more_of_it() -> None:
    bits = [name(many, 500) for many in range(251)]
    assert bits == sorted(bits)
    assert bits[:3] == [0.0, log2(500), 2 * log2(500)]
