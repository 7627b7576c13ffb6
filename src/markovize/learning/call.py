"""What a learner is asked: options once, and what each call is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from markovize.episodes.allowance import EXACT, Allowance
from markovize.episodes.labelled_steps import Explain, LabelledSteps
from markovize.episodes.traces import Traces
from markovize.learning.engines import Delta, Engine
from markovize.learning.floors import Objective
from markovize.learning.inquiry import Goal
from markovize.learning.limits import Limits
from markovize.learning.problem import LabelPair
from markovize.learning.result import LearnResult
from markovize.learning.search import Deepening, Progress
from markovize.machine.machine import RewardMachine


@dataclass(frozen=True)
class Options:
    """What is asked for, by every call of a learner alike."""

    objective: Objective
    explain: Explain
    acyclic: bool
    engine: Engine
    auditor: Engine | None
    labels: tuple[LabelPair, ...]  # that may be taken, from coarse to fine
    coarsest: tuple[int, ...]  # the numbers of those of which the first that explains the episodes is taken at first
    allowance: Allowance = EXACT
    cores: int | None = None  # that long proofs may use; they are the same whatever the number

    @property
    def goal(self) -> Goal:
        return Goal(self.objective, self.acyclic)

    @property
    def looks_first(self) -> bool:
        """Whether there is a search that takes less than the one asked for."""
        return not (self.acyclic and self.objective == "states")

    def key(self, steps: LabelledSteps) -> tuple[object, ...]:
        """What belongs to the identity of a result, beside the episodes."""
        labels = steps.triggers.kind, steps.rewards.kind
        auditor = None if self.auditor is None else self.auditor.name
        return self.objective, self.explain, self.acyclic, self.engine.name, auditor, self.allowance, *labels


@dataclass(frozen=True)
class Begun:
    """A search in the same episodes under the same labels, with this allowance or a larger one: it may go on.

    What it has proven is true. Its solvers are of use where the allowance is the same.
    """

    first: Delta  # the machine that it found
    search: Deepening
    allowance: Allowance


@dataclass(frozen=True)
class Call:
    """What one call is given."""

    traces: Traces
    limits: Limits
    effort: int | None
    on_progress: Callable[[Progress], None] | None
    since: LearnResult | None
    rng: np.random.Generator | None
    all: int | None = None  # minimal machines to list at most
    first: Delta | None = None  # a machine to begin with, under the only labels there are
    begun: Begun | None = None  # a search for the same, to go on with
    last: RewardMachine | None = None  # one that explained some of the episodes: it may need only few changes
    prove: RewardMachine | None = None  # one that explains them all: is it the smallest?
