"""A learner: options once, and episodes that keep coming.

What a call does, stage by stage, is in :mod:`markovize.learning.stages`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final, Literal, TypeAlias, TypedDict

import numpy as np

from markovize.episodes.allowance import Allowance
from markovize.episodes.features import Features, feature_function
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.labelling import AUTO, LabelOn, pairs_to_compare, pairs_to_try
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.traces import Episodes
from markovize.errors import InputError
from markovize.learning.call import Begun, Call, Options
from markovize.learning.engines import Delta, Engine, find_auditor, find_engine
from markovize.learning.floors import Objective
from markovize.learning.guards.answer import Before, GuardCall, GuardOptions, answer_guards
from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.memory import Remembered
from markovize.learning.interrupts import interruptible
from markovize.learning.limits import Limits
from markovize.learning.memory import Memory
from markovize.learning.merging import as_mergeable
from markovize.learning.result import LearnResult
from markovize.learning.search import Progress
from markovize.learning.stages import answer, blank
from markovize.learning.warm_up import warm_up, warm_up_for_noise
from markovize.machine.machine import RewardMachine

Auto: TypeAlias = LabelOn  # or "auto"
DEFAULT_ENGINE: Final = "sat"
NO_ALLOWANCES: Final = "all minimal machines are listed for exact labels and rewards, without guards and allowances"


class LearnOptions(TypedDict, total=False):
    """What :func:`learn` and :class:`Learner` can be asked for; a :class:`Learner` says what each is by default."""

    objective: Objective
    trigger_on: Auto
    reward_on: Auto
    explain: Explain
    acyclic: bool
    engine: str | Engine
    audit: str | Engine
    features: Features | None
    numeric: Collection[str]
    categorical: Collection[str]
    before: Before
    tolerance: float | Literal["auto"]
    outliers: int | Literal["auto"]
    cores: int | None


class Learner:
    """:func:`learn` with a memory, for episodes that keep coming: options once, ``learn`` as often as there are more.

    As long as each call brings the episodes of the last one and more at the end, the search starts at the last
    optimum, with the last exemplars, in solvers that keep what they have derived. Other episodes start from nothing:
    what was learned is known by a digest of what it was learned from. A call that an exception ends leaves what the
    learner knows as it was.

    >>> learner = Learner()
    >>> seen = [(["hall", "office"], ["go"], [0]), (["hall", "hall", "office"], ["stay", "go"], [0, 0])]
    >>> learner.learn(seen).states
    1
    >>> seen.append((["hall", "coffee", "office"], ["go", "go"], [0, 1]))
    >>> learner.learn(seen).states
    2
    """

    def __init__(
        self,
        *,
        objective: Objective = "triggers",
        trigger_on: Auto = "auto",
        reward_on: Auto = "auto",
        explain: Explain = "reward",
        acyclic: bool = False,
        engine: str | Engine = "auto",
        audit: str | Engine = "auto",
        features: Features | None = None,
        numeric: Collection[str] = (),
        categorical: Collection[str] = (),
        before: Before = "auto",
        tolerance: float | Literal["auto"] = 0.0,
        outliers: int | Literal["auto"] = 0,
        cores: int | None = None,
    ) -> None:
        if cores is not None and (not isinstance(cores, int) or cores < 1):
            raise InputError(f"cores is a number of at least 1, not {cores!r}")
        if objective not in ("triggers", "states"):
            raise InputError(f"objective is 'triggers' or 'states', not {objective!r}")
        solver = find_engine(engine)
        if tolerance == AUTO or outliers == AUTO:
            raise InputError("a learner needs numbers for tolerance and outliers; auto is for learn()")
        allowance = Allowance(tolerance, outliers)
        auditor = find_auditor(audit, solver)
        if not allowance.exact:
            check_noise(solver, auditor)
        self._guards: GuardOptions | None = None
        self._remembered = Remembered()
        if trigger_on == GUARDS:
            for name, value, usual in (
                ("objective", objective, "triggers"),
                ("engine", engine, AUTO),
                ("audit", audit, AUTO),
            ):
                if value != usual:
                    raise InputError(f"guards have an objective and an engine of their own; leave {name} as it is")
            own = feature_function(features)
            kinds = tuple(numeric), tuple(categorical)
            self._guards = GuardOptions(reward_on, own, *kinds, before, explain, acyclic, allowance)
            self._guards.reward_labels  # noqa: B018 - refuses what is none before anything is read
            trigger_on = reward_on = "state"  # which nothing looks at
        elif features is not None or numeric or categorical or before != AUTO:
            raise InputError(
                "features, numeric, categorical and before are for trigger_on='guards' (--trigger-on guards)"
            )
        elif reward_on == GUARDS:
            raise InputError("reward_on='guards' needs trigger_on='guards': there are no features otherwise")
        labels = pairs_to_compare(trigger_on, reward_on)
        coarsest = tuple(labels.index(pair) for pair in pairs_to_try(trigger_on, reward_on))
        self.options = Options(
            objective,
            explain,
            acyclic,
            solver,
            auditor,
            tuple(labels),
            coarsest,
            allowance,
            cores,
        )
        self._memory = Memory()

    @property
    def finds_guards(self) -> bool:
        """Whether triggers are guards over features."""
        return self._guards is not None

    @property
    def guard_options(self) -> GuardOptions | None:
        """What is asked for where triggers are guards."""
        return self._guards

    def learn(
        self,
        episodes: Episodes | EpisodeStream,
        *,
        time_limit: float | None = None,
        effort: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        since: LearnResult | None = None,
        rng: np.random.Generator | None = None,
        first: Delta | Begun | Candidate | RewardMachine | None = None,
        all: int | None = None,
        prove: RewardMachine | None = None,
    ) -> LearnResult:
        """As :func:`learn`. With an ``effort``, in the engine's count, a question that takes longer is left open.

        That gives a machine soon, and repeatably, but optimal only where no question was left open. With an ``rng``,
        triggers are drawn from the labels that the data cannot tell apart, so that who acts on them soon learns more.
        Labels are the coarsest that work then: no others are compared. With ``all``, what one call has listed is not
        looked for by the next. ``prove`` is a machine that explains the episodes under the coarsest labels: the search
        begins with it, asks from what is proven, and gives up at the first question that takes more than the effort.
        """
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"the time limit must be positive, not {time_limit}")
        if all is not None:
            self._check_all(all)
        warm_up()
        if not self.options.allowance.exact:
            warm_up_for_noise()
        deadline = None if time_limit is None else time.monotonic() + time_limit
        traces = (
            episodes.read() if self.finds_guards and isinstance(episodes, EpisodeStream) else as_mergeable(episodes)
        )
        with interruptible() as interrupt:
            start = time.perf_counter()
            if self._guards is not None:
                limits, begin = Limits(deadline, interrupt=interrupt), first if isinstance(first, Candidate) else None
                given = GuardCall(traces, limits, effort, on_progress, self._remembered, begin)
                result, self._remembered = answer_guards(self._guards, given, blank(self.options))
                return replace(result, seconds=time.perf_counter() - start, interrupted=interrupt.requested)
            last = first if isinstance(first, RewardMachine) else None
            begun = first if isinstance(first, Begun) else None
            delta = None if isinstance(first, Begun | Candidate | RewardMachine) else first
            limits = Limits(deadline, interrupt=interrupt)
            call = Call(traces, limits, effort, on_progress, since, rng, all, delta, begun, last, prove)
            result, self._memory = answer(self.options, self._memory, call)
            return replace(result, seconds=time.perf_counter() - start, interrupted=interrupt.requested)

    def _check_all(self, most: int) -> None:
        """Refuses what is not known to be all."""
        if most < 1:
            raise InputError(f"at least 1 machine can be listed, not {most}")
        if self.finds_guards or not self.options.allowance.exact:
            raise InputError(NO_ALLOWANCES)
        if self.options.engine.name != DEFAULT_ENGINE or self.options.auditor is not None:
            raise InputError(f"all minimal machines are found by the engine {DEFAULT_ENGINE} without an audit")


def check_noise(engine: Engine, auditor: Engine | None) -> None:
    """Refuses what knows no allowances."""
    for each in (engine, auditor):
        if each is not None and each.name != DEFAULT_ENGINE:
            raise InputError(
                f"the engine {each.name} explains rewards exactly; tolerance and outliers need {DEFAULT_ENGINE}"
            )
