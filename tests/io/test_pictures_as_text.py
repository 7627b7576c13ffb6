"""DOT for people and Mermaid: valid, escaped, short; and machines in sentences."""

from __future__ import annotations

from hypothesis import given
from machines import CHAIN, CYCLE, machines

from markovize.episodes.labelling import labelling_named
from markovize.io.machines.dot import graph_dot
from markovize.io.machines.dot_syntax import parse_dot
from markovize.io.machines.mermaid import mermaid
from markovize.machine.describe import describe
from markovize.machine.machine import Emission, RewardMachine, Trigger
from markovize.machine.summary import arrows, usual_reward


@given(machines())
def test_dot_is_valid_and_complete(machine: RewardMachine) -> None:
    graph = parse_dot(graph_dot(machine))
    expected = {("start", str(machine.initial))} | {(str(a.source), str(a.target)) for a in arrows(machine)}
    assert {(e.source, e.target) for e in graph.edges} == expected
    assert set(graph.nodes) == {"start", *map(str, range(machine.states))}


@given(machines())
def test_mermaid_has_one_statement_a_line(machine: RewardMachine) -> None:
    lines = mermaid(machine).splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert len(lines) == 3 + machine.states + len(arrows(machine))
    for line in lines[3 + machine.states :]:
        _, text = line.split(" : ")
        assert not set(text.replace("<br/>", "")) & set('<>"[]{}\\')


def test_mermaid_escapes() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(0, 'a:b;"c"\n#', 1),))
    assert "u0 --> u1 : a#58;b#59;#34;c#34; #35;" in mermaid(machine)


def test_arrows_say_what_matters() -> None:
    assert [(a.source, a.target, a.lines) for a in arrows(CHAIN)] == [
        (0, 1, ("(1, 1) +2 alike",)),
        (1, 2, ("(10, 1): reward 0.25",)),
        (2, 3, ("(10, 7)",)),
        (3, 3, ("(1, 7): reward 1, end",)),
    ]


def test_arrows_are_cut_and_rewards_grouped() -> None:
    triggers = tuple(Trigger(0, n, 1) for n in range(6))
    rewards = tuple(Emission(1, n, 1, -1.0, True) for n in range(5))
    machine = RewardMachine("state", "state", 2, triggers, rewards)
    assert [a.lines for a in arrows(machine)] == [("0", "1", "2", "… +3"), ("0, 1, … +3: reward -1, end",)]


def test_rewards_on_another_label_have_their_own_line() -> None:
    rewards = (
        Emission(0, (0, "up", 1), 1, 2.0),
        Emission(0, (1, "up", 1), 1, 2.0),
        Emission(0, (5, "up", 5), 0, 0.0),
        Emission(0, (6, "up", 5), 0, 0.0),
        Emission(0, (7, "up", 5), 0, 0.0),
    )
    machine = RewardMachine("state", "transition", 2, (Trigger(0, 1, 1),), rewards)
    assert usual_reward(machine) == 0.0
    assert arrows(machine)[0].lines == ("1", "0 –up→ 1, … +1: reward 2")


def test_labels_are_short() -> None:
    assert len(labelling_named("state").text("x" * 1000)) <= 34
    assert len(labelling_named("transition").text(("x" * 1000, "y" * 1000, "z" * 1000))) <= 45
    assert labelling_named("transition").text("odd") == "odd"


def test_describe() -> None:
    machine = RewardMachine(
        "state",
        "state",
        3,
        (Trigger(1, "b", 2, ("c",)), Trigger(0, (1, 1), 1, tuple((1, n) for n in range(2, 9)))),
        (Emission(2, "z", 2, 1.0, True), Emission(1, "b", 2, 0.5), Emission(0, "q", 0, 0.0), Emission(1, "q", 1, 0.0)),
    )
    assert describe(machine, rewards=True) == [
        "in state 0, entering (1, 1) → state 1 (7 other labels fit as well: (1, 2), (1, 3), (1, 4), …)",
        "in state 1, entering b → state 2 (1 other label fits as well: c)",
        "in state 1, entering b → state 2 pays 0.5",
        "in state 2, entering z pays 1 and ends the episode",
    ]
    assert describe(RewardMachine("state", "state", 1)) == ["no triggers: the machine stays in state 0"]
    assert describe(CYCLE)[0] == "in state 0, seeing a → state 1"
    assert labelling_named("transition").describe("odd") == "seeing odd"
