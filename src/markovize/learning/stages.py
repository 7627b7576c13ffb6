"""The stages of one call: recall what is known, search, assemble. From options, a memory and episodes to a result.

:mod:`~markovize.learning.recall` labels the steps, merges them into a tree and decides whether any machine explains
them; :mod:`~markovize.learning.comparison` decides under which labels; :mod:`~markovize.learning.search` finds the
triggers; :mod:`~markovize.learning.assembly` makes them a machine.
"""

from __future__ import annotations

from dataclasses import replace

from markovize.learning.attempt import Attempt, begin
from markovize.learning.call import Call, Options
from markovize.learning.comparison import choose
from markovize.learning.judge import size
from markovize.learning.limits import Stop
from markovize.learning.memory import Memory
from markovize.learning.recall import Recalled, recall_coarsest
from markovize.learning.result import Compared, LearnResult


def answer(options: Options, memory: Memory, call: Call) -> tuple[LearnResult, Memory]:
    """The result of a call, and what to remember from now on."""
    try:
        recalled, refuted = recall_coarsest(options, memory, call, call.limits.a_moment_more())
    except Stop:  # before there was anything to search in
        return blank(options), memory
    contradiction = recalled.problem.contradiction
    if contradiction is not None:
        return replace(_blank_for(recalled, options), status="unrealisable", contradiction=contradiction), memory
    chosen = begin(options, memory, call, recalled)
    tried = [chosen]
    if call.effort is None:
        chosen, tried = choose(options, memory, call, chosen)
    else:  # who limits the effort wants a machine soon
        chosen.run()
    result = chosen.result(call, _blank_for(chosen.recalled, options), call.limits.a_moment_more())
    if len(tried) > 1:
        result = replace(result, compared=tuple(_compared(attempt) for attempt in tried))
    known = {**memory.known, **{attempt.recalled.number: attempt.known() for attempt in tried}}
    return result, Memory(refuted, chosen.recalled.number, known)


def blank(options: Options) -> LearnResult:
    """Nothing is known."""
    sizes, name = (1, 0), options.engine.name
    return LearnResult(
        "unknown", None, sizes, options.objective, options.acyclic, name, 0.0, 0, explain=options.explain
    )


def _blank_for(recalled: Recalled, options: Options) -> LearnResult:
    """Nothing is known but the labels, and the episodes."""
    steps = recalled.problem.steps
    trigger_on, reward_on = steps.triggers.kind, steps.rewards.kind
    return replace(blank(options), trigger_on=trigger_on, reward_on=reward_on, identity=recalled.identity)


def _compared(attempt: Attempt) -> Compared:
    steps, best = attempt.recalled.problem.steps, attempt.best
    sizes = (None, None) if best is None else size(best)
    return Compared(steps.triggers.kind, steps.rewards.kind, attempt.status, *sizes)
