"""Recorded episodes, whether the machine explains them, and searches for one that does."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from markovize.agents.tabular.results import Solve
from markovize.episodes.features import FeatureFunction
from markovize.episodes.traces import Bools, Episode, Traces
from markovize.episodes.values import key_of
from markovize.integrations.sb3.active.settings import TrainingSettings
from markovize.learning.learner import Learner
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import run

NO_MACHINE = RewardMachine("guards", "guards", 1)
UNEXPLAINED = "no conflict"


class Evidence:
    """What was recorded, the smallest machine that explains it, and what that leaves unexplained.

    A *conflict* is a step that pays something else than an earlier one with the same (u, valuation, u'). Without a
    machine, that is every step that pays something else than the first.
    """

    def __init__(self, settings: TrainingSettings, features: FeatureFunction | None) -> None:
        self.settings, self.features = settings, features
        self.machine, self.status = NO_MACHINE, UNEXPLAINED
        self.episodes: list[Episode] = []
        self.conflicts = 0  # episodes with one, since the last machine
        self.solves: list[Solve] = []
        self.solve_seconds = 0.0
        self.notes: list[str] = []
        self.seen = 0  # episodes looked at
        self._recorded = 0  # steps
        self._paid: dict[Hashable, float] = {}
        self._wait = 0  # so many episodes before the next search
        self._learner = Learner(
            trigger_on="guards",
            reward_on=settings.reward_on,
            acyclic=settings.acyclic,
            **_feature_options(settings, features),
        )

    def add(self, episodes: Iterable[Episode]) -> int:
        """Looks at new episodes and records them, if there is room or need; how many have a conflict."""
        new = [episode for episode in episodes if episode.steps]
        if not new:
            return 0
        wrong = self._conflicting(new)
        for episode, conflict in zip(new, wrong.tolist(), strict=True):
            if conflict or self._recorded < self.settings.most_recorded:
                self.episodes.append(episode)
                self._recorded += episode.steps
        self.seen += len(new)
        found = int(wrong.sum())
        self.conflicts += found
        return found

    @property
    def due(self) -> bool:
        """Whether to search for another machine now."""
        return self.conflicts > 0 and self.seen >= self._wait

    def solve(self, seconds: float) -> bool:
        """Learns a machine from all recorded episodes; whether it is another one."""
        began, traces = time.monotonic(), Traces.of(self.episodes)
        result = self._learner.learn(traces, time_limit=seconds)
        took = time.monotonic() - began
        self.solve_seconds += took
        if result.machine is None:
            self._wait = 2 * self.seen  # more of the same kind would be as hard
            self._say(result)
            return False
        another = result.machine.to_json() != self.machine.to_json()
        self.use(result.machine, result.status, traces)
        if another:
            self.solves.append(self._record(result, took))
        return another

    def use(self, machine: RewardMachine, status: str, traces: Traces | None = None) -> None:
        """From here on, this machine is the one to explain rewards."""
        self.machine, self.status, self.conflicts = machine, status, 0
        self._paid = {}
        if self.episodes:
            self._conflicting(self.episodes, traces)

    def restore(self, episodes: Iterable[Episode], seen: int) -> None:
        """Takes over what an earlier training recorded, and how many episodes it has seen."""
        self.episodes = list(episodes)
        self._recorded = sum(episode.steps for episode in self.episodes)
        self.seen = seen

    def traces(self) -> Traces:
        """All recorded episodes."""
        return Traces.of(self.episodes)

    def _conflicting(self, episodes: list[Episode], traces: Traces | None = None) -> Bools:
        """For each episode, whether a step of it pays something else than is known; learns what was not known."""
        traces = Traces.of(episodes) if traces is None else traces
        way = run(self.machine, traces, features=self.features)
        ids, cells = way.cells(self.machine.states)
        keys: list[Hashable] = [(u, key_of(label), v) for u, label, v in cells]
        wrong = np.zeros(len(episodes), np.bool_)
        firsts = dict(zip(*np.unique(ids, return_index=True), strict=True))
        promised = np.array(
            [self._paid.setdefault(key, float(traces.rewards[firsts[n]])) for n, key in enumerate(keys)]
        )
        for step in np.flatnonzero(promised[ids] != traces.rewards).tolist():
            wrong[traces.locate(step)[0]] = True
        return wrong

    def _record(self, result: LearnResult, seconds: float) -> Solve:
        machine = self.machine
        labels = machine.trigger_on, machine.reward_on
        sizes = machine.states, len(machine.triggers), result.exemplars or 0
        return Solve(self.seen, *sizes, len(self.episodes), seconds, result.status, *labels)

    def _say(self, result: LearnResult) -> None:
        why = result.contradiction or "none was found in time"
        kept = "" if self.machine is NO_MACHINE else "; the earlier one stays, and some rewards go unexplained"
        note = f"no machine explains the {len(self.episodes):,} recorded episodes: {why}{kept}"
        if not self.notes or self.notes[-1].split(":")[0] != note.split(":")[0]:
            self.notes.append(note)


def _feature_options(settings: TrainingSettings, features: FeatureFunction | None) -> dict[str, Any]:
    return {
        "features": features,
        "numeric": settings.numeric,
        "categorical": settings.categorical,
        "before": settings.before,
    }
