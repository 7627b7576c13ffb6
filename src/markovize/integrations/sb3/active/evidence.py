"""Recorded episodes, whether the machine explains them, and searches for one that does."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from markovize.agents.tabular.results import RunNoise, Solve
from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.features import FeatureFunction
from markovize.episodes.traces import Bools, Episode, Traces
from markovize.episodes.values import key_of
from markovize.integrations.sb3.active.paid import PaidRewards
from markovize.integrations.sb3.active.settings import TrainingSettings
from markovize.learning.entry import learn
from markovize.learning.learner import Learner, LearnOptions
from markovize.learning.noise import with_noise
from markovize.learning.result import LearnResult, Outlier
from markovize.machine.levels import levels_of
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import run

NO_MACHINE = RewardMachine("guards", "guards", 1)
UNEXPLAINED = "no conflict"
MORE: Final = 1.25  # times as many episodes, before an allowance is chosen again


class Evidence:
    """What was recorded, the smallest machine that explains it, and what that leaves unexplained.

    A *conflict* is a step that pays something else than an earlier one with the same (u, valuation, u'). Without a
    machine, that is every step that pays something else than the first. With a tolerance, rewards that no level fits
    are a conflict; with outliers, more of them than are allowed for. Where the allowance is to be found (``auto``),
    each search chooses it anew, and there is one only after a quarter more episodes than the last had.
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
        self.allowance = EXACT if settings.chooses_allowance else settings.allowance
        self.outliers: tuple[Outlier, ...] = ()  # that the machine was learned with
        self._paid = PaidRewards(self.allowance)
        self._wait = 0  # so many episodes before the next search
        self._options: LearnOptions = {
            "trigger_on": "guards",
            "reward_on": settings.reward_on,
            "acyclic": settings.acyclic,
            "features": features,
            "numeric": settings.numeric,
            "categorical": settings.categorical,
            "before": settings.before,
        }
        tolerance, outliers = self.allowance.tolerance, self.allowance.outliers
        allowing: LearnOptions = {**self._options, "tolerance": tolerance, "outliers": outliers}
        self._learner = Learner(**allowing)

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
        result = self._search(traces, seconds)
        took = time.monotonic() - began
        self.solve_seconds += took
        if result.machine is None:
            self._wait = 2 * self.seen  # more of the same kind would be as hard
            self._say(result)
            return False
        if result.noise is not None:
            self.allowance, self.outliers = (
                Allowance(result.noise.tolerance, result.noise.allowed),
                result.noise.outliers,
            )
        if self.settings.chooses_allowance:
            self._wait = int(MORE * self.seen)  # a little more noise is to be expected of more episodes
        another = not act_alike(result.machine, self.machine, exactly=self.allowance.exact)
        self.use(result.machine, result.status, traces)
        if another:
            self.solves.append(self._record(result, took))
        return another

    def _search(self, traces: Traces, seconds: float) -> LearnResult:
        settings = self.settings
        if settings.chooses_allowance:
            asked: Any = {"tolerance": settings.tolerance, "outliers": settings.outliers}
            return learn(traces, time_limit=seconds, count_steps=True, **self._options, **asked)
        result = self._learner.learn(traces, time_limit=seconds)
        if self.allowance.exact:
            return result
        return with_noise(result, traces, self.allowance, {"features": self.features})

    @property
    def noise(self) -> RunNoise | None:
        """What was allowed for, where something was asked for."""
        if self.settings.tolerance == 0 and self.settings.outliers == 0:
            return None
        return RunNoise(self.allowance.tolerance, levels_of(self.machine, self.allowance.tolerance), self.outliers)

    def use(self, machine: RewardMachine, status: str, traces: Traces | None = None) -> None:
        """From here on, this machine is the one to explain rewards."""
        self.machine, self.status, self.conflicts = machine, status, 0
        self._paid = PaidRewards(self.allowance)
        if self.episodes:
            self._conflicting(self.episodes, traces)

    def state(self) -> dict[str, Any]:
        """What an earlier training has to say of noise, for :meth:`recall`."""
        allowed = asdict(self.allowance) | {"wait": self._wait}
        return allowed | {"found": [outlier.to_json() for outlier in self.outliers]}

    def recall(self, state: Mapping[str, Any]) -> None:
        """Goes on with the allowance of an earlier training; before :meth:`use`."""
        self.allowance = Allowance(state["tolerance"], state["outliers"])
        self.outliers = tuple(Outlier(**outlier) for outlier in state["found"])
        self._wait = int(state["wait"])

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
        for step in np.flatnonzero(self._paid.add(keys, ids, traces.rewards)).tolist():
            wrong[traces.locate(step)[0]] = True
        return wrong

    def _record(self, result: LearnResult, seconds: float) -> Solve:
        machine = self.machine
        labels = machine.trigger_on, machine.reward_on
        sizes = machine.states, len(machine.triggers), result.exemplars or 0
        return Solve(self.seen, *sizes, len(self.episodes), seconds, result.status, *labels, self.allowance.tolerance)

    def _say(self, result: LearnResult) -> None:
        why = result.contradiction or "none was found in time"
        kept = "" if self.machine is NO_MACHINE else "; the earlier one stays, and some rewards go unexplained"
        note = f"no machine explains the {len(self.episodes):,} recorded episodes: {why}{kept}"
        if not self.notes or self.notes[-1].split(":")[0] != note.split(":")[0]:
            self.notes.append(note)


def act_alike(one: RewardMachine, other: RewardMachine, *, exactly: bool) -> bool:
    """Whether there is no need to train anew; where there is noise, levels that moved a little are none."""
    if exactly:
        return bool(one.to_json() == other.to_json())
    return (one.states, one.triggers, one.reward_guards) == (other.states, other.triggers, other.reward_guards)
