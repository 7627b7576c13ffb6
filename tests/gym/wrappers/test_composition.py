"""The wrappers among others: Gymnasium's checker, specs, and nesting in any order."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import (
    Autoreset,
    FlattenObservation,
    NormalizeReward,
    OrderEnforcing,
    PassiveEnvChecker,
    RecordEpisodeStatistics,
    TimeLimit,
    TransformReward,
)
from wrapper_cases import FORMS_AND_MODES, MODES, OPEN, Ring, errand_machine, ring_machine

import markovize
from markovize.gym.wrappers import MarkovRewardWrapper, RecordEpisodes
from markovize.machine.machine import RewardMachine, Trigger
from markovize.machine.replay import run


def lake(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("FrozenLake-v1", desc=OPEN, is_slippery=False, **kwargs)


@pytest.mark.parametrize(("form", "mode"), FORMS_AND_MODES)
def test_check_env(form: str, mode: Any) -> None:
    machine = ring_machine(form)
    env = MarkovRewardWrapper(Ring(form), machine, mode=mode, shaping=0.9, crm=True)
    with warnings.catch_warnings():
        # the only one allowed: that there is a wrapper, and that Ring has no id
        warnings.filterwarnings("ignore", ".*is different from the unwrapped version.*")
        warnings.filterwarnings("ignore", ".*Not able to test alternative render modes.*")
        check_env(env)


@pytest.mark.parametrize("mode", MODES)
def test_passive_checks_find_nothing(mode: Any, tmp_path: Path) -> None:
    env = MarkovRewardWrapper(RecordEpisodes(lake(), tmp_path / "log.jsonl"), errand_machine(), mode=mode)
    checked = PassiveEnvChecker(env)
    checked.reset(seed=0)
    for action in (2, 2, 2, 1, 1, 1):
        checked.step(action)


def as_given(tmp_path: Path) -> list[Any]:
    markovize.write_machine(tmp_path / "machine.json", errand_machine())
    return [errand_machine(), errand_machine().to_json(), tmp_path / "machine.json", str(tmp_path / "machine.json")]


def test_specs_go_round(tmp_path: Path) -> None:
    for given in as_given(tmp_path):
        env = MarkovRewardWrapper(lake(), given, mode="one-hot", unseen="error", shaping=0.9, crm=True)
        assert env.spec is not None
        text = env.spec.to_json()
        (tmp_path / "machine.json").unlink(missing_ok=True)  # the spec holds the machine, not its place
        again = gym.make(EnvSpec.from_json(text))
        assert isinstance(again, MarkovRewardWrapper)
        assert again.machine == env.machine == errand_machine()
        assert again.mode == "one-hot"
        assert again.observation_space == env.observation_space
        assert again.spec is not None
        assert json.loads(again.spec.to_json()) == json.loads(text)
        env.reset(seed=3), again.reset(seed=3)
        for action in (2, 2, 2, 1):
            one, two = env.step(action), again.step(action)
            assert one[0].tolist() == two[0].tolist()
            assert one[1:] == two[1:]
        as_given(tmp_path)


def test_specs_with_functions_stay_in_memory() -> None:
    machine = RewardMachine("function", "state", 2, (Trigger(0, True, 1),))
    env = MarkovRewardWrapper(lake(), machine, trigger_on=lambda *step: step[2] == 3)
    assert env.spec is not None
    again = gym.make(env.spec)
    assert isinstance(again, MarkovRewardWrapper)
    assert again.machine == machine
    with pytest.raises(TypeError):
        env.spec.to_json()


def test_the_recorders_spec(tmp_path: Path) -> None:
    env = RecordEpisodes(lake(), tmp_path / "log.jsonl", append=True)
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    again.reset(seed=0)
    again.step(1)
    again.close()
    assert markovize.read_episodes(tmp_path / "log.jsonl").steps == 1


def test_copies_go_their_own_way() -> None:
    env = MarkovRewardWrapper(lake(), errand_machine(), mode="flat", shaping=0.9, crm=True)
    env.reset(seed=0)
    env.step(2), env.step(2)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.step(2)[0] == 3 * 3 + 1
        assert env.rm_state == 0


OUTSIDE: dict[str, Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]]] = {
    "statistics": lambda env: RecordEpisodeStatistics(env),
    "limit": lambda env: TimeLimit(env, 7),
    "reward": lambda env: TransformReward(env, lambda r: 2 * float(r)),
    "normal": lambda env: NormalizeReward(env),
    "order": lambda env: OrderEnforcing(env),
    "autoreset": lambda env: Autoreset(env),
}


def play(env: gym.Env[Any, Any], resets: bool, steps: int = 60) -> list[int]:
    """rm_state after each call."""
    env.action_space.seed(0)
    states = [env.reset(seed=5)[1]["rm_state"]]
    for _ in range(steps):
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        states.append(info["rm_state"])
        if resets and (terminated or truncated):
            states.append(env.reset()[1]["rm_state"])
    return states


@pytest.mark.parametrize("names", list(itertools.permutations(OUTSIDE, 2)), ids="-".join)
def test_nesting_in_any_order(names: tuple[str, str]) -> None:
    """Whether the wrapper is innermost, in the middle or outermost, it goes through the same states."""
    resets = "autoreset" not in names
    ways = []
    for place in range(3):
        env: gym.Env[Any, Any] = Ring(limit=11)
        for layer in range(3):
            if layer == place:
                env = MarkovRewardWrapper(env, ring_machine())
            if layer < 2:
                env = OUTSIDE[names[layer]](env)
        ways.append(play(env, resets))
    assert ways[0] == ways[1] == ways[2]
    assert 0 < sum(ways[0]) < len(ways[0])


def test_flattened_afterwards() -> None:
    env = FlattenObservation(MarkovRewardWrapper(lake(), errand_machine()))
    env.reset(seed=0)
    for _ in range(3):
        observation = env.step(2)[0]
    assert np.flatnonzero(observation).tolist() == [3, 16 + 1]  # as mode one-hot has it


@pytest.mark.parametrize("inside", [True, False])
def test_the_phantom_step_of_autoreset(inside: bool, tmp_path: Path) -> None:
    env: gym.Env[Any, Any] = Ring(limit=4)
    if inside:
        env = Autoreset(env)
    env = RecordEpisodes(MarkovRewardWrapper(env, ring_machine(), mode="flat", crm=True), tmp_path / "a.jsonl")
    if not inside:
        env = Autoreset(env)
    env.reset(seed=0)
    infos, ended = [], False
    for action in [1] * 23:  # backwards: place 5 comes soon
        observation, reward, terminated, truncated, info = env.step(action)
        if ended:
            assert (info["rm_state"], info["rm_trigger"], reward) == (0, -1, 0.0)
            assert observation % 2 == 0
            assert not info.get("rm_experiences")
        ended = terminated or truncated
        infos.append(info)
    env.close()
    assert max(info["rm_state"] for info in infos) == 1
    traces = markovize.read_episodes(tmp_path / "a.jsonl")
    plain = markovize.Traces.of(
        (([o // 2 for o in e.observations]), e.actions, e.rewards, e.terminated, e.truncated) for e in traces
    )
    # no step was recorded across an episode's end, and the states are those of a replay from each start
    assert traces.steps == 23 - (len(traces) - 1)
    before = [o % 2 for e in traces for o in e.observations[:-1]]
    after = [o % 2 for e in traces for o in e.observations[1:]]
    way = run(ring_machine(), plain)
    assert (before, after) == (way.before.tolist(), way.after.tolist())
    moves = {(b - a) % 6 for e in plain for a, b in itertools.pairwise(e.observations)}
    assert moves == {5}
    assert all(e.observations[0] < 3 for e in plain)
