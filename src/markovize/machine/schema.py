"""What the JSON of a machine must hold, as types; what the values must be is for the machine to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from markovize.episodes.features.feature import Feature
from markovize.episodes.features.guard import Guard
from markovize.episodes.labelling import kind_names, labelling_named
from markovize.episodes.labelling.guards import GUARDS, ValuationLabelling
from markovize.episodes.schema import fit
from markovize.episodes.values import Value, canonical
from markovize.errors import InputError, MachineError, one_line
from markovize.machine.parts import Share

F = TypeVar("F", bound=Struct)
P = TypeVar("P")
R = TypeVar("R")

FORMAT: Final = "markovize.reward-machine"
VERSION: Final = 1
VERSION_WITH_GUARDS: Final = 2


class TriggerFields(Struct):
    """An entry of ``triggers``."""

    on: Any
    source: int = field(name="from")
    target: int = field(name="to")
    alternatives: list[Any] = []  # msgspec copies it


class ShareFields(Struct):
    """An entry of a reward's ``distribution``: a reward, or from where to where a group of rewards goes."""

    count: int
    reward: float | None = None
    low: float | None = field(name="from", default=None)
    high: float | None = field(name="to", default=None)


class EmissionFields(Struct):
    """An entry of ``rewards``."""

    on: Any
    reward: float
    source: int = field(name="from")
    target: int = field(name="to")
    terminal: bool = False
    spread: float = 0.0
    count: int = 0
    distribution: list[ShareFields] = []


class MachineFields(Struct):
    """The whole; fields with other names are ignored."""

    trigger_on: Any
    reward_on: Any
    states: int
    triggers: list[TriggerFields]
    rewards: list[EmissionFields]
    initial: int = 0


class GuardedTriggerFields(Struct):
    """An entry of ``triggers`` where triggers are guards."""

    when: list[Any]
    source: int = field(name="from")
    target: int = field(name="to")
    alternatives: list[Any] = []


class FeatureFields(Struct):
    """An entry of ``features``."""

    name: str
    kind: str


class GuardedFields(Struct):
    """The whole of version 2."""

    trigger_on: Any
    reward_on: Any
    features: list[FeatureFields]
    states: int
    triggers: list[GuardedTriggerFields]
    rewards: list[EmissionFields]
    reward_guards: list[Any] = []
    initial: int = 0


@dataclass(frozen=True)
class ReadFields:
    """What was read, of either version: labels, guards and features are values, and the kinds may still be anything."""

    trigger_on: Any
    reward_on: Any
    states: int
    triggers: list[TriggerFields]
    rewards: list[EmissionFields]
    initial: int
    features: tuple[Feature, ...] = ()
    reward_guards: tuple[Guard, ...] = ()


def read_fields(data: object) -> ReadFields:
    """The fields of a machine's JSON, their labels read as the machine's kinds of labels have it.

    >>> read_fields({"format": "something else"})
    Traceback (most recent call last):
    markovize.errors.MachineError: "format" must be "markovize.reward-machine", not 'something else'
    """
    if not isinstance(data, dict):
        raise MachineError(f"a machine is a JSON object, not {type(data).__name__}")
    version = data.get("version")
    for name, known in (("format", (FORMAT,)), ("version", (VERSION, VERSION_WITH_GUARDS))):
        if data.get(name) not in known or isinstance(data.get(name), bool):
            quoted = " or ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in known)
            raise MachineError(f'"{name}" must be {quoted}, not {data.get(name)!r}')
    fields = _read_plain(data) if version == VERSION else _read_guarded(data)
    from_json = _reader(fields)
    for number, emission in enumerate(fields.rewards):
        emission.on = _part(from_json, emission.on, f'"rewards"[{number}]: field "on"')
    return fields


def _read_plain(data: object) -> ReadFields:
    plain = _fit(data, MachineFields)
    if GUARDS in (plain.trigger_on, plain.reward_on):
        raise MachineError(f'guards need "version": {VERSION_WITH_GUARDS}, not {VERSION}')
    known = isinstance(plain.trigger_on, str) and plain.trigger_on in kind_names()
    from_json = labelling_named(plain.trigger_on).from_json if known else canonical
    for number, trigger in enumerate(plain.triggers):
        place = f'"triggers"[{number}]: field'
        trigger.on = _part(from_json, trigger.on, f'{place} "on"')
        trigger.alternatives = [_part(from_json, raw, f'{place} "alternatives"') for raw in trigger.alternatives]
    return ReadFields(plain.trigger_on, plain.reward_on, plain.states, plain.triggers, plain.rewards, plain.initial)


def _read_guarded(data: dict[str, Any]) -> ReadFields:
    if "trigger_on" in data and data["trigger_on"] != GUARDS:
        shown = one_line(repr(data["trigger_on"]), 40)
        raise MachineError(f'"trigger_on" must be "{GUARDS}" in version {VERSION_WITH_GUARDS}, not {shown}')
    found = _fit(data, GuardedFields)
    triggers = []
    for number, trigger in enumerate(found.triggers):
        place = f'"triggers"[{number}]: field'
        guard = _part(Guard.from_json, trigger.when, f'{place} "when"')
        others = [_part(Guard.from_json, raw, f'{place} "alternatives"') for raw in trigger.alternatives]
        triggers.append(TriggerFields(guard, trigger.source, trigger.target, others))
    return ReadFields(
        found.trigger_on,
        found.reward_on,
        found.states,
        triggers,
        found.rewards,
        found.initial,
        tuple(_part(_feature, raw, f'"features"[{number}]') for number, raw in enumerate(found.features)),
        tuple(_part(Guard.from_json, raw, f'"reward_guards"[{n}]') for n, raw in enumerate(found.reward_guards)),
    )


def read_shares(listed: list[ShareFields]) -> tuple[Share, ...]:
    """The distribution of a reward; nothing where there is none."""
    out = []
    for share in listed:
        low, high = (share.low, share.high) if share.reward is None else (share.reward, share.reward)
        if low is None or high is None:
            raise MachineError('an entry of "distribution" has a "reward", or "from" and "to"')
        out.append(Share(low, high, share.count))
    return tuple(out)


def _feature(raw: FeatureFields) -> Feature:
    return Feature(raw.name, raw.kind)  # type: ignore[arg-type]  # the feature checks it


def _reader(fields: ReadFields) -> Callable[[object], Value]:
    """What reads the labels of rewards; an unknown kind is for the machine to refuse."""
    kind = fields.reward_on
    if kind == GUARDS:
        return ValuationLabelling(fields.features, fields.reward_guards).from_json
    return labelling_named(kind).from_json if isinstance(kind, str) and kind in kind_names() else canonical


def _fit(data: object, kind: type[F]) -> F:
    try:
        return fit(data, kind, "a machine")
    except InputError as error:
        raise MachineError(str(error)) from None


def _part(read: Callable[[R], P], raw: R, place: str) -> P:
    try:
        return read(raw)
    except InputError as error:
        raise MachineError(f"{place}: {error}") from None
