"""The worked example, for real: with the learned machine DQN reaches the optimum of Office e, bare it does not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra `sb3` is not installed")
pytest.importorskip("stable_baselines3", reason="the extra `sb3` is not installed")
torch.set_num_threads(1)
EXAMPLES = str(Path(__file__).parents[2] / "examples")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXAMPLES)
    import sb3_office

    yield sb3_office
    sys.modules.pop("sb3_office")


def test_the_example_starts(example: Any) -> None:
    machine, episodes = example.explored()
    assert machine.states == 4
    model = example.dqn(machine, episodes)
    assert model.replay_buffer.size() > episodes.steps
    evaluation = example.Evaluation(example.wrapped(machine), 100)
    model.learn(200, callback=evaluation)
    assert [step for step, _ in evaluation.curve] == [100, 200]


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_dqn_reaches_the_optimum_with_the_machine_only(example: Any, seed: int) -> None:
    machine, episodes = example.explored(seed)
    with_machine = example.dqn(machine, episodes, seed).learn(example.STEPS)
    assert example.greedy_return(with_machine, example.wrapped(machine)) == 1
    bare = example.dqn(example.NO_MACHINE, episodes, seed).learn(example.STEPS)
    assert example.greedy_return(bare, example.wrapped(example.NO_MACHINE)) < 1
