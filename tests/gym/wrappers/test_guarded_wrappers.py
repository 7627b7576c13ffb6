"""Machines with guards beside environments: Box and Dict observations, vectors of them, counterfactual experience."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from guarded_machines import BOXES, COFFEE, plain_step
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from markovize import Guard, InputError, Literal, MachineError, MarkovRewardWrapper, RewardMachine
from markovize.episodes.values import canonical
from markovize.gym.wrappers.counterfactual import counterfactual
from markovize.gym.wrappers.follower import BoundMachine
from markovize.gym.wrappers.vector.markov_reward import MarkovRewardWrapper as VectorMarkovRewardWrapper


class Point(gym.Env[Any, Any]):
    """A point that jumps about in a square, seen as a vector or an object; paid by the machine of boxes."""

    def __init__(self, form: str = "dict") -> None:
        self.form = form
        square = spaces.Box(0.0, 10.0, (2,), np.float64)
        side = spaces.Box(0.0, 10.0, (), np.float64)
        self.observation_space = square if form == "box" else spaces.Dict(x=side, y=side)
        self.action_space = spaces.Discrete(2)

    def _seen(self) -> Any:
        self.at = self.np_random.uniform(0, 10, 2)
        return self.at.copy() if self.form == "box" else dict(zip("xy", map(np.array, self.at), strict=True))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.u = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        seen, before = self._seen(), self.u
        self.u, (held,) = plain_step(BOXES, before, dict(zip("xy", self.at.tolist(), strict=True)))
        paid = before == 1 and held
        return seen, float(paid), paid, False, {}


def machine_for(form: str) -> RewardMachine:
    if form == "dict":
        return BOXES
    return RewardMachine.from_json(json.loads(json.dumps(BOXES.to_json()).replace('"x"', '"0"').replace('"y"', '"1"')))


@pytest.mark.parametrize("form", ["box", "dict"])
def test_the_machine_goes_along(form: str) -> None:
    env = MarkovRewardWrapper(Point(form), machine_for(form), unseen="error", crm=True)
    moved = paid = 0
    for episode in range(5):
        observation, _ = env.reset(seed=episode)
        assert observation["rm_state"] == 0
        for _ in range(400):
            observation, reward, terminated, _, info = env.step(0)
            assert observation["rm_state"] == info["rm_state"] == env.unwrapped.u  # type: ignore[attr-defined]
            assert observation in env.observation_space
            assert {e.rm_state for e in info["rm_experiences"]} == {0, 1}
            moved += info["rm_trigger"] == 0
            paid += bool(reward)
            if terminated:
                break
    assert moved == paid == 5


def test_vectors_of_environments() -> None:
    vector = SyncVectorEnv([Point, Point, Point])
    env = VectorMarkovRewardWrapper(vector, BOXES)
    observations, _ = env.reset(seed=0)
    for _ in range(100):
        observations, _, _, _, _ = env.step(np.zeros(3, int))
        assert observations["rm_state"].tolist() == [one.u for one in vector.envs]  # type: ignore[attr-defined]


def test_features_that_the_environment_lacks() -> None:
    with pytest.raises(MachineError, match="it needs the feature here, and there are x, y, action; if a function"):
        MarkovRewardWrapper(Point(), COFFEE)
    calls = []

    def places(*step: Any) -> dict[str, Any]:
        calls.append(step)
        return {"here": "coffee" if step[2]["x"] > 1 else "hall"}

    env = MarkovRewardWrapper(Point(), COFFEE, features=places)
    env.reset(seed=0)
    for _ in range(20):
        observation, *_ = env.step(0)
    assert observation["rm_state"] == 1
    assert len(calls) == 20, "once for each step"


def test_unseen_valuations() -> None:
    machine = RewardMachine.from_json({**BOXES.to_json(), "rewards": BOXES.to_json()["rewards"][:1]})
    bound = BoundMachine(machine)
    inside, outside = {"x": 8.0, "y": 2.0}, {"x": 5.0, "y": 5.0}
    steps = [(canonical(outside, objects=True), 0, canonical(after, objects=True)) for after in (outside, inside)]
    assert [bound.move(0, step).seen for step in steps] == [True, False]
    with pytest.raises(InputError, match=r"the label \(true\) of the step .* was never seen"):
        BoundMachine(machine, unseen="error").move(0, steps[1])


def test_counterfactual_experience() -> None:
    start, office = {"x": 1.0, "here": "hall"}, {"x": 1.0, "here": "office"}
    rows = counterfactual(COFFEE, start, 0, office)
    assert [(row.rm_state, row.reward, row.terminal) for row in rows] == [(0, 0.0, False), (1, 1.0, True)]


def test_features_of_the_state_before_and_the_action() -> None:
    machine = RewardMachine.from_json(
        {
            **BOXES.to_json(),
            "features": [{"name": "before.x", "kind": "numeric"}, {"name": "action", "kind": "categorical"}],
            "triggers": [
                {"from": 0, "when": [{"feature": "before.x", "below": 5}, {"feature": "action", "is": 1}], "to": 1}
            ],
            "reward_guards": [],
            "rewards": [],
        }
    )
    assert machine.triggers[0].on == Guard([Literal("before.x", "below", 5), Literal("action", "is", 1)])
    env = MarkovRewardWrapper(Point(), machine)
    for seed in range(10):
        for action in (0, 1):
            first, _ = env.reset(seed=seed)
            x = float(first["x"])
            after, *_ = env.step(action)
            assert after["rm_state"] == (x < 5 and action == 1)
