"""``learn(…, reward="random")``: the labels are chosen, a machine is found and weighed, and its rewards are means."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from typing import Final

from markovize.episodes.allowance import check_spread
from markovize.episodes.labelling import AUTO, labelling_of
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.traces import Episodes, Traces, as_traces
from markovize.errors import InputError
from markovize.learning.alternatives import Labels
from markovize.learning.interrupts import interruptible
from markovize.learning.learner import Learner, LearnOptions
from markovize.learning.limits import Limits
from markovize.learning.problem import LabelPair
from markovize.learning.random_rewards.attempt import Attempt, Question, attempt, find_alike
from markovize.learning.random_rewards.chance import Chance
from markovize.learning.random_rewards.levels import assemble_random
from markovize.learning.result import LearnResult
from markovize.learning.stages import blank

ENGINE: Final = "likelihood"
ALPHA: Final = 0.01
FINEST: Final = "transition"
USUAL: Final = {
    "objective": "triggers",
    "explain": "reward",
    "engine": AUTO,
    "audit": AUTO,
    "tolerance": 0,
    "outliers": 0,
}


def learn_random(
    episodes: Episodes | EpisodeStream, *, alpha: float | None, time_limit: float | None, options: LearnOptions
) -> LearnResult:
    """A machine whose cells (u, reward label, u') have distributions; larger than others only if that is significant.

    >>> luck = 40 * [("tea", 0), ("coffee", 1)] + 10 * [("tea", 1), ("coffee", 0)]
    >>> walks = [(["hall", drink, "hall", "office"], [0, 0, 0], [0, 0, paid]) for drink, paid in luck]
    >>> result = learn_random(walks, alpha=None, time_limit=None, options={})
    >>> result.status, result.states, sorted(round(e.reward, 2) for e in result.machine.rewards if e.on == "office")
    ('feasible', 2, [0.2, 0.8])
    """
    for name, usual in USUAL.items():
        if options.get(name, usual) != usual:
            raise InputError(f"random rewards know no {name}; leave it as it is, or leave reward='random'")
    learner = Learner(**options)  # refuses what cannot be
    chance = Chance(ALPHA if alpha is None else _checked(alpha))
    if learner.finds_guards or any(options.get(name) for name in ("features", "numeric", "categorical")):
        raise InputError("random rewards are for labels; with guards rewards must be exact")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"the time limit must be positive, not {time_limit}")
    traces = episodes.read() if isinstance(episodes, EpisodeStream) else as_traces(episodes)
    check_spread(traces.rewards)
    pairs = [learner.options.labels[number] for number in learner.options.coarsest]
    finest = FINEST if options.get("reward_on", AUTO) == AUTO else None
    question = Question(chance, learner.options.acyclic, len(pairs), finest)
    _warm_up()
    with interruptible() as interrupt:
        start = time.perf_counter()
        deadline = None if time_limit is None else time.monotonic() + time_limit
        limits = Limits(deadline, interrupt=interrupt)
        found = _choose_labels(traces, pairs, question, limits)
        alternatives: Labels = {} if found.chance.stopped else find_alike(found, question, limits)
        machine, ends = assemble_random(found, traces, alternatives)
        return replace(
            blank(learner.options),
            status="feasible",
            machine=machine,
            engine=ENGINE,
            seconds=time.perf_counter() - start,
            trigger_on=found.steps.triggers.kind,
            reward_on=found.steps.rewards.kind,
            termination_conflicts=ends,
            chance=found.chance,
            interrupted=interrupt.requested,
        )


@cache
def _warm_up() -> None:
    """Compiles the inner loops, once, so that no search is timed with it."""
    walks = 9 * [(["a", "b", "c"], [0, 0], [0, 0]), (["a", "a", "c"], [0, 0], [0, 1])]
    traces, question = Traces.of(walks), Question(Chance(0.5), False, 1, None)
    found = attempt(traces, ("state", "state"), question, Limits())
    assemble_random(found, traces, find_alike(found, question, Limits()))


def _checked(alpha: object) -> float:
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise InputError(f"alpha is a number between 0 and 1, not {alpha!r}")
    return float(alpha)


def _choose_labels(traces: Traces, pairs: list[LabelPair], question: Question, limits: Limits) -> Attempt:
    """Of the pairs of labels the coarsest with a machine, but for a finer one that explains significantly more.

    Triggers on finer labels are not tried where coarser ones do.
    """
    best: Attempt | None = None
    first: Attempt | None = None
    for trigger_on, reward_on in pairs:
        if best is not None and labelling_of(trigger_on).kind != best.steps.triggers.kind:
            break
        tried = attempt(traces, (trigger_on, reward_on), question, limits)
        first = first or tried
        if tried.delta and (best is None or tried.evidence >= best.evidence + question.chance.nats):
            best = tried
        if tried.chance.stopped:
            break
    assert first is not None
    return best or first
