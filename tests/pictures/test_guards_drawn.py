"""Pictures of machines with guards: what stands on the arrows, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest
from guarded_machines import BOXES, COFFEE

from markovize import Feature, Guard, Literal, RewardMachine, Trigger, draw
from markovize.io.machines.dot import graph_dot
from markovize.io.machines.mermaid import mermaid
from markovize.pictures.machine import figure_of
from markovize.pictures.machine_svg import draw_machine

LONG = RewardMachine(
    "guards",
    "guards",
    2,
    (Trigger(0, Guard([Literal(f"the feature {n}", "at_least", n / 3) for n in range(4)]), 1),),
    features=tuple(Feature(f"the feature {n}", "numeric") for n in range(4)),
)


def texts(machine: RewardMachine) -> list[str]:
    return [text.get_text() for text in figure_of(machine).axes[0].texts]


def test_guards_stand_on_the_arrows() -> None:
    assert "here = coffee" in texts(COFFEE)
    assert {"here = office:", "reward 1, end"} <= set(texts(COFFEE))
    assert {"1 ≤ x < 3 and 7 ≤ y < 9", "7 ≤ x < 9 and 1 ≤ y < 3:"} <= set(texts(BOXES))


def test_long_guards_take_a_line_for_each_clause() -> None:
    lines = {
        "the feature 0 ≥ 0",
        "and the feature 1 ≥ 0.333333",
        "and the feature 2 ≥ 0.666667",
        "and the feature 3 ≥ 1",
    }
    assert lines <= set(texts(LONG))
    body = draw_machine(LONG).body
    assert all(line in body for line in lines)
    assert r"the feature 0 ≥ 0\nand the feature 1" in graph_dot(LONG)
    assert "the feature 0 ≥ 0<br/>and the feature 1" in mermaid(LONG)


def test_pages_draw_them_too() -> None:
    body = draw_machine(COFFEE).body
    assert 'data-trigger="0"' in body
    assert "here = coffee" in body
    assert "here = office: +1, end" in body
    assert "7 ≤ x &lt; 9 and 1 ≤ y &lt; 3: +1, end" in draw_machine(BOXES).body


@pytest.mark.parametrize("machine", [COFFEE, BOXES, LONG])
def test_equal_machines_give_equal_bytes(tmp_path: Path, machine: RewardMachine) -> None:
    for ending in ("svg", "png", "dot", "mmd"):
        draw(tmp_path / f"a.{ending}", machine)
        draw(tmp_path / f"b.{ending}", RewardMachine.from_json(machine.to_json()))
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert (machine._repr_svg_() or "").startswith("<?xml")
