"""The wrappers on vector environments: in each autoreset mode they do what the others do on each environment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from wrapper_cases import FORMS, FORMS_AND_MODES, Ring, errand, errand_machine, ring_machine

import markovize
from markovize.errors import InputError, MachineError, UnsupportedError
from markovize.gym import wrappers
from markovize.gym.wrappers import vector
from markovize.machine.machine import RewardMachine, Trigger

MODES = list(AutoresetMode)
NUMBER = 3
Play = list[tuple[Any, ...]]


def play(envs: Any, mode: AutoresetMode, steps: int = 40, resets: tuple[int, ...] = (25,)) -> Play:
    """Random steps, and what came of them: the same actions whatever is wrapped around."""
    rng = np.random.default_rng(7)
    out: Play = [envs.reset(seed=3)]
    for step in range(steps):
        if step in resets:
            out.append(envs.reset(seed=50))
        out.append(envs.step(rng.integers(0, 3, envs.num_envs)))
        ended = out[-1][2] | out[-1][3]
        if mode is AutoresetMode.DISABLED and ended.any():
            out.append(envs.reset(options={"reset_mask": ended}))
    envs.close()
    return out


def plain_infos(infos: dict[str, Any], number: int) -> dict[str, Any]:
    """The infos that an environment has, without those that only others have."""
    out = {}
    for name, column in infos.items():
        if not name.startswith("_") and infos[f"_{name}"][number]:
            out[name] = plain_infos(column, number) if isinstance(column, dict) else column[number]
    return out


def loose(value: Any) -> Any:
    """Without the difference between 1 and np.int64(1), which Gymnasium is free about in ``final_obs``."""
    if isinstance(value, dict):
        return {name: loose(part) for name, part in value.items()}
    return [loose(part) for part in value] if isinstance(value, tuple) else np.asarray(value)


def assert_equal_plays(one: Play, two: Play) -> None:
    assert len(one) == len(two)
    for first, second in zip(one, two, strict=True):
        assert data_equivalence(first[0], second[0], exact=True)
        for a, b in zip(first[1:-1], second[1:-1], strict=True):
            assert np.array_equal(a, b)
        for number in range(NUMBER):
            a, b = plain_infos(first[-1], number), plain_infos(second[-1], number)
            assert a.keys() == b.keys()
            assert data_equivalence(loose(a.pop("final_obs", 0)), loose(b.pop("final_obs", 0)), exact=True)
            assert data_equivalence(a, b, exact=True)


def both(form: str, autoreset: AutoresetMode, make: Any = SyncVectorEnv, **options: Any) -> tuple[Any, Any]:
    """A wrapped vector of environments, and a vector of wrapped environments."""
    machine = ring_machine(form)
    single = lambda: wrappers.MarkovRewardWrapper(Ring(form, limit=9), machine, **options)  # noqa: E731
    outside = make([lambda: Ring(form, limit=9)] * NUMBER, autoreset_mode=autoreset)
    inside = make([single] * NUMBER, autoreset_mode=autoreset)
    return vector.MarkovRewardWrapper(outside, machine, **options), inside


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize(("form", "mode"), FORMS_AND_MODES)
def test_as_on_each_environment(form: str, mode: Any, autoreset: AutoresetMode) -> None:
    options = {"mode": mode, "shaping": 0.9, "crm": True} if mode in ("dict", "one-hot") else {"mode": mode}
    outside, inside = both(form, autoreset, **options)
    assert outside.single_observation_space == inside.single_observation_space
    assert outside.observation_space == inside.observation_space
    one, two = play(outside, autoreset), play(inside, autoreset)
    assert_equal_plays(one, two)
    assert all(row[0] in outside.observation_space for row in one)
    assert {bool(row[2].any()) for row in one if len(row) == 5} == {True, False}


@pytest.mark.parametrize("autoreset", MODES)
def test_asynchronous(autoreset: AutoresetMode) -> None:
    outside, inside = both("multi", autoreset, AsyncVectorEnv, mode="flat", shaping=0.5)
    assert_equal_plays(play(outside, autoreset), play(inside, autoreset))


def go(envs: Any, *actions: list[int]) -> Any:
    for action in actions:
        result = envs.step(np.array(action))
    return result


def lakes(autoreset: AutoresetMode, limit: int = 3) -> Any:
    envs = SyncVectorEnv([lambda: errand(limit=limit), lambda: errand(limit=50)], autoreset_mode=autoreset)
    return vector.MarkovRewardWrapper(envs, errand_machine())


def test_next_step_by_hand() -> None:
    envs = lakes(AutoresetMode.NEXT_STEP)
    envs.reset(seed=0)
    observations, _, _, truncations, infos = go(envs, [2, 2], [2, 2], [2, 2])
    assert truncations.tolist() == [True, False]
    assert observations["rm_state"].tolist() == infos["rm_state"].tolist() == [1, 1]  # kept, to bootstrap from
    observations, _, _, _, infos = go(envs, [2, 1])  # the first environment's step is none
    assert observations["observation"].tolist() == [0, 7]
    assert observations["rm_state"].tolist() == [0, 1]
    assert infos["rm_trigger"].tolist() == [-1, -1]


def test_same_step_by_hand() -> None:
    envs = lakes(AutoresetMode.SAME_STEP)
    envs.reset(seed=0)
    observations, _, _, _, infos = go(envs, [2, 2], [2, 2], [2, 2])
    assert observations["observation"].tolist() == [0, 3]
    assert observations["rm_state"].tolist() == infos["rm_state"].tolist() == [0, 1]
    assert infos["final_obs"].tolist() == [{"observation": 3, "rm_state": 1}, None]
    assert infos["final_info"]["rm_state"][0] == 1
    assert infos["_final_info"].tolist() == infos["final_info"]["_rm_state"].tolist() == [True, False]
    assert "prob" in infos["final_info"]
    assert go(envs, [2, 2])[0]["rm_state"].tolist() == [0, 1]


def test_disabled_by_hand() -> None:
    envs = lakes(AutoresetMode.DISABLED)
    envs.reset(seed=0)
    observations = go(envs, [2, 2], [2, 2], [2, 2])[0]
    assert observations["rm_state"].tolist() == [1, 1]
    mask = np.array([True, False])
    options = {"reset_mask": mask}
    observations, infos = envs.reset(options=options)
    assert options == {"reset_mask": mask}  # left as it was, for wrappers around
    assert observations["observation"].tolist() == [0, 3]
    assert observations["rm_state"].tolist() == [0, 1]
    assert infos["_rm_state"].tolist() == [True, False]
    assert go(envs, [2, 1])[0]["rm_state"].tolist() == [0, 1]


def test_masks_are_checked_by_the_environment() -> None:
    envs = lakes(AutoresetMode.DISABLED)
    with pytest.raises((TypeError, AssertionError), match="numpy array"):
        envs.reset(options={"reset_mask": [True, False]})
    with pytest.raises(gym.error.ResetNeeded):
        envs.step(np.array([0, 0]))
    assert envs.reset(seed=0, options={})[0]["rm_state"].tolist() == [0, 0]


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize("outside", [True, False])
def test_with_statistics(autoreset: AutoresetMode, outside: bool) -> None:
    envs: Any = SyncVectorEnv([lambda: Ring(limit=5)] * NUMBER, autoreset_mode=autoreset)
    plain = RecordEpisodeStatistics(SyncVectorEnv([lambda: Ring(limit=5)] * NUMBER, autoreset_mode=autoreset))
    if outside:
        envs = RecordEpisodeStatistics(vector.MarkovRewardWrapper(envs, ring_machine()))
    else:
        envs = vector.MarkovRewardWrapper(RecordEpisodeStatistics(envs), ring_machine())
    one, two = play(envs, autoreset, resets=()), play(plain, autoreset, resets=())
    ends = [[row[-1]["episode"]["r"].tolist() for row in rows if "episode" in row[-1]] for rows in (one, two)]
    assert ends[0] == ends[1]
    assert len(ends[0]) > 5


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize("form", FORMS)
def test_recorded_as_on_each_environment(form: str, autoreset: AutoresetMode, tmp_path: Path) -> None:
    outside = vector.RecordEpisodes(
        SyncVectorEnv([lambda: Ring(form, limit=9)] * NUMBER, autoreset_mode=autoreset), tmp_path / "all.jsonl"
    )
    paths = [tmp_path / f"{number}.jsonl" for number in range(NUMBER)]
    inside = SyncVectorEnv(
        [lambda path=path: wrappers.RecordEpisodes(Ring(form, limit=9), path) for path in paths],  # type: ignore[misc]
        autoreset_mode=autoreset,
    )
    assert_equal_plays(play(outside, autoreset), play(inside, autoreset))
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    expected = [line for path in paths for line in path.read_text().splitlines()]
    assert Counter(lines) == Counter(expected)
    assert outside.episodes_written == len(lines) > 10
    assert '"terminated": true' in "".join(lines)


def test_recorded_asynchronously(tmp_path: Path) -> None:
    envs = AsyncVectorEnv([lambda: Ring("tuple", limit=4)] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    recorded = vector.RecordEpisodes(envs, tmp_path / "log.jsonl")
    play(recorded, AutoresetMode.SAME_STEP, 10, resets=())
    assert Counter(e.steps for e in markovize.read_episodes(tmp_path / "log.jsonl"))[4] >= 3
    assert markovize.read_episodes(tmp_path / "log.jsonl").steps == 20  # every step, and none of them a reset


@pytest.mark.parametrize("autoreset", MODES)
def test_markov_again(autoreset: AutoresetMode, tmp_path: Path) -> None:
    for name, machine in (("with", ring_machine()), ("without", RewardMachine("state", "state", 1))):
        envs = SyncVectorEnv([lambda: Ring(limit=20)] * NUMBER, autoreset_mode=autoreset)
        wrapped = vector.MarkovRewardWrapper(envs, machine, mode="flat")
        play(vector.RecordEpisodes(wrapped, tmp_path / f"{name}.jsonl"), autoreset, 300)
    assert markovize.check(markovize.read_episodes(tmp_path / "with.jsonl")).markov
    assert not markovize.check(markovize.read_episodes(tmp_path / "without.jsonl")).markov


class Odd(VectorEnv[Any, Any, Any]):
    """Whatever a test needs it to do wrong."""

    num_envs = 2
    single_observation_space, single_action_space = spaces.Discrete(6), spaces.Discrete(2)
    observation_space, action_space = spaces.MultiDiscrete([6, 6]), spaces.MultiDiscrete([2, 2])

    def __init__(self, mode: Any, rewards: tuple[float, float] = (0.0, 0.0), ended: bool = False) -> None:
        self.metadata = {} if mode is None else {"autoreset_mode": mode}
        self.rewards, self.ended = rewards, ended

    def reset(self, **_: Any) -> Any:
        return np.array([0, 0]), {}

    def step(self, _: Any) -> Any:
        return np.array([1, 1]), np.array(self.rewards), np.array([self.ended, False]), np.array([False, False]), {}


def test_modes_must_be_known(tmp_path: Path) -> None:
    for mode, words in ((None, "does not say when it resets"), ("Sometimes", "not one of Gymnasium's")):
        with pytest.raises(UnsupportedError, match=words):
            vector.MarkovRewardWrapper(Odd(mode), ring_machine())
        with pytest.raises(UnsupportedError, match=words):
            vector.RecordEpisodes(Odd(mode), tmp_path / "log.jsonl")
    vector.MarkovRewardWrapper(Odd("NextStep"), ring_machine())  # as JSON has it


def test_last_observations_must_be_told(tmp_path: Path) -> None:
    for make in (
        lambda e: vector.MarkovRewardWrapper(e, ring_machine()),
        lambda e: vector.RecordEpisodes(e, tmp_path / "log.jsonl"),
    ):
        envs = make(Odd(AutoresetMode.SAME_STEP, ended=True))
        envs.reset()
        with pytest.raises(InputError, match="no final_obs"):
            envs.step([0, 1])
        with pytest.raises(gym.error.ResetNeeded):
            envs.step([0, 1])


def test_bad_rewards_leave_no_gap(tmp_path: Path) -> None:
    odd = Odd(AutoresetMode.NEXT_STEP)
    envs = vector.RecordEpisodes(odd, tmp_path / "log.jsonl")
    with pytest.raises(gym.error.ResetNeeded):
        envs.step([0, 1])
    envs.reset()
    envs.step([0, 1])
    odd.rewards = (0.0, float("nan"))
    with pytest.raises(InputError, match="nan"):
        envs.step([0, 1])
    with pytest.raises(gym.error.ResetNeeded, match="after an error"):
        envs.step([0, 1])
    envs.close()
    assert [e.steps for e in markovize.read_episodes(tmp_path / "log.jsonl")] == [2, 1]


def test_machines_for_other_environments(tmp_path: Path) -> None:
    envs = SyncVectorEnv([Ring] * 2)
    with pytest.raises(MachineError, match="on 77, which is no observation of Discrete"):
        vector.MarkovRewardWrapper(envs, RewardMachine("state", "state", 2, (Trigger(0, 77, 1),)))
    with pytest.raises(UnsupportedError, match="DictInfoToList around this wrapper"):
        vector.MarkovRewardWrapper(DictInfoToList(envs), ring_machine()).reset()
    carts = gym.make_vec("CartPole-v1", num_envs=2)
    with pytest.raises(UnsupportedError, match="DiscretizeObservation"):
        vector.RecordEpisodes(carts, tmp_path / "log.jsonl")
    vector.RecordEpisodes(carts, tmp_path / "log.jsonl", continuous=True)


def test_unseen_labels() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(0, 5, 1),), errand_machine().rewards[:2])
    envs = vector.MarkovRewardWrapper(SyncVectorEnv([lambda: errand()] * 2), machine)
    envs.reset(seed=0)
    assert go(envs, [2, 1], [2, 2])[4]["rm_unseen"].tolist() == [1, 1]  # 2; 4
    strict = vector.MarkovRewardWrapper(SyncVectorEnv([lambda: errand()] * 2), machine, unseen="error")
    strict.reset(seed=0)
    with pytest.raises(InputError, match="the label 4 of the step"):
        strict.step(np.array([2, 1]))
    with pytest.raises(gym.error.ResetNeeded, match="after an error"):
        strict.step(np.array([2, 1]))
