"""The machine's own format: stable bytes, and errors with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from markovize.errors import InputError, MachineError
from markovize.io.machines.json import machine_text, read_machine_json, write_machine_json
from markovize.machine.machine import Emission, RewardMachine, Trigger

MACHINE = RewardMachine(
    "state",
    "transition",
    3,
    (Trigger(0, (1, 1), 1, ((1, 2), "ü")), Trigger(1, "\ud800", 2)),
    (Emission(0, ((0, 1), "up", (1, 1)), 1, 0.5), Emission(2, True, 2, -1.0, True)),
    1,
)


def test_round_trip_is_exact_and_bytes_are_stable(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_machine_json(path, MACHINE)
    first = path.read_bytes()
    again = read_machine_json(path)
    assert again == MACHINE
    write_machine_json(path, again)
    assert path.read_bytes() == first


def test_one_trigger_or_reward_a_line() -> None:
    lines = machine_text(MACHINE).splitlines()
    assert '    {"from": 0, "on": [1, 1], "to": 1, "alternatives": [[1, 2], "ü"]},' in lines
    assert '    {"from": 2, "on": true, "to": 2, "reward": -1.0, "terminal": true}' in lines
    assert machine_text(MACHINE).endswith("}\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "format": oops\n}', ':2:13: field "format": not JSON'),
        ("", ":1:1: not JSON"),
        ("[" * 100_000, ": not usable: nested too deeply"),
        ('{"a": 1, "a": 2}', ': field "a" appears twice'),
        ("[]", ": a machine is a JSON object, not list"),
        ('{"format": "%s"}' % ("x" * 10_000), ': "format" must be'),
        ('{"format": "a\\nb"}', ': "format" must be'),
        (b"\xff\xff", ": not UTF-8"),
    ],
)
def test_errors_carry_their_place(tmp_path: Path, text: str | bytes, expected: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError) as caught:
        read_machine_json(path)
    message = str(caught.value)
    assert f"{path}{expected}" in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 200


def test_a_machine_that_makes_no_sense(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(machine_text(RewardMachine("state", "state", 3, MACHINE.triggers[:1])).replace(": 3", ": 1"))
    with pytest.raises(MachineError, match=r"m\.json: .*not one of 0…0"):
        read_machine_json(path)
