"""The same trials on a Ray cluster give the same results, also when a node of it dies."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from markovize import InputError, Settings
from markovize.experiments import Experiment, Task, run_experiment

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

ON_RAY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_ray_cluster import experiment
from markovize.experiments import run_experiment
_, _, folder, seeds, episodes, jobs, address = sys.argv
run_experiment(experiment(int(seeds), int(episodes)), folder, executor="ray", address=address or None, jobs=int(jobs))
"""


def experiment(seeds: int, episodes: int) -> Experiment:
    settings = Settings.of("q-learning", episodes=episodes)
    tasks = [Task(task, "markovize/BreakfastWorld-v0", {"task": task}, settings) for task in "bc"]
    return Experiment("breakfasts", "On a cluster", tasks, seeds)


def on_ray(folder: Path, seeds: int, episodes: int, jobs: int, address: str = "") -> subprocess.Popen[bytes]:
    """In a process of its own: Ray leaves threads and handlers behind."""
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", ON_RAY, here, str(folder), str(seeds), str(episodes), str(jobs), address]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes], seconds: float) -> None:
    out, errors = process.communicate(timeout=seconds)
    assert process.returncode == 0, errors.decode()
    assert out == b"", "stdout is for answers: what Ray tells of nodes that die goes to stderr"


def same(one: Path, other: Path) -> None:
    for name in ("results.csv", "curves.csv"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.slow
def test_a_cluster_started_here(tmp_path: Path) -> None:
    process = on_ray(tmp_path / "ray", 1, 300, jobs=1)
    run_experiment(experiment(1, 300), tmp_path / "local", jobs=1)
    ended(process, 600)
    same(tmp_path / "ray", tmp_path / "local")


def test_no_cluster_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no Ray cluster at 127\.0\.0\.1:1: .*refused"):
        run_experiment(experiment(1, 100), tmp_path, executor="ray", address="127.0.0.1:1")


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"needs the extra: pip install 'markovize\[ray\]'"):
        run_experiment(experiment(1, 100), tmp_path, executor="ray")


@pytest.mark.long
def test_two_nodes_of_which_one_is_killed(tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        worker = cluster.add_node(num_cpus=1)
        try:
            cluster.wait_for_nodes()
            for name, killed in (("whole", False), ("killed", True)):
                process = on_ray(tmp_path / name, 4, 100_000, 2, cluster.address)
                if killed:
                    trials = tmp_path / name / "trials"
                    deadline = time.monotonic() + 600
                    while len(list(trials.glob("*.json"))) < 4:  # two trials of eight are finished
                        assert time.monotonic() < deadline
                        time.sleep(0.05)
                    cluster.remove_node(worker, allow_graceful=False)
                ended(process, 300)
        finally:
            cluster.shutdown()
    run_experiment(experiment(4, 100_000), tmp_path / "local", jobs=2)
    same(tmp_path / "whole", tmp_path / "local")
    same(tmp_path / "killed", tmp_path / "local")
