"""A machine in few words, for pictures: one arrow for each pair of states, a few short lines on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markovize.episodes.labelling import Labelling
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.values import Value, key_of, sort_key
from markovize.machine.machine import Emission, RewardMachine, sorted_triggers

if TYPE_CHECKING:
    from markovize.machine.support import Support


@dataclass(frozen=True)
class Arrow:
    """All that is worth saying about going from ``source`` to ``target``, line by line."""

    source: int
    target: int
    lines: tuple[str, ...]


def arrows(machine: RewardMachine, support: Sequence[Support] = (), *, most_lines: int = 4) -> list[Arrow]:
    """The arrows of a picture, self-loops included where a reward differs from the usual one or an episode ends.

    Where ``support`` is known, each trigger says how many steps fired it, and how many paid ones need it.

    >>> from markovize.machine.machine import Trigger
    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1, ((1, 2),)),), (Emission(1, 5, 1, 1.0, True),
    ...     Emission(0, 5, 0, 0.0), Emission(0, 6, 0, 0.0)))
    >>> [(a.source, a.target, a.lines) for a in arrows(machine)]
    [(0, 1, ('(1, 1) +1 alike',)), (1, 1, ('5: reward 1, end',))]
    """
    matters, labelling = notable_rewards(machine), machine.trigger_labels
    triggers: dict[tuple[int, int], list[list[str]]] = {}
    known = {(each.trigger.source, key_of(each.trigger.on)): each for each in support}
    for trigger in sorted_triggers(machine.triggers):
        *above, text = labelling.lines(trigger.on)
        if trigger.alternatives:
            text += f" +{len(trigger.alternatives)} alike"
        pair = (trigger.source, trigger.target)
        if machine.trigger_on == machine.reward_on:  # trigger and reward share a line
            own = [e for e in matters.get(pair, ()) if sort_key(e.on) == sort_key(trigger.on)]
            if own:
                matters[pair].remove(own[0])
                text += f": {outcome_text(own[0].level, own[0].terminal)}"
        if (found := known.get((trigger.source, key_of(trigger.on)))) is not None:
            text += f" ({found.steps:,} step{'' if found.steps == 1 else 's'}, {found.paid:,} paid)"
        triggers.setdefault(pair, []).append([*above, text])
    out = []
    for pair in sorted({*triggers, *matters}):
        said = triggers.get(pair, []) + _group_rewards(machine.reward_labels, matters.get(pair, ()))
        if said:
            out.append(Arrow(*pair, _cut(said, most_lines)))
    return out


def notable_rewards(machine: RewardMachine) -> dict[tuple[int, int], list[Emission]]:
    """By source and target, the rewards worth a word: all that differ from the usual one, or end an episode."""
    usual = usual_reward(machine)
    out: dict[tuple[int, int], list[Emission]] = {}
    for emission in machine.rewards:
        if emission.level != usual or emission.terminal:
            out.setdefault((emission.source, emission.target), []).append(emission)
    return out


def usual_reward(machine: RewardMachine) -> float:
    """The most common level of steps that end nothing, which pictures leave out; of several the one nearest to zero.

    >>> usual_reward(RewardMachine("state", "state", 1))
    0.0
    """
    counts = Counter(emission.level for emission in machine.rewards if not emission.terminal)
    return max(counts, key=lambda reward: (counts[reward], -abs(reward), reward), default=0.0)


def outcome_text(reward: float, terminal: bool) -> str:
    """What a step brings.

    >>> outcome_text(1.0, True), outcome_text(-0.5, False)
    ('reward 1, end', 'reward -0.5')
    """
    return f"reward {reward:.6g}" + (", end" if terminal else "")


def _group_rewards(labelling: Labelling, emissions: Iterable[Emission]) -> list[list[str]]:
    """What pays, and what it pays: on a line each, or on several where a label takes more than one."""
    groups: dict[tuple[float, bool], list[Value]] = {}
    for emission in emissions:
        groups.setdefault((emission.level, emission.terminal), []).append(emission.on)
    out = []
    most = 1 if len(labelling.parts) > 1 else 2
    for (reward, terminal), labels in sorted(groups.items(), key=lambda item: (-item[0][0], item[0][1])):
        labels = sorted(labels, key=sort_key)
        *above, shown = _list_labels(labelling, labels[:most])
        more = f", … +{len(labels) - most}" if len(labels) > most else ""
        out.append([*above, f"{shown}{more}: {outcome_text(reward, terminal)}"])
    return out


def _list_labels(labelling: Labelling, labels: Sequence[Value]) -> list[str]:
    whole = ", ".join(labelling.text(label, 20) for label in labels)
    if labelling.exact and labelling.kind != GUARDS:
        return [whole]
    *before, last = [labelling.lines(label) for label in labels]
    return [line for lines in before for line in [*lines[:-1], f"{lines[-1]} or"]] + last


def _cut(said: list[list[str]], most: int) -> tuple[str, ...]:
    """The lines of the first of many things that are said of an arrow."""
    if len(said) > most:
        said = [*said[: most - 1], [f"… +{len(said) - most + 1}"]]
    return tuple(line for lines in said for line in lines)
