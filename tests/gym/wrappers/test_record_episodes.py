"""Recording episodes: what is in the file, when, and what survives a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import Autoreset, TimeLimit
from wrapper_cases import FORMS, Ring, errand, ring_label

import markovize
from markovize.errors import InputError, UnsupportedError
from markovize.gym.wrappers import RecordEpisodes


def play(env: gym.Env[Any, Any], episodes: int, seed: int = 0) -> list[dict[str, Any]]:
    """Random episodes, noted down by the test itself."""
    env.action_space.seed(seed)
    out = []
    for number in range(episodes):
        observations, actions, rewards, terminated, truncated = [env.reset(seed=seed + number)[0]], [], [], False, False
        while not (terminated or truncated):
            action = env.action_space.sample()
            observation, reward, terminated, truncated, _ = env.step(action)
            observations.append(observation)
            actions.append(action)
            rewards.append(reward)
        out.append(
            {
                "observations": observations,
                "actions": actions,
                "rewards": rewards,
                "terminated": terminated,
                "truncated": truncated,
            }
        )
    return out


@pytest.mark.parametrize("form", FORMS)
def test_the_file_holds_what_happened(form: str, tmp_path: Path) -> None:
    played = play(RecordEpisodes(Ring(form), tmp_path / "log.jsonl"), 12)
    expected = markovize.Traces.of(played)
    assert {e.terminated for e in expected} == {e.truncated for e in expected} == {True, False}
    assert set(expected.observation_values) == {ring_label(form, place) for place in range(6)}
    markovize.write_episodes(tmp_path / "expected.jsonl", expected)
    assert (tmp_path / "log.jsonl").read_bytes() == (tmp_path / "expected.jsonl").read_bytes()


def test_results_are_passed_on_as_they_are(tmp_path: Path) -> None:
    one, two = play(RecordEpisodes(errand(slippery=True), tmp_path / "log.jsonl"), 9), play(errand(slippery=True), 9)
    assert one == two


def test_lines_are_there_as_soon_as_episodes_end(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    env = RecordEpisodes(errand(limit=3), path)
    assert path.exists()
    for number in range(1, 4):
        env.reset(seed=0)
        env.step(2), env.step(2)
        assert path.read_bytes().count(b"\n") == number - 1
        env.step(2)
        assert path.read_bytes().count(b"\n") == number == env.episodes_written


def test_what_is_open_is_cut_at_reset_and_close(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    env = RecordEpisodes(errand(), path)
    env.reset(seed=0)
    env.step(2)
    env.reset()
    env.reset()  # an episode without steps leaves nothing
    env.step(1), env.step(1)
    env.close()
    env.close()
    first, second = markovize.read_episodes(path)
    assert (first.observations, first.terminated, first.truncated) == ([0, 1], False, True)
    assert (second.observations, second.terminated, second.truncated) == ([0, 4, 8], False, True)


def test_a_limit_around_the_recorder_cuts(tmp_path: Path) -> None:
    env = TimeLimit(RecordEpisodes(Ring(limit=99), tmp_path / "log.jsonl"), 4)
    for seed in range(3):
        env.reset(seed=seed)
        for _ in range(4):
            env.step(0)
    env.close()
    assert [(e.steps, e.truncated) for e in markovize.read_episodes(tmp_path / "log.jsonl")] == [(4, True)] * 3


def test_steps_after_an_end_belong_to_no_episode(tmp_path: Path) -> None:
    """A limit around Autoreset, which knows nothing of it: what follows until the next reset has lost its start."""
    env = RecordEpisodes(TimeLimit(Autoreset(Ring(limit=6)), 4), tmp_path / "log.jsonl")
    env.reset(seed=0)
    for _ in range(6):
        env.step(0)
    env.reset(seed=1)
    env.step(0)
    env.close()
    assert [e.steps for e in markovize.read_episodes(tmp_path / "log.jsonl")] == [4, 1]


def test_full_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.touch()
    play(RecordEpisodes(Ring(), path), 2)
    held = path.read_bytes()
    with pytest.raises(InputError, match=r"log.jsonl: holds something already; pass append=True"):
        RecordEpisodes(Ring(), path)
    assert path.read_bytes() == held
    play(RecordEpisodes(Ring(), path, append=True), 3)
    assert path.read_bytes().startswith(held)
    assert len(markovize.read_episodes(path)) == 5


@pytest.mark.parametrize("torn", [b'{"observations": [0, 1', b"{", b'{"observations": [' + b"1, " * 50_000])
@pytest.mark.parametrize("whole", [0, 1, 3])
def test_torn_lines_are_cut_off(torn: bytes, whole: int, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    play(RecordEpisodes(Ring(), path), whole)
    good = path.read_bytes()
    path.write_bytes(good + torn)
    play(RecordEpisodes(Ring(), path, append=True), 1, seed=9)
    assert path.read_bytes().startswith(good)
    assert len(markovize.read_episodes(path)) == whole + 1


class Paying(gym.Env[Any, Any]):
    """Pays what it is told to."""

    observation_space, action_space = spaces.Discrete(9), spaces.Discrete(2)

    def __init__(self, rewards: list[Any], observations: list[Any] | None = None) -> None:
        self.rewards, self.seen = rewards, observations

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        self.at = 0
        return 0, {}

    def step(self, _: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.at += 1
        observation = self.at if self.seen is None else self.seen[self.at - 1]
        return observation, self.rewards[self.at - 1], False, False, {}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (float("nan"), "is nan; rewards must be finite"),
        (np.float32("inf"), "is inf"),
        (None, "must be a number"),
        ("much", "must be a number"),
    ],
)
def test_rewards_that_cannot_be_recorded(bad: Any, words: str, tmp_path: Path) -> None:
    env = RecordEpisodes(Paying([1, np.float32(0.5), bad, 1.0]), tmp_path / "log.jsonl")
    env.reset()
    env.step(0), env.step(1)
    with pytest.raises(InputError, match=words):
        env.step(0)
    with pytest.raises(gym.error.ResetNeeded, match="after an error"):  # there would be a gap
        env.step(0)
    env.close()
    episode = markovize.read_episodes(tmp_path / "log.jsonl").episode(0)
    assert (episode.observations, episode.rewards, episode.truncated) == ([0, 1, 2], [1.0, 0.5], True)


def test_observations_that_cannot_be_recorded(tmp_path: Path) -> None:
    env = RecordEpisodes(Paying([1.0] * 3, [1, {"room": 2}, 3]), tmp_path / "log.jsonl")
    env.reset()
    env.step(0)
    with pytest.raises(InputError, match="this observation is no label: a dict is not a label"):
        env.step(0)
    with pytest.raises(InputError, match="this action is no label: a object is not"):
        env.reset(), env.step(object())
    env.close()
    assert markovize.read_episodes(tmp_path / "log.jsonl").steps == 1


def test_continuous_observations_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with pytest.raises(UnsupportedError, match=r"DiscretizeObservation.* continuous=True, to learn guards"):
        RecordEpisodes(gym.make("CartPole-v1"), path)
    assert not path.exists()
    played = play(RecordEpisodes(gym.make("CartPole-v1"), path, continuous=True), 2)
    assert markovize.read_episodes(path).episode(1).observations[-1] == tuple(played[1]["observations"][-1].tolist())


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    cases: list[tuple[str | Path, str]] = [
        (tmp_path / "none" / "log.jsonl", "the folder .* does not exist"),
        (tmp_path, "is a directory"),
        ("a\0b", "null byte"),
    ]
    for path, words in cases:
        with pytest.raises(InputError, match=words):
            RecordEpisodes(Ring(), path)
    with pytest.raises(UnsupportedError, match="recorded as JSONL"):
        RecordEpisodes(Ring(), tmp_path / "log.csv")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk() -> None:
    env = RecordEpisodes(Ring(limit=2), "/dev/full")
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(InputError, match="/dev/full: cannot be written: no space left"):
        env.step(0)


def test_pieces_are_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    env = RecordEpisodes(Ring(), path)
    play(env, 2)
    held = path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:30]))  # the disk fills up
    with pytest.raises(InputError, match="no space left for a whole episode"):
        play(env, 1)
    assert path.read_bytes() == held
    monkeypatch.undo()
    play(env, 1)
    assert len(markovize.read_episodes(path)) == 3


def test_the_folder_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = RecordEpisodes(Ring(), "log.jsonl")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    play(env, 1)
    assert len(markovize.read_episodes(tmp_path / "log.jsonl")) == 1


def test_a_step_needs_a_reset(tmp_path: Path) -> None:
    with pytest.raises(gym.error.ResetNeeded):
        RecordEpisodes(Ring(), tmp_path / "log.jsonl").step(0)


RECORDER = """
import sys, gymnasium as gym
from markovize.gym.wrappers import RecordEpisodes

class Counter(gym.Env):
    observation_space = gym.spaces.Discrete(10**9)
    action_space = gym.spaces.Discrete(2)
    def reset(self, **_):
        self.at = 0
        return 0, {}
    def step(self, action):
        self.at += 1
        return 123456789, 0.5, self.at == 2000, False, {}

env = RecordEpisodes(Counter(), sys.argv[1], append=True)
print("ready", flush=True)
while True:
    env.reset()
    for _ in range(2000):
        env.step(1)
"""


@pytest.mark.slow
def test_kills_at_any_instant(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    chance = random.Random(0)
    kept = b""
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", RECORDER, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.15))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        data = path.read_bytes()
        assert data.startswith(kept)  # nothing that was there is gone
        kept = data[: data.rfind(b"\n") + 1]
        for line in kept.splitlines():
            episode = json.loads(line)
            assert len(episode["actions"]) == 2000
            assert episode["terminated"]
        (tmp_path / "whole.jsonl").write_bytes(kept)
        if kept:
            assert markovize.read_episodes(tmp_path / "whole.jsonl").steps == 2000 * kept.count(b"\n")
    assert kept
