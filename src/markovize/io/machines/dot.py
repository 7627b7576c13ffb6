"""A machine as Graphviz DOT, for people to look at (``mealy_dot`` is the one to read back)."""

from __future__ import annotations

from collections.abc import Sequence

from markovize.io.files import atomic_write
from markovize.io.machines.dot_tokens import quote
from markovize.io.registry import AnyPath
from markovize.machine.machine import RewardMachine
from markovize.machine.summary import arrows
from markovize.machine.support import Support


def write_graph_dot(path: AnyPath, machine: RewardMachine, support: Sequence[Support] = ()) -> None:
    """Writes the graph."""
    atomic_write(path, graph_dot(machine, support))


def graph_dot(machine: RewardMachine, support: Sequence[Support] = ()) -> str:
    """DOT text: states as circles, one arrow for each pair of states, with its triggers and unusual rewards.

    >>> from markovize.machine.machine import Trigger
    >>> print(graph_dot(RewardMachine("state", "state", 2, (Trigger(0, "door", 1),))))
    digraph reward_machine {
      rankdir=LR;
      node [shape=circle, fontname="Helvetica"];
      edge [fontname="Helvetica", fontsize=10];
      start [shape=point, label=""];
      start -> 0;
      0;
      1;
      0 -> 1 [label="door"];
    }
    <BLANKLINE>
    """
    lines = [
        "digraph reward_machine {",
        "  rankdir=LR;",
        '  node [shape=circle, fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
        '  start [shape=point, label=""];',
        f"  start -> {machine.initial};",
        *(f"  {state};" for state in range(machine.states)),
    ]
    for arrow in arrows(machine, support):
        # \n is DOT's own line break, so the lines are escaped one by one
        text = "\\n".join(quote(line)[1:-1] for line in arrow.lines)
        lines.append(f'  {arrow.source} -> {arrow.target} [label="{text}"];')
    return "\n".join([*lines, "}"]) + "\n"
