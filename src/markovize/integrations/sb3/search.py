"""What a training has shown so far, and the searches for a machine behind it: when, on which episodes, for how long."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from time import monotonic
from typing import Any

import numpy as np

from markovize.conflicts.check import check
from markovize.episodes.labelling import LabelFunctions, loaded
from markovize.episodes.traces import Episode, Traces
from markovize.episodes.values import key_of
from markovize.gym.wrappers.follower import BoundMachine
from markovize.learning.learner import Auto, Learner
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import run

REGAINED = 0.25  # seconds for searching that each second of training gives back
GONE = -1  # the number of an episode that was not recorded


class Archive:
    """Recorded episodes, what their steps paid, and which of them the machine does not explain.

    At most ``most`` are recorded, and beyond that those in conflict: what teaches something is recorded at any rate.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.episodes: list[Episode] = []
        self.unexplained: set[int] = set()
        self._paid = PaidSteps(None, {})

    def add(self, episode: Episode) -> bool:
        """Looks at an episode and records it, if there is room or need; whether it has a conflict."""
        number = len(self.episodes)
        holder = self._paid.conflict(episode, number if number < self.most else GONE)
        if holder is not None or number < self.most:
            self.episodes.append(episode)
        if holder is None:
            return False
        self.unexplained |= {holder, number} - {GONE}
        return True

    def follow(self, machine: RewardMachine, functions: LabelFunctions) -> None:
        """From here on, conflicts are steps that this machine does not explain."""
        self._paid = PaidSteps.of(machine, functions, Traces.of(self.episodes))


class MachineSearch:
    """Looks for the smallest machine behind an archive, again and again, within an allowance of time."""

    def __init__(
        self,
        archive: Archive,
        trigger_on: Auto,
        reward_on: Auto,
        effort: int | None,
        allowance: Allowance | None,
        options: dict[str, Any],
    ) -> None:
        self.archive, self.effort, self.allowance = archive, effort, allowance
        self.machine: RewardMachine | None = None
        self.result: LearnResult | None = None
        self._learner = Learner(trigger_on=trigger_on, reward_on=reward_on, **options)
        self._functions: LabelFunctions = {
            "trigger_on": trigger_on if callable(loaded(trigger_on)) else None,
            "reward_on": reward_on if callable(loaded(reward_on)) else None,
        }
        self._kept: list[int] = []  # of the recorded ones: those that the machine was learned from, in this order
        self._wait = 0  # so many episodes before the next search

    def due(self, episodes: int) -> bool:
        """Whether to search now, after so many episodes."""
        if not self.archive.unexplained or (self.result is not None and self.result.status == "unrealisable"):
            return False
        return episodes >= self._wait and (self.allowance is None or self.allowance.enough(monotonic()))

    def run(self, episodes: int, say: Callable[[str], None]) -> None:
        """A machine for the kept episodes; those that it does not explain join them, until it explains all.

        Each time twice as many may join, so that there are few searches however many episodes the machine fails on.
        """
        archive, everything, joining = self.archive, Traces.of(self.archive.episodes), 1
        deadline = None if self.allowance is None else monotonic() + self.allowance.seconds
        while archive.unexplained:
            self._kept += sorted(archive.unexplained - set(self._kept))
            found = self._search(everything.select(self._kept), deadline)
            if found is None:
                self._wait = 2 * episodes
                why = None if self.result is None else self.result.contradiction
                say(f"no machine: {why or 'none was found in time'}")
                break
            self.machine = found
            witnesses = check(everything, found, **self._functions).witnesses[:joining]
            archive.unexplained = {number for witness in witnesses for number in witness.episodes}
            joining *= 2
        if self.machine is not None:
            archive.follow(self.machine, self._functions)
        if self.allowance is not None:
            self.allowance.searched(monotonic())

    def _search(self, kept: Traces, deadline: float | None) -> RewardMachine | None:
        """The machine behind these episodes, if it is found in time."""
        left = None if deadline is None else deadline - monotonic()
        if left is not None and left <= 0:
            return None
        self.result = self._learner.learn(kept, effort=self.effort, time_limit=left)
        if self.result.interrupted:
            raise KeyboardInterrupt  # the search ends politely on Ctrl-C, but it was the training that was meant
        return self.result.machine


class PaidSteps:
    """What each step paid, by (s, a, s') or, given a machine, by (u, label, u'), and in which episode."""

    def __init__(self, machine: RewardMachine | None, functions: LabelFunctions) -> None:
        on, reward_on = functions.get("trigger_on"), functions.get("reward_on")
        self._bound = None if machine is None else BoundMachine(machine, trigger_on=on, reward_on=reward_on)
        self._known: dict[Hashable, tuple[float, int]] = {}

    @classmethod
    def of(cls, machine: RewardMachine, functions: LabelFunctions, traces: Traces) -> PaidSteps:
        """What each step of these episodes paid, given a machine."""
        paid, way = cls(machine, functions), run(machine, traces, **functions)
        for key, step in zip(*np.unique(way.keys(machine.states), return_index=True), strict=True):
            u, label, v = way.unpack(int(key), machine.states)
            known = float(traces.rewards[step]), traces.locate(int(step))[0]
            paid._known[u, key_of(way.reward_labels.values[label]), v] = known
        return paid

    def conflict(self, episode: Episode, number: int) -> int | None:
        """The number of an episode in which a step of this one paid something else; else remembers this one's."""
        found = None
        for key, reward in zip(self._keys(episode), episode.rewards, strict=True):
            known, holder = self._known.setdefault(key, (reward, number))
            if known != reward and found is None:
                found = holder
        return found

    def _keys(self, episode: Episode) -> Iterator[Hashable]:
        seen, bound = episode.observations, self._bound
        u = 0 if bound is None else bound.machine.initial
        for s, a, t in zip(seen, episode.actions, seen[1:], strict=False):
            if bound is None:
                yield key_of((s, a, t))
                continue
            before, u = u, bound.move(u, (s, a, t)).target
            yield before, key_of(bound.labels((s, a, t))[1]), u


class Allowance:
    """Seconds for searching: used up by searches, given back by the training, never more than the limit.

    >>> allowance = Allowance(10.0)
    >>> allowance.begin(now=0.0)
    >>> allowance.enough(now=4.0), allowance.seconds
    (True, 10.0)
    >>> allowance.searched(now=12.0)
    >>> allowance.enough(now=16.0), allowance.seconds, allowance.enough(now=24.0), allowance.seconds
    (False, 3.0, True, 5.0)
    """

    def __init__(self, limit: float) -> None:
        self.limit = self.seconds = limit
        self._since: float | None = None

    def begin(self, now: float) -> None:
        """The first training begins; what passes between it and later ones counts as training."""
        self._since = now if self._since is None else self._since

    def enough(self, now: float) -> bool:
        """Whether a search may begin; until now the training went on."""
        self.begin(now)
        assert self._since is not None
        self.seconds = min(self.limit, self.seconds + REGAINED * (now - self._since))
        self._since = now
        return self.seconds >= self.limit / 2

    def searched(self, now: float) -> None:
        """A search went on until now."""
        assert self._since is not None
        self.seconds -= now - self._since
        self._since = now
