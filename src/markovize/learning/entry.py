"""``learn``: from episodes to the smallest machine. What is asked for is looked at here, a :class:`Learner` does it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, Unpack

from markovize.conflicts.clock import find_clock
from markovize.conflicts.timetable import find_timetable
from markovize.episodes.allowance import Allowance, check_spread
from markovize.episodes.labelling import AUTO
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.stream import EpisodeStream
from markovize.episodes.traces import Episodes, Traces, as_traces
from markovize.errors import InputError
from markovize.learning.advice import (
    ADVICE_SECONDS,
    NoiseWatch,
    choose_allowance,
    hint_at_noise,
    name_near_miss,
    with_advice,
)
from markovize.learning.call import Begun
from markovize.learning.comparison import SMALL
from markovize.learning.description import MANY_STEPS
from markovize.learning.engines import Delta
from markovize.learning.guards.candidate import Candidate
from markovize.learning.guards.choice import why_guards
from markovize.learning.interrupts import interruptible
from markovize.learning.learner import NO_ALLOWANCES, Learner, LearnOptions
from markovize.learning.merging import as_mergeable
from markovize.learning.noise import with_noise, with_own_machine
from markovize.learning.noise_notes import name_many_outliers, name_one_level
from markovize.learning.random_rewards.entry import learn_random
from markovize.learning.result import LearnResult, Noise
from markovize.learning.search import Progress
from markovize.learning.stages import blank
from markovize.learning.warm_up import warm_up, warm_up_for_noise
from markovize.machine.replay import MachineFunctions
from markovize.machine.support import count_support

LEAST_LIMIT: Final = 0.001  # seconds: a search whose time is up still says what it has
LITTLE_EFFORT: Final = 1_000  # of a search for a small machine where the step number may explain all
STOPPED_CHOICE: Final = "not all allowances were compared before the limit: with more time another may turn out better"
UNPROVEN: Final = "the smallest size is not proven, so that machines of it are not listed"


def learn(
    episodes: Episodes | EpisodeStream,
    *,
    time_limit: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    since: LearnResult | None = None,
    count_steps: bool = False,
    reward: Literal["exact", "random"] = "exact",
    alpha: float | None = None,
    all: int | None = None,
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
        reward: ``exact``, or ``random`` where each (u, reward label, u') has a distribution. A larger machine is taken
            then only if its likelihood ratio over smaller ones is significant after a correction for all machines of
            its size: ``feasible``, no lower bound is claimed. See ``chance`` of the result.
        alpha: with random rewards, the probability of a machine that is larger than the truth; 0.01 by default.
        all: list up to so many machines of the smallest size that differ in more than the numbers of their states, or
            prove that there is just one: see ``all`` of the result. For exact labels and rewards.
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
        outliers: how many steps may pay something else. ``optimal`` means with these allowances the smallest. For
            both, ``auto`` takes the allowance with the shortest description of machine and noise: see ``noise`` of the
            result; none where rewards are explained as they are almost as shortly.
        cores: how many cores long proofs of labels may use, by default all there are, or OMP_NUM_THREADS. Unless
            time ends the search, the result is the same.

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
    if reward == "random":
        if all is not None:
            raise InputError(NO_ALLOWANCES)
        return learn_random(episodes, alpha=alpha, time_limit=time_limit, options=options)
    if reward != "exact" or alpha is not None:
        raise InputError(
            f"reward is 'exact' or 'random', not {reward!r}" if reward != "exact" else "alpha is for reward='random'"
        )
    if AUTO in (options.get("tolerance"), options.get("outliers")):
        if all is not None:
            raise InputError(NO_ALLOWANCES)
        return _learn_and_choose_noise(episodes, time_limit, on_progress, count_steps, options)
    if _asks_for_guards(options):
        options = {**options, "trigger_on": GUARDS}
    learner, note = Learner(**options), ""
    if isinstance(episodes, EpisodeStream) and (learner.finds_guards or not learner.options.allowance.exact):
        episodes = episodes.read()  # features are looked up by step, and outliers are named by it
    traces = as_mergeable(episodes)
    may_take_guards = not learner.finds_guards and _leaves_labels_open(options) and all is None
    if may_take_guards and (note := why_guards(traces, learner.options.allowance.tolerance)):
        options = {**options, "trigger_on": GUARDS}
        learner = Learner(**options)
        if isinstance(episodes, EpisodeStream):
            traces = episodes.read()
    if not learner.options.allowance.exact:
        check_spread(traces.rewards)
        started, watch = time.monotonic(), NoiseWatch(learner, traces, time_limit, on_progress)
        result = learner.learn(traces, time_limit=time_limit, on_progress=watch, since=since, all=all)
        near = name_near_miss(traces, learner)
        if result.contradiction is not None:
            advice = f"{result.contradiction.advice} {near[:1].upper()}{near[1:]}".strip()
            result = replace(result, contradiction=replace(result.contradiction, advice=advice))
            left = ADVICE_SECONDS if time_limit is None else time_limit - (time.monotonic() - started)
            if left > 0:
                result = with_advice(result, learner, traces, min(ADVICE_SECONDS, left))
        hint = watch.hint_for(result) if result.contradiction is None else ""
        result = replace(result, remarks=tuple(filter(None, [note, *result.remarks, near, hint])))
        functions = _own_functions(result, options)
        result = with_noise(result, traces, learner.options.allowance, functions, learner.options.explain)
        return replace(result, labels_hardly_repeat=_hardly_repeats(result, traces))
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
    started, watch = time.monotonic(), NoiseWatch(learner, traces, time_limit, on_progress)
    result = learner.learn(traces, time_limit=time_limit, on_progress=watch, since=since, all=all)
    if result.status == "unrealisable":
        left = ADVICE_SECONDS if time_limit is None else time_limit - (time.monotonic() - started)
        return with_advice(result, learner, traces, min(ADVICE_SECONDS, left)) if left > 0 else result
    if note:
        result = replace(result, remarks=(note, *result.remarks))
    if all is not None and result.machine is not None and result.all is None:
        result = replace(result, remarks=(*result.remarks, UNPROVEN))
    if hint := watch.hint_for(result) or hint_at_noise(result, learner, traces):
        result = replace(result, remarks=(*result.remarks, hint))
    if result.machine is None or result.interrupted:
        return result
    own = _own_functions(result, options)
    support, once = count_support(result.machine, traces, **own), _hardly_repeats(result, traces)
    return replace(result, support=support, labels_hardly_repeat=once)


def _hardly_repeats(result: LearnResult, traces: Traces) -> bool:
    """Whether most reward labels occur once, so that one state is enough: with one, each of them has one entry."""
    machine = result.machine
    if machine is None or machine.states > 1 or machine.has_guards:
        return False
    return 2 * len(machine.rewards) > traces.steps >= MANY_STEPS


def _learn_and_choose_noise(
    episodes: Episodes | EpisodeStream,
    time_limit: float | None,
    on_progress: Callable[[Progress], None] | None,
    count_steps: bool,
    options: LearnOptions,
) -> LearnResult:
    """Where ``tolerance`` or ``outliers`` are auto: chosen first, then the search that proves what is smallest."""
    warm_up()
    warm_up_for_noise()
    start = time.monotonic()
    if _asks_for_guards(options):
        options = {**options, "trigger_on": GUARDS}
    exactly: LearnOptions = {**options, "tolerance": 0.0, "outliers": 0}
    learner, note = Learner(**exactly), ""  # refuses what cannot be
    tolerance, outliers = options.get("tolerance", 0.0), options.get("outliers", 0)
    given = Allowance(0.0 if tolerance == AUTO else tolerance, 0 if outliers == AUTO else outliers)
    traces = episodes.read() if isinstance(episodes, EpisodeStream) else as_traces(episodes)
    check_spread(traces.rewards)
    if _leaves_labels_open(options) and (note := why_guards(traces, tolerance)):
        options, exactly = {**options, "trigger_on": GUARDS}, {**exactly, "trigger_on": GUARDS}
        learner = Learner(**exactly)
    with interruptible():  # one Ctrl-C for the choice and for the search after it
        chosen = choose_allowance(
            learner,
            traces,
            None if tolerance == AUTO else given.tolerance,
            None if outliers == AUTO else given.outliers,
            None if time_limit is None else time_limit / 2,
            on_progress,
        )
        left = None if time_limit is None else max(LEAST_LIMIT, time_limit - (time.monotonic() - start))
        if chosen.point is None:
            result = learn(traces, time_limit=left, on_progress=on_progress, count_steps=count_steps, **exactly)
            chosen = with_own_machine(chosen, result, traces, learner.options.explain)
            if chosen.stopped and result.status == "unrealisable":  # with some allowance they are explained
                result = replace(result, status="unknown", contradiction=None)
            remarks = (*result.remarks, STOPPED_CHOICE) if chosen.stopped else result.remarks
            noise = Noise(0.0, 0, (), chosen.front, chosen.margin, chosen.stopped)
            return replace(result, noise=noise, remarks=remarks, seconds=time.monotonic() - start)
        point, allowance = chosen.point, chosen.point.allowance
        noisy: LearnOptions = {**options, "tolerance": allowance.tolerance, "outliers": allowance.outliers}
        if point.candidate is not None:
            noisy |= {"before": point.before}
        else:
            noisy |= {"trigger_on": point.labels[0], "reward_on": point.labels[1]}
        first: Delta | Begun | Candidate = point.delta if point.candidate is None else point.candidate
        result = Learner(**noisy).learn(traces, time_limit=left, on_progress=on_progress, first=point.begun or first)
    remarks = (note, *result.remarks, name_one_level(traces, allowance), STOPPED_CHOICE if chosen.stopped else "")
    result = replace(result, remarks=tuple(filter(None, remarks)))
    result = with_noise(result, traces, allowance, _own_functions(result, options), learner.options.explain)
    assert result.noise is not None
    noise = replace(result.noise, front=chosen.front, margin=chosen.margin, stopped=chosen.stopped)
    many = name_many_outliers(traces, noise)
    remarks = (*result.remarks, many) if many else result.remarks
    once = _hardly_repeats(result, traces)
    return replace(result, noise=noise, remarks=remarks, labels_hardly_repeat=once, seconds=time.monotonic() - start)


def _own_functions(result: LearnResult, options: LearnOptions) -> MachineFunctions:
    """The functions that made labels and features, where they did."""
    return {
        "trigger_on": options.get("trigger_on") if result.trigger_on == "function" else None,
        "reward_on": options.get("reward_on") if result.reward_on == "function" else None,
        "features": options.get("features"),
    }


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
    return all(options.get(name, value) == value for name, value in usual.items())
