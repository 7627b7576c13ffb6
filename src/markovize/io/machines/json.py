"""The reward machine as JSON, this package's own format: stable bytes, one trigger or reward a line."""

from __future__ import annotations

import json
from typing import Any

from markovize.episodes.strict_json import strict_json
from markovize.errors import InputError, MachineError, one_line
from markovize.io.files import atomic_write, readable
from markovize.io.registry import AnyPath
from markovize.machine.machine import RewardMachine


def machine_text(machine: RewardMachine) -> str:
    """The machine as the file holds it.

    >>> print(machine_text(RewardMachine("state", "state", 1)))
    {
      "format": "markovize.reward-machine",
      "version": 1,
      "trigger_on": "state",
      "reward_on": "state",
      "states": 1,
      "initial": 0,
      "triggers": [],
      "rewards": []
    }
    <BLANKLINE>
    """
    fields = [f"  {json.dumps(name)}: {_field(value)}" for name, value in machine.to_json().items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def write_machine_json(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the machine; equal machines give equal bytes."""
    atomic_write(path, machine_text(machine))


def read_machine_json(path: AnyPath) -> RewardMachine:
    """Reads a machine; errors carry the file name, and line:column where the JSON is broken."""
    path = readable(path)
    data = path.read_bytes()
    name = one_line(path)
    try:
        fields = strict_json(data)
    except InputError as error:
        raise InputError(one_line(error), where=name + _place(data)) from None
    try:
        return RewardMachine.from_json(fields)
    except MachineError as error:
        raise MachineError(one_line(error), where=name) from None


def _field(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join("    " + json.dumps(item, ensure_ascii=False) for item in value) + "\n  ]"


def _place(data: bytes) -> str:
    try:
        json.loads(data)
    except json.JSONDecodeError as error:
        return f":{error.lineno}:{error.colno}"
    except (ValueError, RecursionError):
        pass
    return ""
