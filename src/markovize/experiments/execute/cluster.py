"""Trials on a Ray cluster (the extra ``ray``): one is joined, or started on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markovize.agents.tabular import RunProgress
from markovize.clusters.ray_cluster import SECONDS_TO_ANSWER, joined_quietly
from markovize.experiments.execute.kinds import run_trial
from markovize.experiments.execute.local import OnProgress
from markovize.experiments.records import Finished
from markovize.experiments.spec import Trial

PAUSE = 0.5  # seconds between two looks at the cluster


def run_on_ray(
    trials: Sequence[Trial], jobs: int | None, address: str | None, on_progress: OnProgress | None
) -> Iterator[tuple[Trial, Finished]]:
    """Every trial as a task of one core. Trials of a node that dies are run again on the others."""
    reports: Any = None
    with joined_quietly(jobs, address) as ray:
        try:
            work = ray.remote(num_cpus=1, max_retries=-1)(_work)
            if on_progress is not None:
                reports = ray.remote(num_cpus=0, max_restarts=-1)(Reports).remote()
            waiting = {work.remote(number, trial, reports): trial for number, trial in enumerate(trials)}
            while waiting:
                finished, _ = ray.wait(list(waiting), num_returns=1, timeout=PAUSE)
                if on_progress is not None:
                    for number, progress in _latest(ray, reports).items():
                        on_progress(trials[number], progress)
                for reference in finished:
                    yield waiting.pop(reference), ray.get(reference)
        finally:
            if reports is not None:
                ray.kill(reports)


def _latest(ray: Any, reports: Any) -> dict[int, RunProgress]:
    """What the trials said; nothing, while the node that collects it is being replaced."""
    try:
        return dict(ray.get(reports.take.remote(), timeout=SECONDS_TO_ANSWER))
    except (ray.exceptions.RayError, TimeoutError):
        return {}


class Reports:
    """Lives on the cluster and remembers how far each trial is."""

    def __init__(self) -> None:
        self._latest: dict[int, RunProgress] = {}

    def put(self, number: int, progress: RunProgress) -> None:
        """Replaces what was said before."""
        self._latest[number] = progress

    def take(self) -> dict[int, RunProgress]:
        """What is new since the last time."""
        latest, self._latest = self._latest, {}
        return latest


def _work(number: int, trial: Trial, reports: Any) -> Finished:
    tell = None if reports is None else lambda progress: reports.put.remote(number, progress)
    return run_trial(trial, tell)
