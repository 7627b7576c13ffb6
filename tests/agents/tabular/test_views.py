"""Active runs where observations are continuous or objects: functions label the steps, cells are the states."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from markovize import ActiveLearner, InputError, RunResult, Settings, UnsupportedError, replay
from markovize.agents.tabular.view import View, cell_of


class SlopeAndBack(gym.Wrapper[Any, Any, Any, Any]):
    """MountainCar that pays on the right, once the car has been on the left."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self.left = False
        return self.env.reset(**options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, _, truncated, info = self.env.step(action)
        self.left = self.left or observation[0] < -0.62
        paid = self.left and observation[0] > -0.4
        return observation, float(paid), bool(paid), truncated, info


class UpFirst(gym.Wrapper[Any, Any, Any, Any]):
    """A MiniGrid whose goal pays, once the agent has looked up."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self.up = False
        return self.env.reset(**options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.step(action)
        self.up = self.up or observation["direction"] == 3
        return observation, float(terminated and self.up), terminated, truncated, info


def slope(_state: Any, _action: Any, after: Any) -> str:
    return "left" if after[0] < -0.62 else "right" if after[0] > -0.4 else "valley"


def direction(_state: Any, _action: Any, after: Any) -> int:
    found: int = after["direction"]
    return found


def enters_goal(state: Any, action: Any, _after: Any) -> bool:
    return bool(action == 2 and state["image"][3][5][0] == 8)


def car(**settings: Any) -> ActiveLearner:
    env = SlopeAndBack(gym.make("MountainCar-v0"))
    return ActiveLearner(env, Settings.of("q-learning", episodes=150, trigger_on=slope, reward_on=slope, **settings))


def triggers(result: RunResult) -> list[tuple[int, Any, int]]:
    return [(trigger.source, trigger.on, trigger.target) for trigger in result.machine.triggers]


def test_continuous_observations_with_functions() -> None:
    result = car().run()
    assert (result.machine.trigger_on, result.machine.reward_on) == ("function", "function")
    assert triggers(result) == [(0, "left", 1)] and result.status == "optimal"
    assert "cells of a grid" in result.notes[0]
    assert all(isinstance(state, tuple) and len(state) == 2 for state in result.observations)
    first, *others = result.kept.episode(0).observations
    assert len(first) == 1 and {len(seen) for seen in others} == {2}  # (state,), then (state, label)
    last = replay(result.machine, result.kept, trigger_on=lambda *step: step[2][1], reward_on=lambda *step: step[2][1])
    assert last.mismatches == 0
    assert result.act(np.array([-0.5, 0.0], np.float32), 0) in (0, 1, 2)
    assert result.policy.next_state(0, np.array([-0.6, -0.01]), 0, np.array([-0.63, -0.01])) == 1
    assert result.greedy_return > 0.5


def test_one_function_is_enough_for_both() -> None:
    env = SlopeAndBack(gym.make("MountainCar-v0"))
    result = ActiveLearner(env, Settings.of("q-learning", episodes=60, trigger_on=slope)).run()
    assert result.notes[0].startswith("reward_on is the function of trigger_on; ")
    assert triggers(result) == [(0, "left", 1)]


def test_states_of_the_users_choice() -> None:
    result = car(state_on=lambda seen: (round(seen[0], 1), seen[1] > 0)).run()
    assert triggers(result) == [(0, "left", 1)] and not result.notes
    states: Any = result.observations
    assert {type(moving_right) for _, moving_right in states} == {bool}


def test_a_run_goes_on_from_a_snapshot() -> None:
    whole, parts, again = car(), car(), car()
    expected = whole.run()
    assert parts.run(time_limit=0.001).stopped
    again.restore(parts.snapshot())
    result = again.run()
    assert result.machine == expected.machine and np.array_equal(result.q, expected.q)
    assert result.observations == expected.observations
    assert [*result.kept] == [*expected.kept]


def test_objects_with_functions() -> None:
    pytest.importorskip("minigrid", reason="the extra `envs` is not installed")
    env = UpFirst(gym.make("MiniGrid-Empty-5x5-v0"))
    settings = Settings.of(episodes=60, trigger_on=direction, reward_on=enters_goal)
    result = ActiveLearner(env, settings).run()
    assert (result.status, triggers(result), result.greedy_return) == ("optimal", [(0, 3, 1)], 1.0)
    assert replay(result.machine, result.kept, trigger_on=direction, reward_on=enters_goal).mismatches == 0
    assert result.act(env.reset(seed=0)[0], 0) in range(7)


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("CartPole-v1", {}, "observations are continuous .* give functions .*DiscretizeObservation"),
        ("CartPole-v1", {"trigger_on": slope, "reward_on": "state"}, "give functions"),
        ("FrozenLake-v1", {"state_on": lambda s: s // 4}, "with state_on=, steps are labelled by functions, too"),
    ],
)
def test_what_lacks_a_function_is_refused(name: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        ActiveLearner(gym.make(name), Settings.of(**settings))


def test_functions_of_states_that_fail() -> None:
    with pytest.raises(InputError, match="of state_on failed with IndexError"):
        car(state_on=lambda seen: seen[7]).run()
    with pytest.raises(InputError, match="is no state: a dict is not a label"):
        car(state_on=lambda seen: {"x": seen[0]}).run()
    with pytest.raises(InputError, match="state_on must be a function, or module:function, not 7"):
        Settings.of(state_on=7)
    with pytest.raises(InputError, match="cannot import nowhere_at_all"):
        Settings.of(state_on="nowhere_at_all:f")


def test_coarser_states_than_labels_keep_the_labels_apart() -> None:
    """One state for all: the machine is right all the same, since each step brings its labels."""
    result = car(state_on=lambda _seen: 0).run()
    assert result.observations == (0,) and triggers(result) == [(0, "left", 1)]


def test_cells() -> None:
    space = gym.spaces.Dict(
        {
            "at": gym.spaces.Box(np.array([[0.0, -np.inf]]), np.array([[2.0, np.inf]]), dtype=np.float64),
            "kind": gym.spaces.Tuple((gym.spaces.Discrete(3), gym.spaces.Box(-1.0, 1.0, (1,)))),
        }
    )
    view = View.of(space, Settings.of(trigger_on=slope))
    inside: Any = {"at": ((2.0, 0.0),), "kind": (2, (-1.0,))}
    assert view.state(inside) == ((19, 0), (2, (0,)))
    wild = cell_of(gym.spaces.Box(-np.inf, np.inf, (3,)))
    assert wild((0.1, 1e9, -1e9)) == (0, 86, -86)
