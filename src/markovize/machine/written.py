"""A machine as its JSON file holds it: version 2 for machines with guards, version 1 for all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markovize.machine.schema import FORMAT, VERSION, VERSION_WITH_GUARDS

if TYPE_CHECKING:
    from markovize.machine.machine import RewardMachine
    from markovize.machine.parts import Trigger


def machine_fields(machine: RewardMachine) -> dict[str, Any]:
    """All fields, in the order of the file."""
    kinds = {"trigger_on": machine.trigger_on, "reward_on": machine.reward_on}
    size = {"states": machine.states, "initial": machine.initial}
    triggers = {"triggers": [_trigger(machine, trigger) for trigger in machine.triggers]}
    rewards = {
        "rewards": [
            {
                "from": e.source,
                "on": machine.reward_labels.to_json(e.on),
                "to": e.target,
                "reward": e.reward,
                "terminal": e.terminal,
                **({"spread": e.spread, "count": e.count} if e.count else {}),
                **({"distribution": [share.to_json() for share in e.distribution]} if e.distribution else {}),
            }
            for e in machine.rewards
        ]
    }
    if not machine.has_guards:
        return {"format": FORMAT, "version": VERSION, **kinds, **size, **triggers, **rewards}
    return {
        "format": FORMAT,
        "version": VERSION_WITH_GUARDS,
        **kinds,
        "features": [feature.to_json() for feature in machine.features],
        **size,
        **triggers,
        "reward_guards": [guard.to_json() for guard in machine.reward_guards],
        **rewards,
    }


def _trigger(machine: RewardMachine, trigger: Trigger) -> dict[str, Any]:
    to_json = machine.trigger_labels.to_json
    alternatives = {"alternatives": [to_json(label) for label in trigger.alternatives]}
    if not machine.has_guards:
        return {"from": trigger.source, "on": to_json(trigger.on), "to": trigger.target, **alternatives}
    when = {"from": trigger.source, "when": to_json(trigger.on), "to": trigger.target}
    return {**when, **alternatives} if trigger.alternatives else when
