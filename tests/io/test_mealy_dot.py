"""Mealy machines in DOT: exact round trips, AALpy's way of writing, and errors with their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from machines import CHAIN, machines

from markovize.episodes.labelling import kind_names
from markovize.errors import InputError, MachineError, UnsupportedError
from markovize.io.machines.dot_syntax import parse_dot
from markovize.io.machines.mealy_dot import mealy_dot, parse_mealy_dot, read_mealy_dot, write_mealy_dot
from markovize.machine.machine import Emission, RewardMachine, Trigger

AALPY = """digraph learned {
s0 [label=s0];
s1 [label=s1];
s0 -> s1  [label="coffee/0"];
s0 -> s0  [label="office/0"];
s1 -> s1  [label="coffee / 0"];
s1 -> s0  [label="office/1.5"];
__start0 [label="", shape=none];
__start0 -> s0  [label=""];
}
"""


def test_our_machines_come_back(tmp_path: Path) -> None:
    path = tmp_path / "m.dot"
    write_mealy_dot(path, CHAIN)
    assert read_mealy_dot(path) == replace(CHAIN, triggers=tuple(replace(t, alternatives=()) for t in CHAIN.triggers))


@given(machines())
def test_any_machine_comes_back(machine: RewardMachine) -> None:
    assert parse_mealy_dot(mealy_dot(machine)) == machine


def test_a_file_of_aalpy() -> None:
    machine = parse_mealy_dot(AALPY)
    assert (machine.trigger_on, machine.states, machine.initial) == ("function", 2, 0)
    assert machine.triggers == (Trigger(0, "coffee", 1), Trigger(1, "office", 0))
    assert machine.reward(1, "office", 0) == 1.5
    assert machine.reward(0, "office", 0) == 0.0


def test_other_ways_to_write_dot() -> None:
    text = """/* two
    lines */ strict DiGraph {
    # a line of the preprocessor
    graph [trigger_on=state rankdir=LR]; node [shape=circle]
    subgraph cluster { "far away":n ; { home } }
    "far away" -> home [terminal=TRUE, label="[1," + "2]/-3" ; color=red] // the end
    __start -> "far away"
    }"""
    machine = parse_mealy_dot(text)
    assert machine == RewardMachine(
        "state", "state", 2, (Trigger(0, (1, 2), 1),), (Emission(0, (1, 2), 1, -3.0, True),)
    )


def test_chains_ports_and_continued_strings() -> None:
    graph = parse_dot('digraph "g" { a -> b:n:w -> c [flag, note="one \\\ntwo"]; x=1 }')
    assert [(e.source, e.target) for e in graph.edges] == [("a", "b"), ("b", "c")]
    assert graph.edges[0].attributes == {"flag": "true", "note": "one two"}
    assert (graph.name, graph.attributes) == ("g", {"x": "1"})


BEGIN = "digraph { __start0 -> s0; "
BROKEN = {
    "": 'm.dot: expected "digraph", but the file ends',
    "graph g {}": 'm.dot:1:1: expected "digraph", not graph',
    "digraph {": "m.dot: a name is missing",
    "digraph { a ->": "m.dot: a name is missing",
    "digraph { a -> ; }": "m.dot:1:16: expected a name, not ;",
    "digraph g } {": 'm.dot:1:11: expected "{", not }',
    "digraph {} x": "m.dot:1:12: expected the end of the file, not x",
    'digraph {\n "a': "m.dot:2:2: this string never ends",
    "digraph { /* ": "m.dot:1:11: this comment never ends",
    "digraph { a <b> }": "m.dot:1:13: '<' does not belong here",
    "digraph {" + "{" * 100: "subgraphs are nested too deeply",
    'digraph { s0 -> s1 [label="a/1"] }': "m.dot: needs one edge from __start0 to the initial state, not 0",
    BEGIN + "\n s0 -> s1 }": 'm.dot:2: an edge needs label="input/output", not ""',
    BEGIN + '\n s0 -> s1 [label="a/b/1"] }': "m.dot:2: an edge needs label",
    BEGIN + '\n s0 -> s1 [label="a/False"] }': 'm.dot:2: the output "False" is not a number',
    BEGIN + ' s0 -> s1 [label="a/nan"] }': 'm.dot: "rewards"[0]: the reward must be finite',
    BEGIN + " trigger_on=moon; }": f'trigger_on must be one of {", ".join(kind_names())}, not "moon"',
    BEGIN + '\n s0 -> s1 [label="a/1"]\n s0 -> s0 [label="a/2"] }': "m.dot:3: s0 has two edges for a (line 2)",
    BEGIN + ' s0 -> __start0 [label="a/1"] }': 'm.dot: "triggers"[0]: state -1 is not one of',
}


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_errors_name_their_place(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_mealy_dot(text, "m.dot")
    assert BROKEN[text] in str(caught.value)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="one label a step"):
        mealy_dot(RewardMachine("state", "transition", 1))
    with pytest.raises(UnsupportedError, match='label a/b contains a "/" itself'):
        mealy_dot(RewardMachine("state", "state", 2, (Trigger(0, "a/b", 1),)))
    with pytest.raises(MachineError):
        parse_mealy_dot("digraph { __start0 -> __start1 }")
