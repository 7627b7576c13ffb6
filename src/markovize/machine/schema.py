"""What the JSON of a machine must hold, as types; what the values must be is for the machine to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, field

from markovize.episodes.labelling import kind_names, labelling_named
from markovize.episodes.schema import fit
from markovize.episodes.values import Value, canonical
from markovize.errors import InputError, MachineError

FORMAT: Final = "markovize.reward-machine"
VERSION: Final = 1


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


def read_fields(data: object) -> MachineFields:
    """The fields of a machine's JSON, their labels read as the machine's kinds of labels have it.

    >>> read_fields({"format": "something else"})
    Traceback (most recent call last):
    markovize.errors.MachineError: "format" must be "markovize.reward-machine", not 'something else'
    """
    if not isinstance(data, dict):
        raise MachineError(f"a machine is a JSON object, not {type(data).__name__}")
    for name, expected in (("format", FORMAT), ("version", VERSION)):
        if data.get(name) != expected or isinstance(data.get(name), bool):
            quoted = f'"{expected}"' if isinstance(expected, str) else expected
            raise MachineError(f'"{name}" must be {quoted}, not {data.get(name)!r}')
    try:
        fields = fit(data, MachineFields, "a machine")
    except InputError as error:
        raise MachineError(str(error)) from None
    from_json = _reader(fields.trigger_on)
    for number, trigger in enumerate(fields.triggers):
        place = f'"triggers"[{number}]: field'
        trigger.on = _label(from_json, trigger.on, f'{place} "on"')
        trigger.alternatives = [_label(from_json, raw, f'{place} "alternatives"') for raw in trigger.alternatives]
    from_json = _reader(fields.reward_on)
    for number, emission in enumerate(fields.rewards):
        emission.on = _label(from_json, emission.on, f'"rewards"[{number}]: field "on"')
    return fields


def _reader(kind: object) -> Callable[[object], Value]:
    """What reads the labels of a kind; an unknown one is for the machine to refuse."""
    return labelling_named(kind).from_json if isinstance(kind, str) and kind in kind_names() else canonical


def _label(from_json: Callable[[object], Value], raw: object, place: str) -> Value:
    try:
        return from_json(raw)
    except InputError as error:
        raise MachineError(f"{place}: {error}") from None
