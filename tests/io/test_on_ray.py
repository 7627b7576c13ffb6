"""Shards of a log on a Ray cluster: the same bytes as in one process, also when a node of it dies."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markovize
from markovize import InputError, Traces, stream_episodes
from markovize.episodes.stream import EpisodeStream
from markovize.io.episodes import on_ray
from markovize.io.episodes.on_ray import RayStream
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

pytest.importorskip("pyarrow")
pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

ANSWERS = """
import json, sys
from contextlib import nullcontext
import markovize
from markovize.clusters.ray_cluster import joined
_, log, machine, executor, address = sys.argv
known = markovize.read_machine(machine)
with joined(2, None) if executor == "ray" and not address else nullcontext():
    stream = markovize.stream_episodes(log, executor=executor, address=address or None)
    print(json.dumps(markovize.check(stream).to_json()), flush=True)
    print(json.dumps(markovize.check(stream, known).to_json()), flush=True)
    print(json.dumps(markovize.replay(known, stream).to_json()), flush=True)
    learned = markovize.learn(stream)
    print(json.dumps({**learned.to_json(), "seconds": 0}), learned.machine, flush=True)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Five shards, one of them empty, and a machine of other walks."""
    (tmp_path / "log").mkdir()
    for number in range(5):
        walks = noisy_walks(world("breakfast", task="b"), 30, np.random.default_rng(number))
        markovize.write_episodes(tmp_path / "log" / f"{number}.parquet", walks if number != 2 else walks.select([]))
    other = noisy_walks(world("breakfast", task="b"), 60, np.random.default_rng(9))
    markovize.write_machine(tmp_path / "machine.json", markovize.learn(other).unwrap())
    return tmp_path / "log"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run here, one after the other: what is tested is how parts are made and joined."""

    def one_by_one(work: Any, items: list[Any], _: str | None) -> Iterator[Any]:
        return map(work, items)

    monkeypatch.setattr(on_ray, "map_on_ray", one_by_one)


@pytest.mark.usefixtures("here")
def test_parts_are_joined_as_if_the_log_had_been_read_at_once(log: Path) -> None:
    whole, parts = stream_episodes(log), stream_episodes(log, executor="ray")
    machine = markovize.read_machine(log.parent / "machine.json")
    assert markovize.check(parts) == markovize.check(whole) == markovize.check(whole.read())
    assert markovize.check(parts, machine) == markovize.check(whole, machine)
    assert markovize.replay(machine, parts) == markovize.replay(machine, whole)
    found, expected = markovize.learn(parts), markovize.learn(whole.read())
    assert {**found.to_json(), "seconds": 0} == {**expected.to_json(), "seconds": 0}
    assert found.machine == expected.machine
    for mine, own in zip(parts.split(0.3, seed=1), whole.split(0.3, seed=1), strict=True):
        assert markovize.check(mine) == markovize.check(own)


@pytest.mark.usefixtures("here")
def test_mismatches_and_rewards_of_time_in_later_shards(tmp_path: Path) -> None:
    for number in range(4):
        late = [([0] * n + [1], [0] * n, [0] * (n - 1) + [1 - n / 100]) for n in range(1 + 2 * number, 4 + 2 * number)]
        markovize.write_episodes(tmp_path / f"{number}.parquet", Traces.of(late))
    whole, parts = stream_episodes(tmp_path), stream_episodes(tmp_path, executor="ray")
    assert markovize.check(whole).time is not None
    assert markovize.check(parts) == markovize.check(whole)
    assert markovize.learn(parts).time == markovize.learn(whole).time == markovize.check(whole).time
    first = stream_episodes(tmp_path / "0.parquet")
    machine = markovize.learn(first, trigger_on="transition", reward_on="transition").unwrap()
    assert markovize.replay(machine, parts) == markovize.replay(machine, whole)
    assert markovize.replay(machine, whole).first_mismatch is not None or markovize.replay(machine, whole).unseen


@pytest.mark.usefixtures("here")
def test_errors_are_those_of_one_process(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (log / "3.parquet").write_bytes(b"damaged")
    monkeypatch.chdir(log.parent)
    messages = []
    for executor in ("local", "ray"):
        with pytest.raises(InputError) as error:
            markovize.check(stream_episodes("log", executor=executor))
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith("log/3.parquet: is damaged")
    for path in log.iterdir():
        path.write_bytes((log / "2.parquet").read_bytes())
    for executor in ("local", "ray"):
        with pytest.raises(InputError, match="no episodes in this file"):
            markovize.check(stream_episodes("log", executor=executor))
    assert capsys.readouterr().out == ""


def test_what_cannot_run_on_a_cluster_is_refused(log: Path) -> None:
    with pytest.raises(InputError, match="executors are local, ray, not 'slurm'"):
        stream_episodes(log, executor="slurm")
    with pytest.raises(InputError, match="an address is for the executor ray"):
        stream_episodes(log, address="127.0.0.1:1")
    with pytest.raises(InputError, match=r"no Ray cluster at 127\.0\.0\.1:1"):
        markovize.check(stream_episodes(log, executor="ray", address="127.0.0.1:1"))


def test_other_streams_are_one_shard(log: Path) -> None:
    class Whole(EpisodeStream):
        def chunks(self) -> Iterator[Traces]:
            return stream_episodes(log).chunks()

    assert len(RayStream(Whole()).log.shards()) == 1


def answers(log: Path, executor: str, address: str = "") -> subprocess.Popen[bytes]:
    """In a process of its own: Ray leaves threads and handlers behind."""
    command = [sys.executable, "-c", ANSWERS, str(log), str(log.parent / "machine.json"), executor, address]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def printed(process: subprocess.Popen[bytes]) -> bytes:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert len(out.splitlines()) == 4
    return out


@pytest.mark.slow
def test_a_cluster_started_here(log: Path) -> None:
    assert printed(answers(log, "ray")) == printed(answers(log, "local"))


@pytest.mark.long
def test_two_nodes_of_which_one_is_killed(log: Path) -> None:
    from ray.cluster_utils import Cluster

    for number in range(10, 40):  # so many that there is time to kill
        walks = noisy_walks(world("breakfast", task="b"), 600, np.random.default_rng(number))
        markovize.write_episodes(log / f"{number:02}.parquet", walks)
    expected = printed(answers(log, "local"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        worker = cluster.add_node(num_cpus=1)
        try:
            cluster.wait_for_nodes()
            assert printed(answers(log, "ray", cluster.address)) == expected
            process = answers(log, "ray", cluster.address)
            assert process.stdout is not None
            first = process.stdout.readline()  # the log was read once: the second answer is under way
            time.sleep(1)
            cluster.remove_node(worker, allow_graceful=False)
            assert first + process.communicate(timeout=300)[0] == expected
            assert process.returncode == 0
        finally:
            cluster.shutdown()
