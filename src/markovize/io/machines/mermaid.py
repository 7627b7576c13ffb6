"""A machine as a Mermaid state diagram, which code hosts show inside Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from markovize.io.files import atomic_write
from markovize.io.registry import AnyPath
from markovize.machine.machine import RewardMachine
from markovize.machine.summary import arrows
from markovize.machine.support import Support


def write_mermaid(path: AnyPath, machine: RewardMachine, support: Sequence[Support] = ()) -> None:
    """Writes the diagram."""
    atomic_write(path, mermaid(machine, support))


def mermaid(machine: RewardMachine, support: Sequence[Support] = ()) -> str:
    """Mermaid text.

    >>> from markovize.machine.machine import Trigger
    >>> print(mermaid(RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1),))))
    stateDiagram-v2
        direction LR
        state "0" as u0
        state "1" as u1
        [*] --> u0
        u0 --> u1 : (1, 1)
    <BLANKLINE>
    """
    lines = ["stateDiagram-v2", "    direction LR"]
    lines += [f'    state "{state}" as u{state}' for state in range(machine.states)]
    lines.append(f"    [*] --> u{machine.initial}")
    for arrow in arrows(machine, support):
        text = "<br/>".join(_escaped(line) for line in arrow.lines)
        lines.append(f"    u{arrow.source} --> u{arrow.target} : {text}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Mermaid reads ``#35;`` as the character 35; everything with a meaning of its own is written like that."""
    return "".join([f"#{ord(c)};" if c in '#;:<>"{}[]`%&\\' or not c.isprintable() else c for c in text])
