"""The machine behind a reward of history, if it is a small one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from markovize.auditing.logbook import Logbook
from markovize.episodes.labelling import LabelFunctions
from markovize.episodes.traces import Episode, Traces
from markovize.episodes.values import Value
from markovize.errors import InputError
from markovize.learning.entry import learn
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import replay

LARGEST_MACHINE: Final = 8
MOST_LEARNED: Final = 20_000  # steps at first
ROUNDS: Final = 4  # of learning from more

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


def history_beside_noise(logbook: Logbook, seconds: float) -> str:
    """Where rewards are random: that their chances depend on history, if that is significant; else nothing."""
    traces = Traces.of(logged.episode for logged in logbook.episodes)
    try:
        found = learn(traces, reward="random", time_limit=seconds)
    except InputError:  # observations that are no labels
        return ""
    if found.chance is None or found.states in (None, 1):
        return ""
    return (
        f"Beside the noise there is history: a machine with {found.states} states tells significantly better what to "
        f"expect (alpha {found.chance.alpha:g}); learn it with --reward random."
    )


def find_machine(logbook: Logbook, seconds: float) -> RewardMachine | None:
    """The smallest machine behind the rewards; None if none of two to eight states was found in this time.

    It is learned from some episodes and replayed on all; what it fails on joins them, some times.
    """
    end = time.monotonic() + seconds
    episodes = [logged.episode for logged in logbook.episodes]
    everything, chosen = Traces.of(episodes), _first(episodes, MOST_LEARNED)
    for _ in range(ROUNDS):
        machine, trigger_on = _smallest(Traces.of(chosen), end)
        if machine is None:
            return None
        functions: LabelFunctions = {} if isinstance(trigger_on, str) else {"trigger_on": trigger_on}
        wrong = replay(machine, everything, **functions).first_mismatch
        if wrong is None:
            return machine if machine.states > 1 else None
        chosen += _first(episodes[wrong[0] :], MOST_LEARNED // 4)
    return None


def _smallest(traces: Traces, end: float) -> tuple[RewardMachine | None, TriggerOn]:
    """The smallest machine of all attempts, and what its triggers are on."""
    found: list[tuple[RewardMachine, TriggerOn]] = []
    for trigger_on, share in ATTEMPTS:
        left = end - time.monotonic()
        if left <= 0.1 or (trigger_on == "source" and found):
            break
        reward_on = "auto" if isinstance(trigger_on, str) else "transition"  # an action alone says little of a reward
        result = learn(traces, trigger_on=trigger_on, reward_on=reward_on, time_limit=left * share)
        if result.machine is not None and result.machine.states <= LARGEST_MACHINE:
            found.append((result.machine, trigger_on))
    # of equal machines the one whose labels need no function
    return min(
        found,
        key=lambda one: (one[0].states, len(one[0].triggers), one[0].trigger_on == "function"),
        default=(None, "auto"),
    )


def _first(episodes: Sequence[Episode], most: int) -> list[Episode]:
    """The first of these, with so many steps or a few more."""
    out: list[Episode] = []
    for episode in episodes:
        if most < 0:
            break
        most -= episode.steps
        out.append(episode)
    return out
