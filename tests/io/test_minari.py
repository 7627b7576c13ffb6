"""Minari data sets, made on the spot: what is written is read back, and learned from."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from damaged_files import mutate, mutate_values
from gymnasium import spaces

import markovize
from markovize import Episode, InputError, Traces, UnsupportedError
from markovize.io import convert, read_episodes
from markovize.io.episodes.jsonl import write_jsonl
from markovize.io.episodes.minari import read_minari, write_minari
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

pytestmark = pytest.mark.slow

minari = pytest.importorskip("minari", reason="the extra `data` is not installed")
pytest.importorskip("h5py", reason="the extra `data` is not installed")


@pytest.fixture(autouse=True)
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


class Bare(gym.Env[Any, Any]):
    """Spaces and nothing else."""

    def __init__(self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> None:
        self.observation_space, self.action_space = observation_space, action_space


def breakfast() -> tuple[gym.Env[Any, Any], Traces]:
    walks = noisy_walks(world("breakfast", task="b"), 120, np.random.default_rng(3))
    return gym.make("markovize/BreakfastWorld-v0", task="b"), walks


def same(one: Traces, two: Traces) -> bool:
    return [e.to_json() for e in one] == [e.to_json() for e in two]


def test_a_data_set_is_read_as_it_was_written() -> None:
    env, walks = breakfast()
    dataset = write_minari(walks, "breakfast/walks-v0", env=env, description="walks", author="a test")
    assert (dataset.total_episodes, dataset.total_steps) == (len(walks), walks.steps)
    name = "breakfast/walks-v0"
    for given in (name, f"minari:{name}", dataset, minari.load_dataset(name)):
        assert same(read_minari(given), walks)
    again = dataset.recover_environment()
    assert again.observation_space == env.observation_space
    assert again.spec.kwargs == {"task": "b"}


def test_a_data_set_is_a_format_like_others(datasets: Path) -> None:
    _, walks = breakfast()
    write_jsonl(datasets / "walks.jsonl", walks)
    convert(datasets / "walks.jsonl", "minari:walks/all-v0")
    assert same(read_episodes("minari:walks/all-v0"), walks)
    assert same(read_episodes(Path("minari:walks/all-v0")), walks)
    assert same(read_episodes("walks/all-v0", format="minari"), walks)
    for folder in ("walks/all-v0", "walks/all-v0/data"):
        assert same(read_episodes(datasets / folder), walks)
    convert("minari:walks/all-v0", datasets / "again.jsonl")
    assert (datasets / "again.jsonl").read_bytes() == (datasets / "walks.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("observations", "space"),
    [
        ([3, 5, 3], spaces.Discrete(3, start=3)),
        (["up", "", "pu"], spaces.Text(2, min_length=0, charset="pu")),
        ([(0, -1), (4, 2), (0, -1)], spaces.MultiDiscrete([5, 4], start=[0, -1])),
        ([(0, "a"), (1, "b"), (0, "b")], spaces.Tuple((spaces.Discrete(2), spaces.Text(1, charset="ab")))),
    ],
)
def test_spaces_are_found_where_no_environment_gives_them(observations: list[Any], space: spaces.Space[Any]) -> None:
    traces = Traces.of([(observations, [0, 1], [0.5, 1.0], True)])
    assert write_minari(traces, "found-v0").observation_space == space
    assert same(read_minari("found-v0"), traces)


@pytest.mark.parametrize("observations", [[0.5, 1], [True, False], [1, "a"], [(), ()], [(1,), (1, 2)], [2**62, 0]])
def test_values_that_no_space_holds_are_refused(datasets: Path, observations: list[Any]) -> None:
    with pytest.raises(UnsupportedError, match="no discrete space holds the observations"):
        write_minari([(observations, [0], [0.0])], "none-v0")
    assert not list(datasets.iterdir())


def test_a_damaged_data_set_is_one_line(datasets: Path) -> None:
    """HDF5 finds the damage only when it comes to it: a third of the bytes is overwritten, from every tenth on."""
    _, walks = breakfast()
    write_minari(walks, "walks-v0")
    path = datasets / "walks-v0" / "data" / "main_data.hdf5"
    whole = path.read_bytes()
    refused = 0
    for part in range(10):
        start = len(whole) * part // 10
        path.write_bytes(whole[:start] + b"\x5a" * (len(whole) // 3) + whole[start + len(whole) // 3 :])
        try:
            read_episodes("minari:walks-v0")
        except InputError as error:
            assert str(error).startswith("minari:walks-v0: ")
            assert "\n" not in str(error)
            assert len(str(error)) <= 400
            refused += 1
    assert refused >= 5


def test_damaged_metadata(datasets: Path) -> None:
    """Only the metadata: of some damaged HDF5 files the HDF5 library itself makes endless loops."""
    write_minari([([(0, 1), (1, 1)], ["a"], [0.5], True)] * 3, "w-v0")
    path, rng = datasets / "w-v0" / "data" / "metadata.json", random.Random(0)
    whole = path.read_bytes()
    refused = 0
    for _ in range(80):
        path.write_bytes(mutate_values(whole, rng) if rng.random() < 0.7 else mutate(whole, rng, [whole]))
        try:
            assert read_episodes("minari:w-v0").steps <= 3
        except (InputError, UnsupportedError) as error:
            assert str(error).isprintable()
            refused += 1
    assert 20 < refused < 80


def test_check_and_learn_from_a_data_set() -> None:
    env, walks = breakfast()
    write_minari(walks, "walks-v0", env=env)
    traces = read_minari("walks-v0")
    assert not markovize.check(traces).markov
    machine = markovize.learn(traces, trigger_on="state", reward_on="state").unwrap()
    assert machine == markovize.learn(walks, trigger_on="state", reward_on="state").unwrap()
    assert markovize.replay(machine, walks).mismatches == 0


def test_a_data_set_that_minari_collected_itself() -> None:
    """Only its buffers are used here, as its collector would hand them over."""
    buffer = minari.data_collector.EpisodeBuffer(
        observations=np.array([0, 4, 8]),
        actions=np.array([1, 1]),
        rewards=[0.0, np.float32(0.5)],
        terminations=[False, False],
        truncations=[False, True],
    )
    with pytest.warns(UserWarning):
        dataset = minari.create_dataset_from_buffers("lake/one-v0", [buffer], env="FrozenLake-v1")
    (episode,) = read_minari(dataset)
    assert episode == Episode([0, 4, 8], [1, 1], [0.0, 0.5], terminated=False, truncated=True)


@pytest.mark.parametrize(
    ("space", "values"),
    [
        (spaces.Discrete(3, start=-1), [-1, 0, 1]),
        (spaces.MultiDiscrete([3, 4]), [(0, 1), (2, 3), (1, 0)]),
        (spaces.MultiBinary(2), [(0, 1), (1, 1), (0, 0)]),
        (spaces.Box(-2, 2, (2,), np.int8), [(-2, 2), (0, 0), (1, -1)]),
        (spaces.Text(5, charset="abc"), ["a", "bc", "cab"]),
        (spaces.Tuple((spaces.Discrete(2), spaces.MultiDiscrete([2, 2]))), [(0, (1, 0)), (1, (0, 0)), (0, (1, 1))]),
    ],
)
def test_every_discrete_space_goes_round(space: spaces.Space[Any], values: list[Any]) -> None:
    env = Bare(space, spaces.Discrete(2))
    traces = Traces.of([(values, [0, 1], [0.0, 1.0], True), (values[1:], [1], [0.25], False)])
    write_minari(traces, "kinds-v0", env=env)
    assert same(read_minari("kinds-v0"), traces)


def test_rewards_can_be_rounded() -> None:
    write_minari([([0, 1], [0], [0.30000000000000004])], "r-v0", env=Bare(spaces.Discrete(2), spaces.Discrete(1)))
    assert read_minari("r-v0", reward_decimals=3).episode(0).rewards == [0.3]


def test_continuous_and_dict_observations_are_not_written() -> None:
    with pytest.raises(UnsupportedError, match="continuous"):
        write_minari([([0, 1], [0], [1.0])], "box-v0", env=gym.make("CartPole-v1"))
    parts = spaces.Dict({"x": spaces.Discrete(2)})
    with pytest.raises(UnsupportedError, match="Dict space"):
        write_minari([([0, 1], [0], [1.0])], "dict-v0", env=Bare(parts, spaces.Discrete(2)))


def walk_on_a_beach(rng: np.random.Generator, named: bool) -> Any:
    """A walk on a line: the water at the right pays, once the shade at the left was visited. Positions never repeat."""
    moves = rng.uniform(-1, 1, (40, 1))
    places, cool, rewards = [np.zeros(1)], False, []
    for move in moves:
        places.append(np.clip(places[-1] + move, -3, 3))
        cool = cool or places[-1][0] < -1
        rewards.append(float(cool and places[-1][0] > 1))
    at = np.stack(places)
    return minari.data_collector.EpisodeBuffer(
        observations={"at": at, "wet": (at[:, 0] > 1).astype(np.int64)} if named else at,
        actions=moves,
        rewards=rewards,
        terminations=[False] * 40,
        truncations=[False] * 39 + [True],
    )


def region(_state: Any, _action: Any, after: Any) -> str:
    """Where the step leads, in either form of the observations."""
    x = after["at"][0] if "at" in after else after[0]
    return "shade" if x < -1 else "water" if x > 1 else "sand"


@pytest.mark.parametrize("named", [False, True])
def test_functions_label_box_and_dict_observations(named: bool, tmp_path: Path) -> None:
    rng, place = np.random.default_rng(1), spaces.Box(-3.0, 3.0, (1,), np.float64)
    with pytest.warns(UserWarning):
        minari.create_dataset_from_buffers(
            "beach-v0",
            [walk_on_a_beach(rng, named) for _ in range(25)],
            observation_space=spaces.Dict({"at": place, "wet": spaces.Discrete(2)}) if named else place,
            action_space=spaces.Box(-1.0, 1.0, (1,), np.float64),
        )
    traces = read_episodes("minari:beach-v0")
    assert (len(traces), traces.steps) == (25, 1000)
    result = markovize.learn(traces, trigger_on=region, reward_on=region)
    assert (result.status, result.states, result.triggers) == ("optimal", 2, 1)
    assert markovize.replay(result.unwrap(), traces, trigger_on=region, reward_on=region).mismatches == 0
    assert not markovize.check(traces).testable
    convert("minari:beach-v0", tmp_path / "beach.jsonl")
    again = read_episodes(tmp_path / "beach.jsonl")
    assert again.episode(3) == traces.episode(3)
    if named:
        with pytest.raises(InputError, match=r"the observations are objects, .* give a function of .* as trigger_on="):
            markovize.learn(traces, trigger_on="state")


def test_what_cannot_be_written_is_told(datasets: Path) -> None:
    env = Bare(spaces.Discrete(2), spaces.Discrete(2))
    good = [([0, 1], [0], [1.0])]
    cases: list[tuple[Any, str, str]] = [
        ([([0, 2], [0], [1.0])], "x-v0", r"episode 0: 2 is no observation of Discrete\(2\)"),
        ([([0, 1], [5], [1.0])], "x-v0", r"episode 0: 5 is no action of Discrete\(2\)"),
        ([([0], [], [])], "x-v0", "has no steps"),
        ([], "x-v0", "at least one episode"),
        (good, "no good name-v0", "minari:no good name-v0: Malformed dataset ID"),
        (good, "versionless", "minari:versionless: names end with a version"),
    ]
    for episodes, name, said in cases:
        with pytest.raises(InputError, match=said):
            write_minari(episodes, name, env=env)
    assert not list(datasets.iterdir())
    write_minari(good, "x-v0", env=env)
    with pytest.raises(InputError, match="already exists"):
        write_minari(good, "x-v0", env=env)


def test_what_cannot_be_read_is_told(datasets: Path) -> None:
    with pytest.raises(InputError, match="minari:nothing-v0: no such data set here"):
        read_minari("minari:nothing-v0")
    (datasets / "empty-v0" / "data").mkdir(parents=True)
    with pytest.raises(InputError, match="minari:empty-v0: is no Minari data set"):
        read_minari("empty-v0")


def test_formats_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = gym.make("markovize/BreakfastWorld-v0", task="b")
    episodes = [([(0, 0), (0, 1)], [1], [0.0], False)]
    with pytest.raises(InputError, match="formats of Minari data sets are hdf5, arrow, not 'csv'"):
        write_minari(episodes, "odd/format-v0", env=env, data_format="csv")
    monkeypatch.setattr("markovize.io.episodes.minari.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'minari\[arrow\]'"):
        write_minari(episodes, "odd/format-v0", env=env, data_format="arrow")
    assert not list(tmp_path.iterdir())
