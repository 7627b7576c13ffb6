"""Is the machine of a run the only one of its size? Where others tie with it, a walk that would tell them apart.

A look is a function of the episodes kept and of the machine alone, so that a run that was stopped goes on as one that
was not. More episodes never add machines of the same size: one that is the only one stays so, until it is refuted.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Final

from markovize.agents.tabular.settings import Settings
from markovize.agents.tabular.stopping import Stop
from markovize.episodes.labelling import LabelOn, Step, labelling_of
from markovize.episodes.traces import Traces
from markovize.learning.all_machines import Alike, AllMachines, find_alike
from markovize.learning.engines import find_engine
from markovize.learning.limits import Limits
from markovize.learning.limits import Stop as Stopped
from markovize.machine.machine import RewardMachine
from markovize.machine.separation import Separation

SOME: Final = 30  # machines, which are looked for first: more are needed only if no walk tells these apart


@dataclass
class Ties:
    """What is known of other machines as small as the run's own, and whether it is time to look again."""

    settings: Settings
    unique_since: int | None = None  # the episode since which it is proven to be the only one
    waits: bool = False  # for news: no walk over known steps tells the machines apart, or they were not found
    rests: bool = False  # for an episode: the last walk was lost, as happens where chance rules
    all: AllMachines | None = field(default=None, repr=False)  # as of the last look

    @property
    def is_due(self) -> bool:
        """Whether a look may find something."""
        return self.unique_since is None and not self.waits and not self.rests

    def renew(self) -> None:
        """There is another machine."""
        self.unique_since, self.waits, self.rests, self.all = None, False, False, None

    def note_episode(self, news: bool, lost: bool) -> None:
        """An episode was played; ``lost``: it was to be a walk, and went another way."""
        self.rests = lost
        if news:
            self.waits = False

    def look(
        self, machine: RewardMachine, traces: Traces, labels: tuple[LabelOn, LabelOn], episode: int, stop: Stop
    ) -> tuple[Step, ...]:
        """A walk that tells the machine from another one as small; none if there is no such, or none is found."""
        most = self.settings.all
        for many in sorted({min(SOME, most), most}):
            found = self._find(machine, traces, labels, many, stop)
            if found is None or stop.requested:
                return ()
            self.all = found
            if found.unique:
                self.unique_since = episode
                return ()
            if walk := best_walk(found, labels):
                return walk
            if found.complete:
                break
        self.waits = True
        return ()

    def list(self, machine: RewardMachine, traces: Traces, labels: tuple[LabelOn, LabelOn], stop: Stop) -> None:
        """As many as were asked for, to tell of them, with the rewards of all episodes kept."""
        found = self._find(machine, traces, labels, 1 if self.unique_since is not None else self.settings.all, stop)
        if found is not None and self.unique_since is not None:  # what is proven stays so, whatever this look could do
            found = replace(found, complete=True, at_least=1, stopped=False)
        self.all = found or self.all

    def _find(
        self, machine: RewardMachine, traces: Traces, labels: tuple[LabelOn, LabelOn], most: int, stop: Stop
    ) -> AllMachines | None:
        cfg, left = self.settings, stop.remaining
        deadline = None if left is None else time.monotonic() + left
        limits = Limits(deadline, cfg.effort, interrupt=stop.interrupt)
        alike = Alike(most, find_engine(cfg.engine), cfg.acyclic, cfg.explain)
        try:
            return find_alike(machine, traces, labels, alike, limits)
        except Stopped:
            return None


def best_walk(found: AllMachines, labels: tuple[LabelOn, LabelOn]) -> tuple[Step, ...]:
    """Of the walks that tell some machine from the first, one that refutes many of them whatever it pays.

    Those that are sure to refute one come first; of equals, the shortest is taken. None if there is no walk at all.
    """
    trigger, reward = (labelling_of(on) for on in labels)

    def left(walk: Separation) -> int:
        """How many machines may be left, at most."""
        paid = Counter(machine.pays(walk.steps, trigger, reward) for machine in found.machines)
        unknown = paid.pop(None, 0)
        return unknown + max(paid.values(), default=0)

    walks = dict.fromkeys(walk for walk in found.separations if walk is not None)
    order = sorted(walks, key=lambda walk: (not walk.is_certain, left(walk), len(walk.steps)))
    return order[0].steps if order else ()
