"""Reading and writing machines takes work in proportion to their size; work is counted, since clocks are noisy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from markovize import Feature, Guard, Literal
from markovize.io import MACHINES, read_machine, write_machine
from markovize.machine.machine import Emission, RewardMachine, Trigger

SMALL, LARGE = 60, 600
MOST = 1.25 * LARGE / SMALL

READ = {format.name for format in MACHINES if format.read is not None}


def chain(states: int) -> RewardMachine:
    """A chain with few labels, as the text format needs it, and many rewards."""
    triggers = tuple(Trigger(n, n % 40, n + 1) for n in range(states - 1))
    pays = tuple(Emission(n, n % 40, n + 1, float(n % 3)) for n in range(states - 1))
    stays = tuple(Emission(n, ("stay", n), n, 0.5) for n in range(states))
    return RewardMachine("state", "state", states, triggers, pays + stays)


def guarded_chain(states: int) -> RewardMachine:
    """The same with guards."""
    guards = [Guard([Literal("x", "at_least", n), Literal("x", "below", n + 1)]) for n in range(states - 1)]
    return RewardMachine(
        "guards",
        "guards",
        states,
        tuple(Trigger(n, guard, n + 1) for n, guard in enumerate(guards)),
        tuple(Emission(n, (), n + 1, float(n % 3)) for n in range(states - 1)),
        features=(Feature("x", "numeric"),),
    )


def work(function: Callable[[], object]) -> int:
    """How many instructions of Python code are executed."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("format", [format.name for format in MACHINES])
def test_work_grows_with_the_size(tmp_path: Path, format: str) -> None:
    writing, reading = [], []
    for states in (10, SMALL, LARGE):  # the first loads modules and fills caches
        path, machine = tmp_path / "machine", guarded_chain(states) if format in ("py", "smt2") else chain(states)
        writing.append(work(lambda: write_machine(path, machine, format=format)))  # noqa: B023 - called at once
        if format in READ:
            reading.append(work(lambda: read_machine(path, format=format)))  # noqa: B023 - called at once
    assert writing[2] < MOST * writing[1]
    assert format not in READ or reading[2] < MOST * reading[1]


@pytest.mark.long
@pytest.mark.parametrize("format", ["json", "txt", "dot"])
def test_a_million_states(tmp_path: Path, format: str) -> None:
    """As many states as a machine may have: with quadratic work this would never end."""
    machine = RewardMachine("state", "state", 1_000_000, (Trigger(0, "a", 999_999),), (Emission(999_999, "b", 0, 1.0),))
    if format != "json":
        machine = RewardMachine("state", "state", 1_000_000, (Trigger(0, "a", 999_999),))
    path = tmp_path / "machine"
    write_machine(path, machine, format=format)
    assert read_machine(path, format=format) == machine
