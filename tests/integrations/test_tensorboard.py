"""An active run's scalars, read back by TensorBoard itself."""

from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

from markovize import ActiveLearner, Settings
from markovize.integrations.tensorboard import SCALARS, TensorBoardProgress

pytest.importorskip("torch.utils.tensorboard", reason="the extra `sb3` is not installed")


def test_scalars_of_a_run(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    told = []
    with TensorBoardProgress(tmp_path, prefix="breakfast") as progress:

        def both(now: object) -> None:
            told.append(now)
            progress(now)  # type: ignore[arg-type]

        env = gym.make("markovize/BreakfastWorld-v0", task="b")
        ActiveLearner(env, Settings.of(episodes=200), on_progress=both).run()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {f"breakfast/{name}" for name in SCALARS}
    assert told
    states = events.Scalars("breakfast/states")
    assert [point.step for point in states] == [now.episode for now in told]
    assert [point.value for point in states] == [now.states for now in told]
