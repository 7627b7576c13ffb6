"""The text format of the literature: our own machines come back exactly, other people's mean what they meant."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from machines import CHAIN, CYCLE, machines

from markovize.errors import InputError, MachineError, UnsupportedError
from markovize.io.machines.text import (
    parse_reward_machine_text,
    read_reward_machine_text,
    reward_machine_text,
    write_reward_machine_text,
)
from markovize.machine.machine import Emission, RewardMachine, Trigger

# a task of the literature: coffee and mail in any order, then the office; decorations (n) are not mentioned when broken
OFFICE = """0 # initial state
[1] # terminal state
(0,0,'!e&!f&!n',ConstantRewardFunction(0))
(0,2,'e&!n',ConstantRewardFunction(0))

# a comment of its own
(0,3,'!e&f&!n',ConstantRewardFunction(0))
(2,2,'!f&!n',ConstantRewardFunction(0))
(2,4,'f&!n',ConstantRewardFunction(0)) # and one at the end
(3,3,'!e&!n',ConstantRewardFunction(0))
(3,4,'e&!n',ConstantRewardFunction(0))
( 4, 1, "g&!n", ConstantRewardFunction(+1.5e0) )
(4,4,'!g&!n',ConstantRewardFunction(0))
(1,1,'True',ConstantRewardFunction(0))
"""


def bare(machine: RewardMachine) -> RewardMachine:
    return replace(machine, triggers=tuple(replace(t, alternatives=()) for t in machine.triggers))


@pytest.mark.parametrize("machine", [CHAIN, CYCLE, RewardMachine("transition", "transition", 1)])
def test_our_machines_come_back(tmp_path: Path, machine: RewardMachine) -> None:
    path = tmp_path / "m.txt"
    write_reward_machine_text(path, machine)
    assert read_reward_machine_text(path) == bare(machine)


@given(machines())
def test_any_machine_comes_back_or_is_refused(machine: RewardMachine) -> None:
    try:
        text = reward_machine_text(machine)
    except UnsupportedError as error:
        assert "one reward from state" in str(error)
        assume(False)
    assert parse_reward_machine_text(text) == machine


@given(machines(rewards=(0.0,)))
def test_the_literature_would_read_what_we_meant(machine: RewardMachine) -> None:
    """A reader as simple as the original: it looks at lines, splits formulas, and tests symbols as substrings."""

    def holds(formula: str, true: str) -> bool:
        def literal(part: str) -> bool:
            return part == "True" or (part[1:] not in true if part.startswith("!") else part in true)

        return any(all(literal(part) for part in clause.split("&")) for clause in formula.split("|"))

    first, second, *edges = reward_machine_text(machine).splitlines()
    assert int(first.split("#")[0]) == machine.initial
    terminal = json.loads(second)
    letters = json.loads(first.split("#", 1)[1])["letters"]
    for state in range(machine.states):
        for letter, raw in [*letters.items(), ("", None)]:
            found = []
            for edge in edges:
                source, goal, formula, reward = edge[1:-1].split(",")
                if int(source) == state and holds(formula.strip("'"), letter):
                    found.append((int(goal), float(reward.removeprefix("ConstantRewardFunction(")[:-1])))
            assert len(found) == 1
            target, reward_paid = found[0]
            assert reward_paid == 0.0
            label = tuple(raw) if isinstance(raw, list) and not any(isinstance(x, list) for x in raw) else raw
            if raw is None or isinstance(label, list):
                continue
            after = machine.step(state, label)
            assert target in terminal if machine.terminal(state, label, after) else target == after


def test_a_file_of_the_literature() -> None:
    machine = parse_reward_machine_text(OFFICE)
    assert (machine.trigger_on, machine.reward_on, machine.states) == ("function", "function", 5)
    assert machine.step(0, ("e", "f")) == 2
    assert machine.step(0, ("f",)) == 3
    assert machine.step(4, ("g",)) == 1
    assert machine.reward(4, ("f", "g"), 1) == 1.5
    assert machine.terminal(4, ("g",), 1)
    # no formula holds: the machine falls off, without reward, and the episode is over
    assert machine.reward(0, ("n",), 0) == 0.0
    assert machine.terminal(0, ("n",), 0)


def test_states_are_renumbered_where_needed() -> None:
    text = "5\n[-1]\n(5,7,'a',ConstantRewardFunction(0))\n(7,-1,'!a',ConstantRewardFunction(2))"
    machine = parse_reward_machine_text(text)
    assert (machine.states, machine.initial) == (3, 1)
    assert machine.step(1, ("a",)) == 2
    assert machine.reward(2, (), 0) == 2.0


HEAD = "0\n[1]\n"
BROKEN = {
    "": "m.txt: needs a first line",
    "0\n": "m.txt: needs a first line",
    "x\n[]": "m.txt:1:1: expected the number of a state, not x",
    "1.5\n[]": "m.txt:1:1: 1.5 is not the number of a state",
    "0 0\n[]": "m.txt:1:3: 0 is one too many",
    "0\n(1)": r'm.txt:2:1: expected "[", not "("',
    "0\n[1 2]": 'm.txt:2:4: expected ",", not 2',
    "0\n[1": 'm.txt:2:3: "," is missing at the end of the line',
    HEAD + "(0,1,'a' $": "m.txt:3:10: '$' does not belong here",
    HEAD + "(0,1,'a',ConstantRewardFunction(1)": '"m.txt:3:35: ")" is missing'[1:],
    HEAD + "(0,1,a,ConstantRewardFunction(1))": "m.txt:3:6: expected a formula in quotes, not a",
    HEAD + "(0,1,'a&',ConstantRewardFunction(1))": "m.txt:3:9: a proposition is missing",
    HEAD + "(0,1,'a',ConstantRewardFunction(1e999))": "m.txt:3:33: the reward must be finite",
    HEAD + "(0,1,'a',ConstantRewardFunction(1)),": "m.txt:3:36: , is one too many",
    HEAD + "(0,1,'a',ConstantRewardFunction(1))\n(0,2,'a&!b',ConstantRewardFunction(1))": "m.txt:4:1: state 0 is not",
    HEAD + "(0,1,'a',ConstantRewardFunction(1))\n(0,1,'b',ConstantRewardFunction(2))": "for {a, b} this edge",
    HEAD + "(" + "9" * 5000: "m.txt:3:2: 999",
}


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_errors_name_line_and_column(text: str) -> None:
    with pytest.raises(MachineError) as caught:
        parse_reward_machine_text(text, "m.txt")
    assert BROKEN[text] in str(caught.value)
    assert len(str(caught.value)) < 200


def test_what_is_not_supported_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"m\.txt:3:10: reward function RewardControl is not supported"):
        parse_reward_machine_text(HEAD + "(0,1,'a',RewardControl())", "m.txt")
    formula = "&".join("abcdefghijk")
    with pytest.raises(UnsupportedError, match="11 propositions make 2048 labels"):
        parse_reward_machine_text(HEAD + f"(0,1,'{formula}',ConstantRewardFunction(0))", "m.txt")


def test_what_cannot_be_written_is_refused_with_a_reason() -> None:
    with pytest.raises(UnsupportedError, match="triggers are on state, rewards on transition"):
        reward_machine_text(RewardMachine("state", "transition", 1))
    two = RewardMachine("state", "state", 1, (), (Emission(0, "x", 0, 1.0), Emission(0, "y", 0, 2.0)))
    with pytest.raises(UnsupportedError, match=r"from state 0 to 0, but x pays 1\.0, y pays 2\.0"):
        reward_machine_text(two)
    many = RewardMachine("state", "state", 2, tuple(Trigger(0, n, 1) for n in range(53)))
    with pytest.raises(UnsupportedError, match="53 labels matter, and the text format has 52 letters"):
        reward_machine_text(many)
    nowhere = RewardMachine("state", "state", 2, (), (Emission(0, "x", 1, 1.0),))
    with pytest.raises(UnsupportedError, match=r"reward of \(0, x, 1\): no trigger leads there"):
        reward_machine_text(nowhere)


@pytest.mark.parametrize(
    "damage",
    [
        ('"on":"state"', '"on":"moon"'),
        ('"states":4', '"states":4000000000'),
        ('"states":4', '"states":"4"'),
        ('"letters":', '"lettuce":'),
        ('"unseen":[', '"unseen":[7,'),
        ('"stays":{"0":[', '"stays":{"0":[null,'),
        ('"stays":{', '"stays":{"0":[],'),
    ],
)
def test_a_damaged_legend(damage: tuple[str, str]) -> None:
    text = reward_machine_text(CHAIN)
    assert damage[0] in text
    with pytest.raises(InputError, match=r"m\.txt:1: the legend in the first line is damaged"):
        parse_reward_machine_text(text.replace(*damage), "m.txt")


def test_a_legend_without_its_edges() -> None:
    lines = [line for line in reward_machine_text(CHAIN).splitlines() if not line.startswith("(1,1,")]
    with pytest.raises(MachineError, match="state 1 has no edge for the labels that stay"):
        parse_reward_machine_text("\n".join([*lines, "(9,9,'True',ConstantRewardFunction(0))"]), "m.txt")


def test_somebody_elses_comment_is_no_legend() -> None:
    assert parse_reward_machine_text('0 # {"legend": "mine"}\n[]').states == 1
    assert parse_reward_machine_text("0 # {initial}\n[]").states == 1
