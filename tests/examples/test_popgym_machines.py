"""popgym's tasks in the examples: exact machines, and policies at the optimum."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("popgym")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import popgym_machines as example


def row_of(name: str, seed: int = 0) -> dict[str, Any]:
    task = example.TASKS[name]
    return example.learn_from(task, seed) | example.act(task, seed)


def check_repeat_first(row: dict[str, Any]) -> None:
    """The first card leads to one of four states, whatever comes later."""
    assert (row["status"], row["labels"], row["states"], row["triggers"]) == ("optimal", "source/transition", 5, 4)
    firsts = [line.split(" → ")[0] for line in row["machine"]]
    assert sorted(firsts) == [f"in state 0, leaving {suit}" for suit in range(4)]
    assert row["mismatches"] == 0
    assert (row["acting_states"], row["acting_triggers"]) == (5, 4)
    assert row["return"] == row["optimum"] == 1.0


def test_repeat_first_easy() -> None:
    check_repeat_first(row_of("easy"))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["medium", "hard"])
def test_repeat_first_with_long_episodes(name: str, seed: int) -> None:
    check_repeat_first(row_of(name, seed))


def test_the_shuttle_pays_for_left_then_right() -> None:
    env = example.TASKS["shuttle"].make()
    paid = 0
    for seed in range(150):
        seen, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        assert seen.shape == (4,) and np.all(seen[2:] == 0)
        was_left, over = False, False
        while not over:
            last = seen
            seen, reward, ended, cut, _ = env.step(env.action_space.sample())
            assert np.allclose(seen[2:], 5 * (seen[:2] - last[:2]), atol=1e-4)  # tenths, fifty times a second
            was_left = was_left or seen[0] < -10 * example.SIDE
            assert reward == float(was_left and seen[0] >= 10 * example.SIDE)
            paid, over = paid + int(reward), ended or cut
    assert paid > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["cart", "shuttle"])
def test_a_cart_that_only_shows_positions(name: str) -> None:
    pytest.importorskip("stable_baselines3")
    row = row_of(name)
    assert row["status"] == "optimal"
    assert (row["states"], row["guards"]) == ((1, 0) if name == "cart" else (2, 2))
    assert (row["acting_states"], row["acting_triggers"]) == (row["states"], row["triggers"])
    assert row["return"] >= (0.99 if name == "cart" else 0.9)  # PPO falls in a few episodes; the machine is exact
