"""A machine in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from markovize.episodes.labels import LabelKind
from markovize.episodes.values import Value, show
from markovize.machine.machine import RewardMachine, sorted_emissions, sorted_triggers
from markovize.machine.summary import label_text, usual_reward


def describe(machine: RewardMachine, *, rewards: bool = False, most: int = 3) -> list[str]:
    """One sentence for each trigger and, if asked for, for each reward that differs from the usual one.

    >>> from markovize.machine.machine import Trigger
    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1, ((1, 2), (2, 1))),))
    >>> describe(machine)
    ['in state 0, entering (1, 1) → state 1 (2 other labels fit as well: (1, 2), (2, 1))']
    """
    lines = []
    for trigger in sorted_triggers(machine.triggers):
        line = f"in state {trigger.source}, {words(machine.trigger_on, trigger.on)} → state {trigger.target}"
        lines.append(line + _alternatives(machine.trigger_on, trigger.alternatives, most))
    if not lines:
        lines.append(f"no triggers: the machine stays in state {machine.initial}")
    if not rewards:
        return lines
    usual = usual_reward(machine)
    for emission in sorted_emissions(machine.rewards):
        if emission.reward != usual or emission.terminal:
            end = " and ends the episode" if emission.terminal else ""
            move = "" if emission.target == emission.source else f" → state {emission.target}"
            what = words(machine.reward_on, emission.on)
            lines.append(f"in state {emission.source}, {what}{move} pays {emission.reward:.6g}{end}")
    return lines


def words(kind: LabelKind, label: Value) -> str:
    """What happens in a step with this label.

    >>> words("state", (1, 1)), words("transition", (0, "up", 1)), words("function", "coffee")
    ('entering (1, 1)', 'going from 0 by up to 1', 'seeing coffee')
    """
    if kind == "transition" and isinstance(label, tuple) and len(label) == 3:
        return f"going from {show(label[0])} by {show(label[1])} to {show(label[2])}"
    return f"{'entering' if kind == 'state' else 'seeing'} {show(label)}"


def _alternatives(kind: LabelKind, labels: Sequence[Value], most: int) -> str:
    if not labels:
        return ""
    shown = ", ".join(label_text(kind, label, 60) for label in labels[:most])
    more = ", …" if len(labels) > most else ""
    count = "1 other label fits" if len(labels) == 1 else f"{len(labels)} other labels fit"
    return f" ({count} as well: {shown}{more})"
