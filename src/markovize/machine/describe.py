"""A machine in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from markovize.episodes.features.guard import Guard
from markovize.episodes.labelling import Labelling
from markovize.episodes.values import On
from markovize.machine.machine import RewardMachine, Trigger, sorted_emissions, sorted_triggers
from markovize.machine.parts import Emission
from markovize.machine.summary import usual_reward


def describe(machine: RewardMachine, *, rewards: bool = False, most: int = 3) -> list[str]:
    """One sentence for each trigger and, if asked for, for each reward that differs from the usual one.

    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1, ((1, 2), (2, 1))),))
    >>> describe(machine)
    ['in state 0, entering (1, 1) → state 1 (2 other labels fit as well: (1, 2), (2, 1))']
    """
    lines, labelling = [], machine.trigger_labels
    for trigger in sorted_triggers(machine.triggers):
        lines.append(describe_trigger(machine, trigger) + _alternatives(labelling, trigger.alternatives, most))
    if not lines:
        lines.append(f"no triggers: the machine stays in state {machine.initial}")
    if not rewards:
        return lines
    usual, labelling = usual_reward(machine), machine.reward_labels
    for emission in sorted_emissions(machine.rewards):
        if emission.level != usual or emission.terminal:
            end = " and ends the episode" if emission.terminal else ""
            move = "" if emission.target == emission.source else f" → state {emission.target}"
            what = labelling.describe(emission.on) + _unless(machine, emission)
            mean = " on average" if len(emission.distribution) > 1 else ""
            lines.append(f"in state {emission.source}, {what}{move} pays {emission.level:.6g}{mean}{end}")
    return lines


def _unless(machine: RewardMachine, emission: Emission) -> str:
    """The reward guards that must not hold, where it matters: with one of them more, something else is paid."""
    if not machine.reward_guards or not isinstance(emission.on, tuple) or not any(emission.on):
        return ""
    words: list[str] = []
    for number, guard in enumerate(machine.reward_guards):
        more = (*emission.on[:number], True, *emission.on[number + 1 :])
        other = None if emission.on[number] else machine.emission(emission.source, more, emission.target)
        if other is not None and (other.level, other.terminal) != (emission.level, emission.terminal):
            words.append(guard.text())
    return f" unless {' or '.join(words)}" if words else ""


def describe_trigger(machine: RewardMachine, trigger: Trigger) -> str:
    """What moves the machine, and where.

    >>> describe_trigger(RewardMachine("state", "state", 2), Trigger(0, "door", 1))
    'in state 0, entering door → state 1'
    """
    return f"in state {trigger.source}, {machine.trigger_labels.describe(trigger.on)} → state {trigger.target}"


def _alternatives(labelling: Labelling, labels: Sequence[On], most: int) -> str:
    if not labels:
        return ""
    shown = ", ".join(labelling.text(label, 60) for label in labels[:most])
    more = ", …" if len(labels) > most else ""
    what = "guard" if isinstance(labels[0], Guard) else "label"
    count = f"1 other {what} fits" if len(labels) == 1 else f"{len(labels)} other {what}s fit"
    return f" ({count} as well: {shown}{more})"


def describe_gaps(machine: RewardMachine) -> list[str]:
    """For each threshold of a machine's guards, the interval in which it may lie, as the data have it.

    >>> from markovize.episodes.features import Feature, Guard, Literal
    >>> inside = Guard([Literal("x", "at_least", 7.0, (6.98, 7.03))])
    >>> x = Feature("x", "numeric")
    >>> describe_gaps(RewardMachine("guards", "state", 2, (Trigger(0, inside, 1),), features=(x,)))
    ['x ≥ 7 from 6.98 to 7.03']
    """
    guards = [trigger.on for trigger in sorted_triggers(machine.triggers) if isinstance(trigger.on, Guard)]
    literals = [literal for guard in (*guards, *machine.reward_guards) for literal in guard]
    return [f"{at.text()} from {at.gap[0]:.6g} to {at.gap[1]:.6g}" for at in literals if at.gap is not None]
