"""Logs that are read chunk by chunk: the same reports as in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pieces import Pieces, noisy

import markovize
from markovize.episodes.traces import Traces
from markovize.machine.machine import RewardMachine
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

MACHINES = [
    None,
    world("office", task="e").machine,
    RewardMachine("state", "transition", 1),
    RewardMachine("transition", "source", 1),
]


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("seed", range(3))
def test_chunks_change_nothing(seed: int, size: int) -> None:
    for traces in (noisy(seed), noisy_walks(world("office", task="e"), 30, np.random.default_rng(seed))):
        stream = Pieces(traces, size)
        for machine in MACHINES:
            assert markovize.check(stream, machine) == markovize.check(traces, machine)
            if machine is not None:
                assert markovize.replay(machine, stream) == markovize.replay(machine, traces)


def test_rewards_of_time_are_recognised() -> None:
    traces = Traces.of([([0] * n + [1], [0] * n, [0] * (n - 1) + [1 - n / 100]) for n in range(1, 9)])
    assert markovize.check(traces).time is not None
    assert markovize.check(Pieces(traces, 3)) == markovize.check(traces)


def test_mismatches_in_a_later_chunk_are_counted_from_the_first_episode() -> None:
    walks = noisy_walks(world("office", task="e"), 60, np.random.default_rng(0))
    learned = markovize.learn(walks).unwrap()
    other = noisy_walks(world("office", task="d"), 60, np.random.default_rng(1))
    whole = markovize.replay(learned, other)
    assert whole.first_mismatch is not None
    assert whole.unseen_paid or whole.unseen
    assert markovize.replay(learned, Pieces(other, 7)) == whole


def test_shards_as_a_stream(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    parts = [noisy_walks(world("office", task="e"), 20, np.random.default_rng(seed)) for seed in range(3)]
    for number, part in enumerate(parts):
        markovize.write_episodes(tmp_path / f"{number}.parquet", part)
    everything = Traces.of(episode for part in parts for episode in part)
    stream = markovize.stream_episodes(tmp_path)
    assert markovize.check(stream) == markovize.check(everything)
