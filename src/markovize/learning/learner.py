"""Learning: from episodes to the smallest machine, with what proves it.

What a call does, stage by stage, is in :mod:`markovize.learning.stages`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final, TypeAlias, TypedDict, Unpack

import numpy as np

from markovize.conflicts.clock import find_clock
from markovize.conflicts.timetable import find_timetable
from markovize.episodes.allowance import Allowance
from markovize.episodes.features import Features, feature_function
from markovize.episodes.labelled_steps import Explain
from markovize.episodes.labelling import AUTO, LabelFunctions, LabelOn, pairs_to_compare, pairs_to_try
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.traces import Episodes
from markovize.errors import InputError
from markovize.learning.call import Call, Options
from markovize.learning.comparison import SMALL
from markovize.learning.engines import Engine, find_auditor, find_engine
from markovize.learning.floors import Objective
from markovize.learning.guards.answer import Before, GuardCall, GuardOptions, answer_guards
from markovize.learning.guards.choice import why_guards
from markovize.learning.guards.memory import Remembered
from markovize.learning.interrupts import interruptible
from markovize.learning.limits import Limits
from markovize.learning.memory import Memory
from markovize.learning.merging import as_mergeable
from markovize.learning.noise import with_noise
from markovize.learning.result import LearnResult
from markovize.learning.search import Progress
from markovize.learning.stages import answer, blank
from markovize.learning.warm_up import warm_up, warm_up_for_noise
from markovize.machine.support import count_support

__all__ = ["Auto", "LearnOptions", "Learner", "learn"]

Auto: TypeAlias = LabelOn  # or "auto"
DEFAULT_ENGINE: Final = "sat"
LEAST_LIMIT: Final = 0.001  # seconds: a search whose time is up still says what it has
LITTLE_EFFORT: Final = 1_000  # of a search for a small machine where the step number may explain all
MANY_STEPS: Final = 100  # from here on reward labels should repeat; fewer steps are an example


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
    tolerance: float
    outliers: int


def learn(
    episodes: Episodes | EpisodeStream,
    *,
    time_limit: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    since: LearnResult | None = None,
    count_steps: bool = False,
    **options: Unpack[LearnOptions],
) -> LearnResult:
    """The smallest reward machine that explains every reward of the episodes.

    Ctrl-C or ``time_limit`` (seconds) end the search early with the best machine so far. The limit holds within a
    second, or a tenth of it on large data; compiling the inner loops, once in a process, does not count.

    Args:
        since: the result for the first of these episodes, learned with the same options. The search starts at its
            size, since more episodes never make the optimum smaller. The result of anything else is ignored.
        count_steps: look for a machine also where the reward is one of time (see ``time`` of the result), which only a
            machine that counts steps explains; by default none is looked for then.
        objective: ``triggers``, the default (fewest triggers, then fewest states), or ``states`` (the other way
            round, as the paper has it).
        trigger_on, reward_on: what of a step moves the machine, and what the reward depends on: a kind of labels, a
            function of (s, a, s'), or ``auto``, the coarsest that work. But where their machine has more than eight
            states, or its search is long, other labels are tried as well, ``source`` among them, and the smallest
            machine is kept (against one of few states, only a far smaller one): see ``compared`` of the result.
            ``optimal`` always means the smallest of all machines with the labels that the result names.
        explain: ``reward``, or ``reward+termination`` where the machine shall tell the ends of episodes as well.
        acyclic: whether the machine may never return to a state that it has left; not so by default.
        engine: the name of an engine, or one of your own; ``auto`` takes the fastest.
        audit: an engine that must confirm whatever the first one calls infeasible, on the same exemplars; ``auto``
            asks for that only where the engine is not one of ours.
        features: with ``trigger_on="guards"``, triggers are guards over named features of the step, and so are the
            labels of rewards unless ``reward_on`` says otherwise: the fewest guards, then literals, then states.
            ``auto`` takes guards where observations hardly ever repeat. This function of (s, a, s') adds features.
        numeric, categorical: names of features that are of this kind, whatever their values look like.
        before: whether features of s are used too, as ``before.NAME``; ``auto``: where the others do not do.
        tolerance: how far a reward may be from the level of its (u, reward label, u').
        outliers: how many steps may pay something else. ``optimal`` means with these allowances the smallest.

    >>> from markovize import Traces
    >>> coffee_then_office = Traces.of([
    ...     (["hall", "coffee", "office"], ["go", "go"], [0, 1], True),
    ...     (["hall", "hall", "office"], ["stay", "go"], [0, 0], False),
    ...     (["hall", "hall", "coffee", "office"], ["stay", "go", "go"], [0, 0, 1], True),
    ... ])
    >>> result = learn(coffee_then_office)
    >>> result.status, result.states, result.triggers, result.machine.triggers[0].on
    ('optimal', 2, 1, 'coffee')
    """
    if _asks_for_guards(options):
        options = {**options, "trigger_on": GUARDS}
    learner, note = Learner(**options), ""
    if learner.finds_guards and isinstance(episodes, EpisodeStream):
        episodes = episodes.read()  # features are looked up by step
    traces = as_mergeable(episodes)
    if not learner.finds_guards and _leaves_labels_open(options) and (note := why_guards(traces)):
        options = {**options, "trigger_on": GUARDS}
        learner = Learner(**options)
        if isinstance(episodes, EpisodeStream):
            traces = episodes.read()
    if not learner.options.allowance.exact:
        result = learner.learn(traces, time_limit=time_limit, on_progress=on_progress, since=since)
        return with_noise(result, traces, learner.options.allowance, _own_labels(result, options))
    if not count_steps and (clock := find_clock(traces)) is not None:
        return replace(blank(learner.options), time=clock)
    if not count_steps and not learner.finds_guards and (table := find_timetable(traces)) is not None:
        start = time.monotonic()
        soon = Learner(**options).learn(traces, effort=LITTLE_EFFORT, time_limit=time_limit)
        if soon.interrupted:
            return soon
        if soon.states is None or soon.states > SMALL:
            return replace(blank(learner.options), time=table)
        if time_limit is not None:  # the limit is one for both searches
            time_limit = max(LEAST_LIMIT, time_limit - (time.monotonic() - start))
    result = learner.learn(traces, time_limit=time_limit, on_progress=on_progress, since=since)
    if note:
        result = replace(result, remarks=(note, *result.remarks))
    if result.machine is None or result.interrupted:
        return result
    own = _own_labels(result, options)
    # with one state, each reward label has one entry
    features = options.get("features")
    once = (
        not learner.finds_guards
        and result.machine.states == 1
        and 2 * len(result.machine.rewards) > traces.steps >= MANY_STEPS
    )
    return replace(
        result, support=count_support(result.machine, traces, features=features, **own), labels_hardly_repeat=once
    )


def _own_labels(result: LearnResult, options: LearnOptions) -> LabelFunctions:
    """The functions that made labels, where they did."""
    return {
        "trigger_on": options.get("trigger_on") if result.trigger_on == "function" else None,
        "reward_on": options.get("reward_on") if result.reward_on == "function" else None,
    }


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
        tolerance: float = 0.0,
        outliers: int = 0,
    ) -> None:
        if objective not in ("triggers", "states"):
            raise InputError(f"objective is 'triggers' or 'states', not {objective!r}")
        solver = find_engine(engine)
        allowance = Allowance(tolerance, outliers)
        auditor = find_auditor(audit, solver)
        if not allowance.exact:
            _check_noise(solver, auditor, guards=trigger_on == GUARDS)
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
            self._guards = GuardOptions(reward_on, own, *kinds, before, explain, acyclic)
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
        )
        self._memory = Memory()

    @property
    def finds_guards(self) -> bool:
        """Whether triggers are guards over features."""
        return self._guards is not None

    def learn(
        self,
        episodes: Episodes | EpisodeStream,
        *,
        time_limit: float | None = None,
        effort: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        since: LearnResult | None = None,
        rng: np.random.Generator | None = None,
    ) -> LearnResult:
        """As :func:`learn`. With an ``effort``, in the engine's count, a question that takes longer is left open.

        That gives a machine soon, and repeatably, but optimal only where no question was left open. With an ``rng``,
        triggers are drawn from the labels that the data cannot tell apart, so that who acts on them soon learns more.
        Labels are the coarsest that work then: no others are compared.
        """
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"the time limit must be positive, not {time_limit}")
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
                given = GuardCall(traces, Limits(deadline, interrupt=interrupt), effort, on_progress, self._remembered)
                result, self._remembered = answer_guards(self._guards, given, blank(self.options))
                return replace(result, seconds=time.perf_counter() - start, interrupted=interrupt.requested)
            call = Call(traces, Limits(deadline, interrupt=interrupt), effort, on_progress, since, rng)
            result, self._memory = answer(self.options, self._memory, call)
            return replace(result, seconds=time.perf_counter() - start, interrupted=interrupt.requested)


def _check_noise(engine: Engine, auditor: Engine | None, *, guards: bool) -> None:
    """Refuses what knows no allowances."""
    if guards:
        raise InputError("tolerance and outliers are for labels; with guards rewards must be exact")
    for each in (engine, auditor):
        if each is not None and each.name != DEFAULT_ENGINE:
            raise InputError(
                f"the engine {each.name} explains rewards exactly; tolerance and outliers need {DEFAULT_ENGINE}"
            )


def _asks_for_guards(options: LearnOptions) -> bool:
    """Whether labels are left open, but something is said that only guards have a use for."""
    says = options.get("features") is not None or options.get("numeric") or options.get("categorical")
    return bool(says or options.get("before", AUTO) != AUTO) and options.get("trigger_on", AUTO) == AUTO


def _leaves_labels_open(options: LearnOptions) -> bool:
    """Whether nothing is said that guards could not obey."""
    usual: dict[str, object] = {
        "trigger_on": AUTO,
        "reward_on": AUTO,
        "engine": AUTO,
        "audit": AUTO,
        "objective": "triggers",
    }
    usual |= {"tolerance": 0.0, "outliers": 0}
    return all(options.get(name, value) == value for name, value in usual.items())
