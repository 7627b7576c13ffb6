"""Parquet: one file, folders and patterns; what is written is read as the same, and what is wrong has its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import markovize
from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError, UnsupportedError
from markovize.io import read_episodes, stream_episodes, write_episodes
from markovize.io.episodes import parquet
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

pytest.importorskip("pyarrow")


def walks(task: str = "e", episodes: int = 40, seed: int = 0) -> Traces:
    return noisy_walks(world("office", task=task), episodes, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "traces",
    [
        walks(),
        Traces.of([(["a", "b", "a"], [True, False], [0.5, -1], True), (["c", "c"], [True], [0])]),
        Traces.of([([0, 0.5], [("up", 3)], [1e300], False)]),
    ],
)
def test_round_trip(tmp_path: Path, traces: Traces) -> None:
    write_episodes(tmp_path / "log.parquet", traces)
    again = read_episodes(tmp_path / "log.parquet")
    assert list(again) == list(traces)
    assert again.observation_values == traces.observation_values
    assert again.action_values == traces.action_values


@pytest.mark.parametrize(
    "episode",
    [
        Episode([0, "a"], ["go"], [0.0]),
        Episode([True, 1], ["go"], [0.0]),
        Episode([2**70, 1], ["go"], [0.0]),
        Episode([((0, 1),), ((0, 2),)], ["go"], [0.0]),
        Episode([0], [], []),
    ],
)
def test_what_a_table_cannot_say_is_refused(tmp_path: Path, episode: Episode) -> None:
    with pytest.raises(UnsupportedError, match="use JSONL"):
        write_episodes(tmp_path / "log.parquet", Traces.of([episode]))
    assert list(tmp_path.iterdir()) == []


def test_shards_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    parts = [walks(seed=seed, episodes=5) for seed in range(3)]
    (tmp_path / "deep").mkdir()
    for name, part in zip(("b.parquet", "deep/d.parquet", "a.parquet"), parts, strict=True):
        write_episodes(tmp_path / name, part)
    expected = [episode for n in (2, 0, 1) for episode in parts[n]]
    assert list(read_episodes(tmp_path)) == expected  # each file counts its episodes from 0
    assert list(read_episodes(str(tmp_path / "*.parquet"))) == expected[:10]
    with pytest.raises(InputError, match="no file fits this pattern"):
        read_episodes(str(tmp_path / "x*.parquet"))


def test_chunks_have_one_numbering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH", 700)
    whole = walks(episodes=100)
    write_episodes(tmp_path / "log.parquet", whole)
    stream = stream_episodes(tmp_path / "log.parquet")
    assert len(list(stream.chunks())) > 5
    for _ in range(2):  # from the start each time
        again = stream.read()
        assert np.array_equal(again.observations, whole.observations)
        assert np.array_equal(again.offsets, whole.offsets)
        assert again.observation_values == whole.observation_values


def test_damage_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    write_episodes(path, walks())
    whole = path.read_bytes()
    for damaged in (b"", b"hello", whole[:-20], whole[:100] + bytes(200) + whole[300:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"log\.parquet: "):
            read_episodes(path)
    with pytest.raises(InputError, match="no such file"):
        read_episodes(tmp_path / "other.parquet")


def test_answers_are_those_of_jsonl(tmp_path: Path) -> None:
    traces = walks(episodes=60)
    write_episodes(tmp_path / "log.parquet", traces)
    read = read_episodes(tmp_path / "log.parquet")
    assert markovize.check(read) == markovize.check(traces)
    assert markovize.learn(read).machine == markovize.learn(traces).machine
