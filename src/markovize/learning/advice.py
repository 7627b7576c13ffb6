"""What noise would explain: advice where rewards contradict each other, or where no small machine explains them all.

Nothing of this is done by the search for the smallest machine, which takes rewards as they are unless it is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from markovize.episodes.allowance import can_compare
from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Traces
from markovize.learning.comparison import SMALL
from markovize.learning.description import MANY_STEPS
from markovize.learning.floors import Size
from markovize.learning.guards.front import GuardQuestion, draw_guard_front
from markovize.learning.interrupts import interruptible
from markovize.learning.label_front import Question
from markovize.learning.learner import DEFAULT_ENGINE, Learner
from markovize.learning.limits import Limits
from markovize.learning.noise import Chosen, choose_noise, choose_point, describe_choice
from markovize.learning.noise_notes import name_one_level
from markovize.learning.prefix_tree import count_contradicting
from markovize.learning.problem import label_and_merge
from markovize.learning.result import LearnResult
from markovize.learning.search import CHOOSING, Progress
from markovize.learning.warm_up import warm_up_for_noise

NOISE_SHARE: Final = 0.01  # of the steps; more that contradict each other are hardly noise
ADVICE_SECONDS: Final = 10.0  # to find out what allowance would help
LONG_SECONDS: Final = 10.0  # of a search without a small machine, after which noise may be the reason
ROUNDING: Final = 1e-12  # of a reward or of the width
LEAST_SECONDS: Final = 2.0  # that must be left of a limit for that


class NoiseWatch:
    """Looks once whether noise is why a search is long: a flipped reward takes triggers of its own to explain.

    It steers nothing, it only tells the user.
    """

    def __init__(
        self,
        learner: Learner,
        traces: Traces,
        time_limit: float | None,
        tell: Callable[[Progress], None] | None,
    ) -> None:
        self._hint, self._tell = "", tell
        self._learner, self._traces, self._limit = learner, traces, time_limit
        self._start = time.monotonic()
        self._is_done = not _may_ask(learner, traces)

    def is_due(self) -> bool:
        """Whether to look now, or there is somebody else to tell."""
        return self._tell is not None or not (self._is_done or time.monotonic() - self._start < LONG_SECONDS)

    def __call__(self, progress: Progress) -> None:
        """Hears of the progress of a search, and passes it on with the hint as soon as there is one."""
        self._look(progress)
        if self._tell is not None:
            self._tell(replace(progress, hint=self._hint))

    def hint_for(self, result: LearnResult) -> str:
        """What was found; nothing where the search has found a small machine after all."""
        machine = result.machine
        return "" if machine is not None and _is_small((machine.states, len(machine.triggers))) else self._hint

    def _look(self, progress: Progress) -> None:
        elapsed = time.monotonic() - self._start
        is_small = progress.best is not None and _is_small(progress.best)
        left = ADVICE_SECONDS if self._limit is None else min(ADVICE_SECONDS, (self._limit - elapsed) / 2)
        if self._is_done or is_small or elapsed < LONG_SECONDS or left < LEAST_SECONDS / 2:
            return
        self._is_done = True
        point = choose_allowance(self._learner, self._traces, None, None, left, supposing=True).point
        if point is not None and _is_small((point.states, point.triggers)):
            told = describe_choice(point, self._traces.recorded[1])
            is_exact = self._learner.options.allowance.exact
            what = "every reward" if is_exact else "the rewards within what is allowed for"
            self._hint = f"no small machine explains {what}. If some are noise: {told[0].lower()}{told[1:]}"


def _is_small(size: Size) -> bool:
    """Whether there are few states and few triggers."""
    return max(size) <= SMALL


def _may_ask(learner: Learner, traces: Traces) -> bool:
    """Whether there are enough steps to tell noise, and rewards that can be compared."""
    is_usual = learner.options.engine.name == DEFAULT_ENGINE
    return is_usual and traces.recorded[1] >= MANY_STEPS and can_compare(traces.rewards)


def choose_allowance(
    learner: Learner,
    traces: Traces,
    tolerance: float | None,
    outliers: int | None,
    seconds: float | None,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    supposing: bool = False,
) -> Chosen:
    """What to allow for, where that is None, within so many seconds; Ctrl-C ends it, too.

    Who is ``supposing`` that there is noise hears what it would be, also if time is up before it is known.
    """
    warm_up_for_noise()
    options, guards = learner.options, learner.guard_options
    question = Question(tolerance, outliers, options.acyclic, options.explain, options.engine)
    labels = [options.labels[number] for number in options.coarsest]
    with interruptible() as interrupt:
        limits = Limits(None if seconds is None else time.monotonic() + seconds, interrupt=interrupt)
        if on_progress is not None:
            limits = replace(limits, pulse=partial(on_progress, Progress(CHOOSING, 1, None, (1, 0), None, 0)))
        if guards is not None:
            drawn = draw_guard_front(traces, GuardQuestion(tolerance, outliers, guards), limits)
            return choose_point(drawn, supposing=supposing)
        return choose_noise(traces, question, labels, limits, supposing=supposing)


def with_advice(result: LearnResult, learner: Learner, traces: Traces, seconds: float) -> LearnResult:
    """Where rewards contradict each other: which allowance would help, and what machine one would get."""
    contradiction = result.contradiction
    if contradiction is None or contradiction.finer_labels_help or result.interrupted:
        return result
    if not _may_ask(learner, traces):
        return result  # a handful of steps says nothing about noise
    with interruptible() as interrupt:
        chosen = choose_allowance(learner, traces, None, None, seconds, supposing=True)
        if interrupt.requested:
            return replace(result, interrupted=True)
    if chosen.point is None:
        return result
    told = f"{contradiction.advice} {describe_choice(chosen.point, traces.recorded[1])}".strip()
    if name_one_level(traces, chosen.point.allowance):
        told += " That holds all rewards: where they are random by nature, ask for that (--reward random)."
    return replace(result, contradiction=replace(contradiction, advice=told))


def hint_at_noise(result: LearnResult, learner: Learner, traces: Traces) -> str:
    """Where coarser labels fail by a handful of steps, and finer ones do only with a large machine: it may be noise."""
    options, steps = learner.options, traces.recorded[1]
    if learner.finds_guards or result.interrupted or steps < MANY_STEPS or not result.trigger_on:
        return ""
    coarsest = options.labels[options.coarsest[0]]
    kinds = labelling_of(coarsest[0]).kind, labelling_of(coarsest[1]).kind
    machine = result.machine
    is_small = machine is not None and _is_small((machine.states, len(machine.triggers)))
    if is_small or (result.trigger_on, result.reward_on) == kinds:
        return ""
    few = count_contradicting(label_and_merge(traces, coarsest, options.explain, Limits()))
    if not 0 < few <= NOISE_SHARE * steps:
        return ""
    return (
        f"with {kinds[0]}/{kinds[1]} labels only {few} of {steps:,} steps contradict others of the same history; if "
        "that is noise, allow for outliers (--outliers auto)"
    )


def name_near_miss(traces: Traces, learner: Learner) -> str:
    """Whether rewards differ by twice the tolerance but for rounding: they are compared as they are, and so exceed it.

    0.9 and 1.1 are 0.20000000000000007 apart. Empty where there are none such.
    """
    width, values = learner.options.allowance.width, np.unique(traces.rewards)
    if not width or len(values) < 2:
        return ""
    slack = ROUNDING * np.maximum(np.abs(values), width)
    after = np.searchsorted(values, values + width + slack, side="right")
    last = values[after - 1]
    near = np.flatnonzero((last - values > width) & (last - values <= width + slack))
    if not len(near):
        return ""
    one, other = float(values[near[0]]), float(last[near[0]])
    return (
        f"rewards {one:g} and {other:g} differ by {other - one!r}, a rounding more than twice the tolerance; "
        f"a little more (--tolerance {width / 2 * 1.000001:.7g}) makes them one level"
    )
