"""Machines with guards as a Python module and as SMT-LIB: both go as the machine does, and others are refused."""

from __future__ import annotations

import random
import runpy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from guarded_machines import BOXES, COFFEE, VALUES, features_of, plain_step, random_machine, random_walks
from smt_lib_reader import Definitions

from markovize import (
    Emission,
    Feature,
    Guard,
    Literal,
    RewardMachine,
    Trigger,
    UnsupportedError,
    convert,
    read_machine,
    write_machine,
)
from markovize.episodes.values import key_of


def every_step(rng: random.Random, machine: RewardMachine) -> list[tuple[int, dict[str, Any]]]:
    steps = []
    for episode in random_walks(rng, 3):
        for step in zip(episode.observations, episode.actions, episode.observations[1:], strict=False):
            steps += [(u, features_of(step)) for u in range(machine.states)]
    return steps


def test_python_goes_as_the_machine(tmp_path: Path) -> None:
    rng, path = random.Random(2), tmp_path / "machine.py"
    for _ in range(30):
        machine = random_machine(rng)
        write_machine(path, machine)
        module = runpy.run_path(str(path))
        assert module["INITIAL"] == machine.initial
        assert list(module["FEATURES"]) == [feature.name for feature in machine.features]
        for u, features in every_step(rng, machine):
            v, valuation = plain_step(machine, u, features)
            assert module["step"](u, features) == (v, machine.reward(u, valuation, v))
            assert module["terminal"](u, features) == machine.terminal(u, valuation, v)


def test_smt_lib_goes_as_the_machine(tmp_path: Path) -> None:
    rng, path = random.Random(3), tmp_path / "machine.smt2"
    for _ in range(30):
        machine = random_machine(rng)
        write_machine(path, machine)
        script = Definitions(path.read_text())
        names = {key_of(value): f"colour = {str(value).lower() if value is True else value}" for value in VALUES}
        for u, features in every_step(rng, machine):
            values = [_symbol(script, feature, features[feature.name], names) for feature in machine.features]
            v, valuation = plain_step(machine, u, features)
            said = machine.reward(u, valuation, v)
            assert script.call("next-state", u, *values) == v
            assert script.call("known", u, *values) == (said is not None)
            assert float(script.call("reward", u, *values)) == (said or 0.0)
            assert script.call("terminal", u, *values) == machine.terminal(u, valuation, v)


def _symbol(script: Definitions, feature: Feature, value: Any, names: dict[Any, str]) -> Any:
    if feature.numeric:
        return Fraction(value)
    symbol = f"|{names[key_of(value)].replace('colour', feature.name)}|"
    return symbol if symbol in script.constants else f"|other {feature.name}|"


def test_names_of_any_kind(tmp_path: Path) -> None:
    odd = ("u", "and", "a|b", "a\\b", "a_b", "trigger-0", "x = 'é'", 'it"s\n', "other a|b")
    features = tuple(Feature(name, "categorical") for name in odd)
    guard = Guard([Literal(name, "is", name) for name in odd])
    machine = RewardMachine(
        "guards", "guards", 2, (Trigger(0, guard, 1),), (Emission(0, (), 1, -0.1),), features=features
    )
    write_machine(tmp_path / "odd.py", machine)
    step = runpy.run_path(str(tmp_path / "odd.py"))["step"]
    assert step(0, {name: name for name in odd}) == (1, -0.1)
    assert step(0, dict.fromkeys(odd, "else")) == (0, None)
    write_machine(tmp_path / "odd.smt2", machine)
    script = Definitions((tmp_path / "odd.smt2").read_text())
    assert len(script.constants) == 2 * len(odd)
    assert script.call("next-state", 0, *["nothing"] * len(odd)) == 0


def test_no_features_at_all(tmp_path: Path) -> None:
    machine = RewardMachine("guards", "guards", 2, (Trigger(0, Guard(), 1),), (Emission(0, (), 1, 2.0),))
    write_machine(tmp_path / "m.smt2", machine)
    script = Definitions((tmp_path / "m.smt2").read_text())
    assert (script.call("next-state", 0), script.call("reward", 0), script.call("reward", 1)) == (1, 2, 0)
    write_machine(tmp_path / "m.py", machine)
    assert runpy.run_path(str(tmp_path / "m.py"))["step"](0, {}) == (1, 2.0)


@pytest.mark.parametrize("ending", ["txt", "dot"])
def test_formats_of_labels_cannot_say_guards(tmp_path: Path, ending: str) -> None:
    with pytest.raises(UnsupportedError, match="cannot say guards over features; use json, py or smt2"):
        write_machine(tmp_path / f"m.{ending}", COFFEE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["py", "smt2"])
def test_formats_of_guards_cannot_say_labels(tmp_path: Path, ending: str) -> None:
    with pytest.raises(UnsupportedError, match="this machine's triggers are labels of state"):
        write_machine(tmp_path / f"m.{ending}", RewardMachine("state", "state", 1))
    on_states = replace(BOXES, reward_on="state", reward_guards=(), rewards=())
    with pytest.raises(UnsupportedError, match="this machine's rewards are on state"):
        write_machine(tmp_path / f"m.{ending}", on_states)
    assert not list(tmp_path.iterdir())


def test_convert(tmp_path: Path) -> None:
    write_machine(tmp_path / "a.json", COFFEE)
    for ending in ("json", "py", "smt2", "mmd"):
        convert(tmp_path / "a.json", tmp_path / f"b.{ending}")
    assert read_machine(tmp_path / "b.json") == COFFEE
    with pytest.raises(UnsupportedError, match="py is only written"):
        convert(tmp_path / "b.py", tmp_path / "c.json")
