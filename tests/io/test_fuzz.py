"""Damaged files: some hundreds always, many in the long tests, and those that once fell over for ever."""

from __future__ import annotations

import pytest
from damaged_files import damaged_files, scratch, try_file

ONCE_WRONG = {
    "a first line that is a control character": ("txt", b"\x1f\n[1]\n(0,1,'a',ConstantRewardFunction(1))\n"),
    "a control character at the end of a formula": ("txt", b"0\n[1]\n(0,1,'a\x1c',ConstantRewardFunction(1))\n"),
    "a label of thousands of characters in an error": (
        "json",
        b'{"format": "markovize.reward-machine", "version": 1, "trigger_on": "state", "reward_on": "state",'
        b'"states": 2, "triggers": [], "rewards": [{"from": 0, "on": "%s", "to": 0, "reward": 0},'
        b'{"from": 0, "on": "%s", "to": 0, "reward": 1}]}' % (b"x" * 9000, b"x" * 9000),
    ),
    "the same in DOT": ("dot", b'digraph { s0 -> s0 [label="%s/nan"]; __start0 -> s0; }' % (b"x" * 9000)),
    "-0.0 in a table": ("csv", b"episode,state,action,reward,next_state,terminated\n0,0,go,-0.0,1,0\n"),
    "-0.0 in text": ("txt", b"0\n[]\n(0,0,'a',ConstantRewardFunction(-0.0))\n(0,0,'!a',ConstantRewardFunction(-0))\n"),
    "-0.0 in DOT": ("dot", b'digraph { s0 -> s0 [label="a/-0.0"]; __start0 -> s0; }'),
    "half a surrogate pair in the name of a field": (
        "json",
        b'{"format": "markovize.reward-machine", "version": 1, "trigger_on": "state", "reward_on": "state",'
        b'"states": 2, "triggers": [{"\\ud800": 0}], "rewards": []}',
    ),
    "no-break space in the name of a field": ("jsonl", '{"obser\xa0vations": '.encode()),
}


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_what_once_fell_over(name: str) -> None:
    ending, data = ONCE_WRONG[name]
    with scratch() as folder:
        try_file(folder, ending, data)


def test_damaged_files_are_read_or_refused() -> None:
    outcomes = set()
    with scratch() as folder:
        for ending, data in damaged_files(600, seed=7):
            outcomes.add((ending, try_file(folder, ending, data)))
    assert len(outcomes) == 12, "every format was read and refused, or the damage is too small or too large"


@pytest.mark.long
def test_many_damaged_files_are_read_or_refused() -> None:
    with scratch() as folder:
        for ending, data in damaged_files(20_000, seed=11):
            try_file(folder, ending, data)
