"""An active run's scalars, read back by TensorBoard itself."""

from __future__ import annotations

import json
import time
from pathlib import Path

import gymnasium as gym
import pytest
from in_process import run_here

from markovize import ActiveLearner, Settings
from markovize.agents.tabular import RunProgress
from markovize.integrations.tensorboard import SCALARS, TensorBoardProgress

pytest.importorskip("torch.utils.tensorboard", reason="the extra `sb3` is not installed")

from markovize.agents.deep import DeepSettings
from markovize.agents.deep.training import train
from markovize.worlds import world


def test_scalars_of_a_run(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    told: list[RunProgress] = []
    with TensorBoardProgress(tmp_path, prefix="breakfast") as progress:

        def both(now: RunProgress) -> None:
            told.append(now)
            progress(now)

        env = gym.make("markovize/BreakfastWorld-v0", task="b")
        ActiveLearner(env, Settings.of(episodes=200), on_progress=both).run()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {f"breakfast/{name}" for name in SCALARS if name != "loss"}
    assert told[-1].episode == 200
    states = events.Scalars("breakfast/states")
    assert [point.step for point in states] == [now.episode for now in told]
    assert [point.value for point in states] == [now.states for now in told]


def test_scalars_of_the_command(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = ("run", "markovize/BreakfastWorld-v0", "--env-arg", "task=b", "--episodes", "50", "--json")
    folders = ("--out", tmp_path / "run", "--tensorboard", tmp_path / "run" / "tb")
    told = json.loads(run_here(*run, *folders).out)
    events = EventAccumulator(str(tmp_path / "run" / "tb"))
    events.Reload()
    assert [(point.step, point.value) for point in events.Scalars("markovize/states")][-1] == (50, told["states"])


def test_a_run_that_goes_on_replaces_what_comes_after(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for episodes in ((10, 20, 30), (20, 30, 40)):  # killed after 30, resumed after 10
        with TensorBoardProgress(tmp_path) as progress:
            for episode in episodes:
                progress(RunProgress(episode, 40, 0.5, 2, 1, 0, 0.0))
        time.sleep(1.1)  # files are ordered by their second
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [point.step for point in events.Scalars("markovize/states")] == [10, 20, 30, 40]


def test_scalars_of_a_training(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with TensorBoardProgress(tmp_path) as progress:
        train(world("beach"), DeepSettings("GRU", episodes=250, hidden=8, max_steps=5), 0, on_progress=progress)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {f"markovize/{name}" for name in SCALARS}
    assert [point.step for point in events.Scalars("markovize/loss")] == [200, 250]
