"""Active training where rewards have errors: what is a conflict, what is learned, and what a resumed one remembers."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corridor_env import make_corridor, position

pytest.importorskip("stable_baselines3")

from markovize import Guard, InputError, replay
from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.traces import Episode
from markovize.integrations.sb3 import ActiveTraining, TrainingResult, TrainingSettings
from markovize.integrations.sb3.active.evidence import Evidence
from markovize.integrations.sb3.active.folder import TrainingFolder
from markovize.integrations.sb3.active.paid import PaidRewards

FAST: dict[str, Any] = {"explore": 60, "look_every": 256, "evaluation_episodes": 3, "hidden": 8, "environments": 2}
WOBBLY, FLIPPED = partial(make_corridor, noise=0.1), partial(make_corridor, flips=0.002)


def train(make: Any, steps: int = 0, **settings: Any) -> TrainingResult:
    return ActiveTraining(make, TrainingSettings("ppo", steps, features=position, **FAST, **settings)).run()


def is_true(result: TrainingResult) -> bool:
    """Whether the machine is that of the corridor: the left end, then the right end."""
    (trigger,), (paid,) = result.machine.triggers, result.machine.reward_guards
    assert isinstance(trigger.on, Guard)
    (left,), (right,) = trigger.on.literals, paid.literals
    return (left.feature, left.relation, right.feature) == ("x", "below", "x") and abs(left.threshold - 0.25) < 0.06


@pytest.mark.parametrize(
    ("make", "allowed"),
    [(WOBBLY, {"tolerance": 0.1}), (WOBBLY, {"tolerance": "auto"}), (FLIPPED, {"outliers": "auto"})],
)
def test_noise_that_was_allowed_for(make: Any, allowed: dict[str, Any]) -> None:
    result = train(make, **allowed)
    assert is_true(result) and result.status == "optimal"
    assert result.noise is not None and len(result.noise.levels) == 2
    assert result.to_json()["noise"] == result.noise.to_json()
    used = Allowance(result.noise.tolerance, len(result.noise.outliers))
    assert not used.exact
    again = replay(result.machine, result.kept, features=position, tolerance=used.tolerance)
    assert again.mismatches == used.outliers
    for outlier in result.noise.outliers:
        assert list(result.kept)[outlier.episode].rewards[outlier.step] == outlier.reward != outlier.expected


def test_noise_that_was_not() -> None:
    """Real numbers that hardly ever repeat are explained by no machine, or by one that is far from the true one."""
    result = train(WOBBLY, solve_seconds=3.0)
    assert result.noise is None and "noise" not in result.to_json()
    assert result.status != "optimal" and result.notes


def test_clean_rewards_need_no_allowance() -> None:
    result = train(make_corridor, tolerance="auto", outliers="auto")
    assert is_true(result) and result.noise is not None
    assert result.noise.tolerance == 0.0 and result.noise.outliers == ()


def corridor_episode(*rewards: float) -> Episode:
    return Episode([[0.5, 0.0]] * (len(rewards) + 1), [0] * len(rewards), list(rewards), terminated=True)


@pytest.mark.parametrize(
    ("allowed", "conflicts"),
    [({}, [0, 1, 1, 1]), ({"tolerance": 0.1}, [0, 0, 1, 1]), ({"outliers": 2}, [0, 0, 0, 1])],
)
def test_what_is_a_conflict(allowed: dict[str, Any], conflicts: list[int]) -> None:
    evidence = Evidence(TrainingSettings(features="corridor_env:position", **allowed), None)
    many = corridor_episode(*[0.0] * 9)
    assert [evidence.add([each]) for each in (many, *map(corridor_episode, (0.2, 5.0, 7.0)))] == conflicts


def add(paid: PaidRewards, cells: Any, rewards: Any) -> Any:
    present, of_step = np.unique(cells, return_inverse=True)
    return paid.add([f"cell {cell}" for cell in present], of_step.astype(np.int32), rewards)


def test_rewards_in_pieces_or_at_once() -> None:
    """What is known does not depend on how it came in: the last piece decides alike."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        allowance = Allowance(float(rng.choice([0.0, 0.5, 1.0])), int(rng.integers(0, 4)))
        cells, rewards = rng.integers(0, 3, 30).astype(np.int32), rng.integers(0, 4, 30).astype(np.float64)
        last = int(rng.integers(1, 20))
        piecewise, fresh = PaidRewards(allowance), PaidRewards(allowance)
        cuts = sorted({0, 30 - last, 30, *rng.integers(0, 30 - last, 3).tolist()})
        for start, end in pairwise(cuts):
            told = add(piecewise, cells[start:end], rewards[start:end])
        add(fresh, cells[:-last], rewards[:-last])
        assert told.tolist() == add(fresh, cells[-last:], rewards[-last:]).tolist()
        if allowance != EXACT:
            kept = [rewards[cells == cell] for cell in range(3)]
            fullest = [max((((r >= low) & (r <= low + allowance.width)).sum() for low in r), default=0) for r in kept]
            assert told.any() == (30 - sum(fullest) > allowance.outliers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "allowed"),
    [(WOBBLY, {"tolerance": 0.1}), (WOBBLY, {"tolerance": "auto"}), (FLIPPED, {"outliers": "auto"})],
)
def test_a_stopped_training_remembers_its_noise(make: Any, allowed: dict[str, Any], tmp_path: Path) -> None:
    chosen = TrainingSettings("ppo", 512, features="corridor_env:position", **FAST, **allowed)
    folder = TrainingFolder.new(tmp_path / "run", "corridor", {}, chosen)
    first = ActiveTraining(make, chosen, on_checkpoint=folder.checkpoint)
    first.settings = TrainingSettings(**{**chosen.to_json(), "steps": 256})
    result = first.run()
    again, third = (ActiveTraining(make, folder.settings) for _ in range(2))
    assert folder.restore(again) and folder.restore(third)
    assert again.evidence.noise == result.noise and again.evidence.machine == result.machine
    assert again.evidence.state() == first.evidence.state()
    seen = [corridor_episode(*[0.0] * 3), corridor_episode(0.05), corridor_episode(9.0)]
    assert [third.evidence.add([each]) for each in seen] == [first.evidence.add([each]) for each in seen]
    finished = again.run()
    assert finished.steps >= 512 and finished.noise is not None and is_true(finished)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"tolerance": -1.0}, "tolerance is a number of at least 0"), ({"outliers": 1.5}, "outliers is a whole number")],
)
def test_wrong_allowances(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TrainingSettings(**wrong)
