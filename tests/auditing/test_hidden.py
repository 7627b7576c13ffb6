"""What observations hide, at places whose states do not all have the same numbers."""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from markovize.auditing.hidden import find_hidden
from markovize.auditing.places import Place, Stage
from markovize.auditing.rewards import RewardScale
from markovize.auditing.scripts import Act, Reset
from markovize.auditing.snapshots import Snapshot


def test_a_state_that_is_no_longer_all_floats() -> None:
    """At the wall, MountainCar's velocity becomes the whole number 0, and its state has no numbers to shift."""
    env = gym.make("MountainCar-v0")
    stage = Stage(env, [0, 1, 2], RewardScale(), seed=0)
    (seen,) = stage.play((Reset(0), Act(0)))
    inside, at_wall = Snapshot({"state": np.array([-0.5, 0.01])}), Snapshot({"state": (-1.2, 0)})
    assert len(inside.vector) > len(at_wall.vector)
    places = [Place(inside, 0, state, 0, seen, seen) for state in (inside, at_wall, inside)]
    assert find_hidden(stage, places) == ([], [])
