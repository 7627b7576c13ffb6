"""The machine behind a reward of history, if it is a small one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from markovize.auditing.logbook import Logbook
from markovize.episodes.traces import Episode, Traces
from markovize.episodes.values import Value
from markovize.learning.learner import learn
from markovize.machine.machine import RewardMachine

LARGEST_MACHINE: Final = 8
MOST_LEARNED: Final = 20_000  # steps

TriggerOn: TypeAlias = str | Callable[[Value, Value, Value], Value]


def action_of(state: Value, action: Value, next_state: Value) -> Value:  # noqa: ARG001 - a function of steps
    """A step by its action: what was done is remembered, wherever it was done.

    >>> action_of("hall", "push", "office")
    'push'
    """
    return action


# What may move the machine, and the share of the time that is left. Actions come first: they are few, so that an answer
# takes a fraction of a second, where a history of actions in a world with hundreds of states takes for ever otherwise.
ATTEMPTS: Final[tuple[tuple[TriggerOn, float], ...]] = ((action_of, 0.25), ("auto", 0.6), ("source", 1.0))


def find_machine(logbook: Logbook, seconds: float) -> RewardMachine | None:
    """The smallest machine behind the rewards; None if none of at most eight states was found in this time."""
    traces = Traces.of(_some(logbook))
    end = time.monotonic() + seconds
    found: list[RewardMachine] = []
    for trigger_on, share in ATTEMPTS:
        left = end - time.monotonic()
        if left <= 0.1 or (trigger_on == "source" and found):
            break
        reward_on = "auto" if isinstance(trigger_on, str) else "transition"  # an action alone says little of a reward
        result = learn(traces, trigger_on=trigger_on, reward_on=reward_on, time_limit=left * share)
        if result.machine is not None and result.machine.states <= LARGEST_MACHINE:
            found.append(result.machine)
    # of equal machines the one whose labels need no function
    return min(found, key=lambda one: (one.states, len(one.triggers), one.trigger_on == "function"), default=None)


def _some(logbook: Logbook) -> Iterator[Episode]:
    """The first episodes, as many as learning can look at in the time."""
    steps = 0
    for logged in logbook.episodes:
        if steps > MOST_LEARNED:
            return
        steps += logged.episode.steps
        yield logged.episode
