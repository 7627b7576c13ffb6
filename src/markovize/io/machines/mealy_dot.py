"""Reward machines as Mealy machines in DOT, as AALpy writes and reads them: inputs are labels, outputs are rewards.

::

    digraph reward_machine {
    trigger_on="state";
    s0 [label="s0"];
    s1 [label="s1"];
    s0 -> s1 [label="[1,1]/0"];
    s1 -> s1 [label="[4,4]/1" terminal="true"];
    __start0 [label="" shape="none"];
    __start0 -> s0;
    }

A reward that was never seen is ``?``; (state, label) pairs that were never seen have no edge.
"""

from __future__ import annotations

import json
from typing import Any, Final

from markovize.episodes.labelling import kind_names
from markovize.episodes.strict_json import strict_json
from markovize.episodes.values import Value, canonical, jsonable, key_of, show
from markovize.errors import InputError, MachineError, UnsupportedError, one_line
from markovize.io.files import atomic_write, read_text
from markovize.io.machines.dot_syntax import DotEdge, parse_dot
from markovize.io.machines.dot_tokens import quote
from markovize.io.machines.steps import known_steps, number_text
from markovize.io.registry import AnyPath
from markovize.machine.machine import Emission, RewardMachine, Trigger, sorted_emissions, sorted_triggers

_START: Final = "__start"
_UNSEEN: Final = "?"


def write_mealy_dot(path: AnyPath, machine: RewardMachine) -> None:
    """Writes the file, or refuses with the reason."""
    atomic_write(path, mealy_dot(machine))


def read_mealy_dot(path: AnyPath) -> RewardMachine:
    """Reads a Mealy machine whose outputs are numbers."""
    return parse_mealy_dot(read_text(path), one_line(path))


def mealy_dot(machine: RewardMachine) -> str:
    """The machine as DOT text.

    >>> print(mealy_dot(RewardMachine("state", "state", 2, (Trigger(0, "door", 1),))))
    digraph reward_machine {
    trigger_on="state";
    s0 [label="s0"];
    s1 [label="s1"];
    s0 -> s1 [label="door/?"];
    __start0 [label="" shape="none"];
    __start0 -> s0;
    }
    <BLANKLINE>
    """
    lines = ["digraph reward_machine {", f'trigger_on="{machine.trigger_on}";']
    lines += [f's{state} [label="s{state}"];' for state in range(machine.states)]
    for step in known_steps(machine, "Mealy DOT"):
        output = _UNSEEN if step.reward is None else number_text(step.reward)
        mark = ' terminal="true"' if step.terminal else ""
        lines.append(f"s{step.source} -> s{step.target} [label={quote(f'{_input(step.on)}/{output}')}{mark}];")
    lines += ['__start0 [label="" shape="none"];', f"__start0 -> s{machine.initial};", "}"]
    return "\n".join(lines) + "\n"


def parse_mealy_dot(text: str, name: str = "") -> RewardMachine:
    """Reads DOT text.

    >>> machine = parse_mealy_dot('digraph g { s0 -> s1 [label="a/2"]; __start0 -> s0; }')
    >>> machine.triggers[0].on, machine.reward(0, "a", 1)
    ('a', 2.0)
    """
    graph = parse_dot(text, name)
    starts = [edge for edge in graph.edges if edge.source.startswith(_START)]
    if len(starts) != 1:
        raise MachineError(f"needs one edge from __start0 to the initial state, not {len(starts)}", where=name)
    names = [node for node in graph.nodes if not node.startswith(_START)]
    numbered = [f"s{n}" for n in range(len(names))]
    # our own and AALpy's names keep their numbers; others are numbered as they appear
    number = {node: n for n, node in enumerate(numbered if set(numbered) == set(names) else names)}
    kind = graph.attributes.get("trigger_on", "function")
    if kind not in kind_names():
        raise MachineError(
            f'trigger_on must be one of {", ".join(kind_names())}, not "{one_line(kind, 40)}"', where=name
        )
    triggers: list[Trigger] = []
    rewards: list[Emission] = []
    seen: dict[Any, int] = {}
    for edge in graph.edges:
        where = f"{name}:{edge.line}"
        if edge.source.startswith(_START):
            continue
        label, reward = _read_edge(edge, where)
        source, target = number[edge.source], number.get(edge.target, -1)
        key = (source, key_of(label))
        if key in seen:
            shown = one_line(show(label), 40)
            raise MachineError(f"{one_line(edge.source, 40)} has two edges for {shown} (line {seen[key]})", where=where)
        seen[key] = edge.line
        if target != source:
            triggers.append(Trigger(source, label, target))
        if reward is not None:
            terminal = edge.attributes.get("terminal", "false").lower() == "true"
            rewards.append(Emission(source, label, target, reward, terminal))
    try:
        initial = number.get(starts[0].target, -1)
        return RewardMachine(kind, kind, len(names), sorted_triggers(triggers), sorted_emissions(rewards), initial)
    except MachineError as error:
        raise MachineError(one_line(error), where=name) from None


def _input(label: Value) -> str:
    text = label if isinstance(label, str) and _is_plain(label) else json.dumps(jsonable(label), separators=(",", ":"))
    if "/" in text:
        raise UnsupportedError(
            f'Mealy DOT writes input/output, and the label {one_line(text, 60)} contains a "/" itself'
        )
    return text


def _is_plain(text: str) -> bool:
    """Whether the bare string is read back as itself and not as a number, a list, …"""
    return bool(text) and text.isprintable() and text == text.strip() and key_of(_label(text)) == text


def _label(text: str) -> Value:
    try:
        return canonical(strict_json(text))
    except InputError:
        return text


def _read_edge(edge: DotEdge, where: str) -> tuple[Value, float | None]:
    text = edge.attributes.get("label", "").strip()
    before, slash, output = (part.strip() for part in text.partition("/"))
    if not slash or not before or "/" in output:
        raise MachineError(f'an edge needs label="input/output", not "{one_line(text, 40)}"', where=where)
    if output == _UNSEEN:
        return _label(before), None
    try:
        return _label(before), float(output)
    except ValueError:
        shown = one_line(output, 40)
        raise MachineError(f'the output "{shown}" is not a number; outputs are rewards', where=where) from None
