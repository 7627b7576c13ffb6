"""What the JSON of a machine must hold, as types; what the values must be is for the machine to say."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field


class TriggerFields(Struct):
    """An entry of ``triggers``."""

    on: Any
    source: int = field(name="from")
    target: int = field(name="to")
    alternatives: list[Any] = []  # msgspec copies it


class EmissionFields(Struct):
    """An entry of ``rewards``."""

    on: Any
    reward: float
    source: int = field(name="from")
    target: int = field(name="to")
    terminal: bool = False


class MachineFields(Struct):
    """The whole; fields with other names are ignored."""

    trigger_on: Any
    reward_on: Any
    states: int
    triggers: list[TriggerFields]
    rewards: list[EmissionFields]
    initial: int = 0
