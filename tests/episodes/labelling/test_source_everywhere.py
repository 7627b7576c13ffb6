"""A machine on the states that steps leave, from episodes to files, pictures, wrappers and agents.

The reward at the end depends on where the episode began: only ``source`` and ``transition`` see an episode's first
observation.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import markovize
from markovize import Emission, GridWorld, RewardMachine, Settings, Traces, Trigger
from markovize.agents.tabular import ActiveLearner
from markovize.cli.app import main
from markovize.errors import MachineError
from markovize.gym.wrappers import MarkovRewardWrapper, counterfactual
from markovize.gym.wrappers.vector import MarkovRewardWrapper as VectorMarkovRewardWrapper

EPISODES = [
    (["red", "hall", "goal"], ["go", "go"], [0, 1], True),
    (["blue", "hall", "goal"], ["go", "go"], [0, 0], True),
    (["blue", "hall", "hall", "goal"], ["go", "stay", "go"], [0, 0, 0], True),
    (["red", "hall", "hall", "goal"], ["go", "stay", "go"], [0, 0, 1], True),
]


@pytest.fixture
def machine() -> RewardMachine:
    found = markovize.learn(Traces.of(EPISODES), trigger_on="source", reward_on="state").unwrap()
    assert (found.trigger_on, found.reward_on, found.states, len(found.triggers)) == ("source", "state", 2, 1)
    return found


def test_the_first_observation_moves_the_machine(machine: RewardMachine) -> None:
    assert machine.triggers[0].on in ("red", "blue")
    assert markovize.learn(Traces.of(EPISODES), trigger_on="state", reward_on="state").status == "unrealisable"
    assert markovize.learn(Traces.of(EPISODES)).trigger_on == "transition", "auto does not try it"


def test_learn_source_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(command: str) -> str:
        monkeypatch.setattr(sys, "argv", ["markovize", *command.split()])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 0
        return capsys.readouterr().out

    monkeypatch.chdir(tmp_path)
    markovize.write_episodes("e.jsonl", Traces.of(EPISODES))
    assert "leaving " in run("learn e.jsonl --trigger-on source --reward-on state -o m.json")
    data = json.loads((tmp_path / "m.json").read_text())
    assert (data["version"], data["trigger_on"], data["reward_on"]) == (1, "source", "state")
    assert data["triggers"][0]["on"] in ("red", "blue")
    assert json.loads(run("replay m.json e.jsonl --json")) == {
        "steps": 10,
        "unseen": 0,
        "mismatches": 0,
        "unseen_paid": 0,
    }
    assert json.loads(run("check e.jsonl --machine m.json --json"))["markov"]


def test_files_keep_it(machine: RewardMachine, tmp_path: Path) -> None:
    markovize.write_machine(tmp_path / "m.json", machine)
    assert markovize.read_machine(tmp_path / "m.json") == machine
    for ending in ("txt", "dot"):  # one label a step: not for triggers on s and rewards on s'
        with pytest.raises(markovize.UnsupportedError, match="triggers are on source, rewards on state"):
            markovize.write_machine(tmp_path / f"m.{ending}", machine)


@pytest.mark.parametrize("ending", ["txt", "dot"])
def test_formats_with_one_label_a_step_keep_it_too(ending: str, tmp_path: Path) -> None:
    rewards = (Emission(0, "red", 1, 0.0), Emission(1, "hall", 1, 1.0, True))
    machine = RewardMachine("source", "source", 2, (Trigger(0, "red", 1),), rewards)
    markovize.write_machine(tmp_path / f"m.{ending}", machine)
    assert markovize.read_machine(tmp_path / f"m.{ending}") == machine


def test_it_is_described_and_drawn(machine: RewardMachine, tmp_path: Path) -> None:
    label = machine.triggers[0].on
    assert markovize.describe(machine)[0].startswith(f"in state 0, leaving {label} → state 1")
    for ending in ("svg", "png", "dot", "mmd"):
        markovize.draw(tmp_path / f"m.{ending}", machine)
    for ending in ("svg", "dot", "mmd"):
        assert f"from {label}" in (tmp_path / f"m.{ending}").read_text()


def test_the_product_knows_the_start(machine: RewardMachine) -> None:
    traces, fired = Traces.of(EPISODES), machine.triggers[0].on == "red"
    product = markovize.Product.of(traces, machine)
    assert product.reward(("hall", int(fired)), "go", ("goal", int(fired))) == 1.0
    assert product.reward(("hall", int(not fired)), "go", ("goal", int(not fired))) == 0.0


class Start(gym.Env[Any, Any]):
    """Two starts, 0 and 1; two steps later the end, which pays after start 0."""

    observation_space, action_space = spaces.Discrete(4), spaces.Discrete(2)
    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - Gymnasium's

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.start = self.state = int((options or {}).get("start", 0))
        return self.state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.state = 2 if self.state < 2 else 3
        return self.state, float(self.state == 3 and self.start == 0), self.state == 3, False, {}


STARTS = RewardMachine(
    "source",
    "state",
    2,
    (Trigger(0, 0, 1),),
    (Emission(0, 2, 1, 0.0), Emission(1, 3, 1, 1.0, True), Emission(0, 3, 0, 0.0)),
)


@pytest.mark.parametrize(("start", "states"), [(0, [0, 1, 1]), (1, [0, 0, 0])])
def test_the_wrapper_moves_as_the_start_is_left(start: int, states: list[int]) -> None:
    env = MarkovRewardWrapper(Start(), STARTS)
    _, first = env.reset(options={"start": start})
    infos = [env.step(0)[4] for _ in range(2)]
    assert [first["rm_state"], *(info["rm_state"] for info in infos)] == states
    assert [info["rm_trigger"] for info in infos] == ([0, -1] if start == 0 else [-1, -1])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vectors_of_environments_leave_their_last_state_behind(mode: AutoresetMode) -> None:
    """At a reset within a vector no state is left: the next episode starts at the initial state."""
    envs = VectorMarkovRewardWrapper(SyncVectorEnv([Start, Start], autoreset_mode=mode), STARTS)
    envs.reset()
    seen = [envs.step(np.array([0, 0]))[0]["rm_state"].tolist() for _ in range(6)]
    expected = [1, 1, 0] * 2 if mode is AutoresetMode.NEXT_STEP else [1, 0] * 3
    assert seen == [[state, state] for state in expected]


def test_experiences_in_other_states() -> None:
    assert [e.next_rm_state for e in counterfactual(STARTS, 0, "go", 2)] == [1]
    assert [(e.rm_state, e.reward) for e in counterfactual(STARTS, 2, "go", 3)] == [(0, 0.0), (1, 1.0)]


def test_labels_that_the_environment_lacks_are_refused() -> None:
    with pytest.raises(MachineError, match=r"the trigger 0 → 1 is on 9, which is no observation of Discrete\(4\)"):
        MarkovRewardWrapper(Start(), RewardMachine("source", "state", 2, (Trigger(0, 9, 1),)))


MAP = """
    +-----------+
    |k . @ . . D|
    +-----------+"""


def key_and_door() -> GridWorld:
    rewards = (Emission(1, "door", 1, 1.0, terminal=True), Emission(0, "door", 0, 0.0, terminal=True))
    machine = RewardMachine("source", "state", 2, (Trigger(0, "key", 1),), rewards)
    return GridWorld(MAP, machine, names={"k": "key", "D": "door"}, render_mode="ansi", show_machine=True)


def test_grids_speak_of_cells_that_are_left() -> None:
    env = key_and_door()
    env.reset(seed=0)
    states = []
    for action in (3, 3, 1):
        env.step(action)
        states.append(env.machine_state)
    assert states == [0, 0, 1], "the key counts as it is left"
    assert "fired: from key (0, 0)" in str(env.render())


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
def test_agents_learn_it_while_acting(compiled: bool) -> None:
    env: gym.Env[Any, Any] = gym.wrappers.TimeLimit(key_and_door(), 30)
    if not compiled:
        env = gym.wrappers.TransformReward(env, lambda reward: reward)  # steps through Gymnasium then
    settings = Settings.of("directed", episodes=150, trigger_on="source", reward_on="state", seed=1)
    result = ActiveLearner(env, settings).run()
    assert (result.machine.trigger_on, result.machine.states, len(result.machine.triggers)) == ("source", 2, 1)
    assert result.returns[-10:].tolist() == [1.0] * 10
