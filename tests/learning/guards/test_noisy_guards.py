"""Guards with allowances for noise: what is named, kept in files and remembered."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import run_here

from markovize import Learner, Traces, learn, read_machine, replay, write_episodes, write_machine

GUARDS: dict[str, Any] = {"trigger_on": "guards", "before": False}


def walks(episodes: int, seed: int = 0) -> Traces:
    """Coffee, then the office pays; x tells where that is, y tells nothing."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(episodes):
        x, y, has_coffee, paid = rng.uniform(0, 10, 9), rng.uniform(0, 1, 9), False, []
        for at in x[1:]:
            has_coffee = has_coffee or at < 2
            paid.append(float(has_coffee and at >= 7))
        seen = [{"x": float(a), "y": float(b)} for a, b in zip(x, y, strict=True)]
        out.append((seen, ["go"] * 8, paid, False))
    return Traces.of(out)


@pytest.fixture(scope="module")
def clean() -> Traces:
    return walks(80)


def shaken(traces: Traces, by: float, seed: int = 0) -> Traces:
    return replace(traces, rewards=traces.rewards + np.random.default_rng(seed).uniform(-by, by, traces.steps))


def flipped(traces: Traces, steps: list[int]) -> Traces:
    paid = traces.rewards.copy()
    paid[steps] = 1.0 - paid[steps]
    return replace(traces, rewards=paid)


def size(result: Any) -> tuple[object, ...]:
    return result.status, result.guards, result.literals, result.states


def test_a_tolerance(clean: Traces) -> None:
    result = learn(shaken(clean, 0.2), tolerance=0.2, **GUARDS)
    assert size(result) == size(learn(clean, **GUARDS)) == ("optimal", 2, 2, 2)
    levels = result.unwrap().rewards
    assert sum(each.count for each in levels) == clean.steps
    assert all(0 < each.spread <= 0.2 and abs(each.reward - round(each.reward)) < 0.2 for each in levels)


def test_a_tolerance_so_large_that_levels_overlap(clean: Traces) -> None:
    """0.3 and 0.7 would fit one level, 0 and 1 would not: who fits whom is no matter of classes."""
    rng = np.random.default_rng(1)
    noisy = replace(clean, rewards=clean.rewards + rng.normal(0, 0.1, clean.steps).clip(-0.3, 0.3))
    assert size(learn(noisy, tolerance=0.3, **GUARDS)) == ("optimal", 2, 2, 2)


def test_outliers_are_named(clean: Traces) -> None:
    wrong = [3, 300, 555]
    result = learn(flipped(clean, wrong), outliers=3, **GUARDS)
    assert size(result) == ("optimal", 2, 2, 2)
    assert result.noise is not None
    assert [(each.episode, each.step) for each in result.noise.outliers] == [clean.locate(step) for step in wrong]
    assert result.to_json()["noise"]["outliers"][0]["step"] == 3


def test_both(clean: Traces) -> None:
    result = learn(shaken(flipped(clean, [7, 400]), 0.1), tolerance=0.1, outliers=2, **GUARDS)
    assert size(result) == ("optimal", 2, 2, 2)
    assert result.noise is not None
    assert [(each.episode, each.step) for each in result.noise.outliers] == [(0, 7), (50, 0)]


def test_auto_takes_no_allowance_for_clean_rewards(clean: Traces) -> None:
    result = learn(clean, tolerance="auto", outliers="auto", **GUARDS)
    assert result.noise is not None
    assert (result.noise.tolerance, result.noise.allowed, result.noise.outliers) == (0.0, 0, ())
    assert result.unwrap() == learn(clean, **GUARDS).unwrap()
    assert result.noise.margin is not None and result.noise.margin > 64


def test_auto_finds_the_tolerance(clean: Traces) -> None:
    result = learn(shaken(clean, 0.1), tolerance="auto", **GUARDS)
    assert size(result) == ("optimal", 2, 2, 2)
    assert result.noise is not None and 0.09 < result.noise.tolerance <= 0.1
    assert result.noise is not None and result.noise.margin is not None and result.noise.margin > 100
    widest = max(result.noise.front, key=lambda choice: choice.tolerance)
    assert (widest.states, widest.guards) == (1, 0)  # to compare: all rewards are one level


def test_auto_finds_outliers(clean: Traces) -> None:
    wrong = [3, 300, 555]
    result = learn(flipped(clean, wrong), outliers="auto", **GUARDS)
    assert size(result) == ("optimal", 2, 2, 2)
    assert result.noise is not None
    assert [(each.episode, each.step) for each in result.noise.outliers] == [clean.locate(step) for step in wrong]
    front = [(choice.outliers, choice.guards, choice.literals) for choice in result.noise.front]
    assert (3, 2, 2) in front and len(front) > 1
    assert result.to_json()["noise"]["front"][0]["guards"] is not None


def test_auto_finds_both(clean: Traces) -> None:
    result = learn(shaken(flipped(clean, [7, 400]), 0.1), tolerance="auto", outliers="auto")  # objects: guards
    assert (result.guards, result.literals, result.states) == (2, 2, 2)
    assert result.noise is not None and 0.09 < result.noise.tolerance <= 0.1
    assert [(each.episode, each.step) for each in result.noise.outliers] == [(0, 7), (50, 0)]
    assert result.remarks[0].startswith("observations are objects")


def test_contradictory_rewards_say_what_would_help() -> None:
    seen = [{"x": "a"}, {"x": "b"}, {"x": "c"}]
    episodes = [(seen, ["go"] * 2, [0.0, 1.0], False)] * 60 + [(seen, ["go"] * 2, [0.0, 0.0], False)]
    result = learn(Traces.of(episodes), **GUARDS)
    assert result.status == "unrealisable"
    said = "With 1 outlier of 122 steps (--outliers 1): 1 state, 0 triggers, 1 guard, 1 literal."
    assert said in str(result.contradiction)


def test_features_by_a_function_and_reward_labels(clean: Traces) -> None:
    def west(_s: Any, _a: Any, after: Any) -> dict[str, Any]:
        return {"west": bool(after["x"] < 2)}

    def east(_s: Any, _a: Any, after: Any) -> bool:
        return bool(after["x"] >= 7)

    noisy = flipped(shaken(clean, 0.1), [11])
    options: dict[str, Any] = {"features": west, "reward_on": east, "tolerance": 0.1, "outliers": 1}
    result = learn(noisy, **GUARDS, **options)
    assert size(result) == ("optimal", 1, 1, 2)
    assert result.noise is not None and len(result.noise.outliers) == 1
    report = replay(result.unwrap(), noisy, features=west, reward_on=east, tolerance=0.1)
    assert (report.mismatches, report.unseen) == (1, 0)


def test_objects_ask_for_guards_with_an_allowance_too(clean: Traces) -> None:
    result = learn(flipped(clean, [3]), outliers=1)
    assert size(result) == ("optimal", 2, 2, 2)
    assert result.remarks[0].startswith("observations are objects")


@pytest.mark.parametrize(
    ("given", "said"), [({}, "every reward"), ({"outliers": 1}, "the rewards within what is allowed")]
)
def test_a_long_search_hints_at_noise(
    given: dict[str, Any], said: str, clean: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("markovize.learning.advice.LONG_SECONDS", 0.0)
    noisy = flipped(clean, [7, 100, 300, 400, 501])
    hints: list[str] = []
    result = learn(noisy, time_limit=6, on_progress=lambda progress: hints.append(progress.hint), **given, **GUARDS)
    assert result.status != "optimal"
    assert f"no small machine explains {said}" in hints[-1] and hints[-1] == result.remarks[-1]
    assert "with 5 outliers of 640 steps (--outliers 5): 2 states, 1 trigger, 2 guards, 2 literals" in hints[-1]


def test_where_rewards_contradict_each_other() -> None:
    seen = [{"x": 0.5}, {"x": 1.5}]
    traces = Traces.of([(seen, ["go"], [reward], False) for reward in (0.0, 0.1, 1.0)])
    assert learn(traces, tolerance=0.1, **GUARDS).status == "unrealisable"
    assert learn(traces, tolerance=0.1, outliers=1, **GUARDS).status == "optimal"
    assert learn(traces, tolerance=0.5, **GUARDS).status == "optimal"


def test_ends_are_told_apart_whatever_the_tolerance() -> None:
    def episode(x: str, reward: float, ends: bool) -> tuple[object, ...]:
        return [{"x": "a"}, {"x": x}], ["go"], [reward], ends

    traces = Traces.of([episode("a", 1.0, True), episode("b", 1.1, False)])
    assert learn(traces, tolerance=1.0, **GUARDS).guards == 0
    assert learn(traces, tolerance=1.0, explain="reward+termination", **GUARDS).guards == 1


def test_calls_of_a_learner_agree_with_fresh_ones(clean: Traces) -> None:
    noisy = flipped(shaken(clean, 0.1), [40, 500])
    every: list[dict[str, Any]] = [{"tolerance": 0.1, "outliers": 2}, {"tolerance": 0.3, "outliers": 2}]
    for options in every:
        learner = Learner(**GUARDS, **options)
        for episodes in (10, 30, 30, 20, 80):
            part = Traces.of(list(noisy)[:episodes])
            assert size(learner.learn(part)) == size(learn(part, **GUARDS, **options))


def test_time_that_is_up_leaves_a_machine_or_none(clean: Traces) -> None:
    result = learn(flipped(clean, list(range(0, 600, 30))), outliers=5, time_limit=0.05, **GUARDS)
    assert result.status in ("feasible", "unknown", "optimal")
    assert result.seconds < 3


def test_files_and_the_command_line(clean: Traces, tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "machine.json"
    noisy = shaken(flipped(clean, [7, 400]), 0.1)
    write_episodes(log, noisy)
    allowed = ["--tolerance", "0.1", "--outliers", "2"]
    learned = run_here("learn", str(log), "-o", str(out), "--trigger-on", "guards", *allowed)
    assert learned.code == 0
    assert "With a tolerance of 0.1 and 2 outliers:" in learned.out and "episode 0 step 7 paid" in learned.out
    assert run_here("replay", str(out), str(log)).code == 1
    assert run_here("replay", str(out), str(log), *allowed).code == 0
    written = json.loads(out.read_text())
    assert written["version"] == 2 and all({"spread", "count"} <= set(each) for each in written["rewards"])
    machine = read_machine(out)
    write_machine(tmp_path / "again.json", machine)
    assert read_machine(tmp_path / "again.json") == machine
