"""Once nothing is new, exploration goes after steps that would refute the machine: a label nobody followed up on."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from other_worlds import TwelveCells

from markovize.agents.tabular import ActiveLearner, Settings
from markovize.agents.tabular.schedule import QUIET_EPISODES, RESTS, Horizon


class Doors(gym.Env[Any, Any]):
    """Six rooms to start in. Who leaves one by its hall or by its garden comes to a door, which pays those who rang.

    Observations are 10·room + place: 0 the room, 1 the hall, 2 the garden, 4 the bell in the hall, 3 behind the door.
    The garden rings as the bell does: one of both is enough to be paid, so that no good policy needs to know both.
    """

    observation_space = gym.spaces.Discrete(60)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.room, self.place, self.rang = int(self.np_random.integers(6)), 0, False
        return 10 * self.room, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        ways = {0: (0, 1, 2), 1: (4, 0, 3), 2: (0, 0, 3), 4: (1, 0, 3)}
        self.place = ways[self.place][int(action)]
        self.rang = self.rang or self.place in (2, 4)
        there = self.place == 3
        return 10 * self.room + self.place, float(there and self.rang), there, False, {}


def test_a_horizon_settles_after_many_quiet_episodes() -> None:
    horizon = Horizon(limit=40)
    for _ in range(RESTS * QUIET_EPISODES - 1):
        horizon.adapt(1, news=False)
    assert not horizon.is_settled
    horizon.adapt(1, news=False)
    assert horizon.is_settled


def test_every_trigger_is_found_and_all_is_confirmed() -> None:
    """Two places ring in each of six rooms: twelve triggers, of which a good policy needs only six."""
    learner = ActiveLearner(Doors(), Settings.of(episodes=1_000, max_steps=20, seed=1))
    result = learner.run()
    assert (result.machine.states, len(result.machine.triggers)) == (2, 12)
    assert sorted(trigger.on for trigger in result.machine.triggers) == sorted(
        10 * room + place for room in range(6) for place in (2, 4)
    )
    arrays = learner.agent.arrays
    labels = np.unique(arrays.transitions.trigger[arrays.model.seen > 0])
    assert arrays.machine.confirmed[0, labels].all()
    assert result.greedy_return == 1.0


def test_a_wrong_machine_is_refuted_where_it_is_never_needed() -> None:
    result = ActiveLearner(TwelveCells(), Settings.of(episodes=600, seed=1)).run()
    assert {trigger.on for trigger in result.machine.triggers} == {(0, 0, 4), (0, 2, 1)}


@pytest.mark.parametrize("compiled", [True, False])
def test_machines_are_confirmed_in_tables_and_stepped(compiled: bool) -> None:
    env = gym.make("markovize/OfficeWorld-v0", task="c", max_episode_steps=60)
    learner = ActiveLearner(env, Settings.of(episodes=800, seed=2), compiled=compiled)
    result = learner.run()
    assert learner.horizon.is_settled
    assert (result.machine.states, result.greedy_return) == (2, 1.0)
    assert learner.agent.arrays.machine.confirmed.any()
