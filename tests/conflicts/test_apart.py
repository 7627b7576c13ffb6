"""Noise, the same history and another reward, told from history, another history and another reward."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import run_here
from pieces import Pieces

from markovize import InputError, Traces, check, check_reward, learn, write_episodes, write_machine
from markovize.machine.machine import Emission, RewardMachine, Trigger
from markovize.machine.parts import Share

COFFEE = (["hall", "coffee", "hall", "office"], [0, 0, 0])
NONE = (["hall", "hall", "hall", "office"], [0, 0, 0])


def office(coffee: Sequence[float], none: Sequence[float]) -> Traces:
    """Walks to the office, with coffee and without; what the office pays each time."""
    return Traces.of([(*walk, [0, 0, paid]) for walk, all_of in ((COFFEE, coffee), (NONE, none)) for paid in all_of])


def test_history_alone() -> None:
    apart = check(office([1] * 3, [0] * 5)).apart
    assert apart is not None
    assert (apart.noise, apart.history, apart.repeated, apart.steps) == ((0, 0), (1, 3), 8, 8)


def test_noise_alone() -> None:
    apart = check(office([], [0] * 5 + [1] * 2)).apart
    assert apart is not None
    assert (apart.noise, apart.history) == ((1, 2), (0, 0))


def test_both() -> None:
    apart = check(office([1, 1, 1, 0], [0] * 7 + [1])).apart
    assert apart is not None
    assert (apart.noise, apart.history) == ((1, 2), (1, 3))


def test_no_conflict_no_counts() -> None:
    report = check(office([1], [1]))
    assert report.apart is None and "noise" not in report.to_json()


def by_definition(traces: Traces) -> tuple[int, int]:
    """Steps of noise and of history, word for word."""
    paid: dict[Any, Counter[float]] = {}
    histories: dict[Any, Counter[float]] = {}
    for episode in traces:
        for n, reward in enumerate(episode.rewards):
            label = (episode.observations[n], episode.actions[n], episode.observations[n + 1])
            history = (label, *episode.observations[: n + 2], *episode.actions[: n + 1])
            paid.setdefault(label, Counter())[reward] += 1
            histories.setdefault(history, Counter())[reward] += 1
    noise = sum(each.total() - max(each.values()) for each in histories.values())
    by_history = 0
    for (label, *_), each in histories.items():
        usual = min(paid[label], key=lambda reward: (-paid[label][reward], reward))
        by_history += max(each.values()) if each[usual] < max(each.values()) else 0
    return noise, by_history


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    traces = Traces.of(
        [(rng.integers(2, size=4).tolist(), [0, 0, 0], rng.integers(2, size=3).tolist()) for _ in range(60)]
    )
    report = check(traces)
    assert report.apart is not None
    assert (report.apart.noise[1], report.apart.history[1]) == by_definition(traces)
    assert check(Pieces(traces, 7)) == report


def test_a_machine_leaves_the_noise() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(0, "coffee", 1),))
    traces = office([1, 1, 1, 0], [0] * 7 + [1])
    report = check(traces, machine)
    assert report.apart is not None
    assert (report.apart.noise, report.apart.history, report.outside) == ((2, 2), (0, 0), 2)
    assert check(Pieces(traces, 5), machine) == report


@pytest.mark.parametrize("machine", [None, RewardMachine("state", "state", 2, (Trigger(0, "coffee", 1),))])
def test_a_tolerance_joins_what_one_level_fits(machine: RewardMachine | None) -> None:
    traces = office([1.0, 1.2, 1.1], [0.1, 0.0, 0.2, 5.0])
    for log in (traces, Pieces(traces, 3)):
        loose, tight = check(log, machine, tolerance=2.5), check(log, machine, tolerance=0.1)
        assert loose.markov and loose.outside == 0 and loose.to_json()["tolerance"] == 2.5
        assert (tight.conflicts, tight.outside) == ((1, 4) if machine is None else (1, 1))
        assert tight.witnesses[0].rewards[:2] == (0.0, 5.0)
    with pytest.raises(InputError, match="at least 0"):
        check(traces, tolerance=-1.0)


def test_random_rewards_are_for_replay() -> None:
    machine = RewardMachine("state", "state", 1, (), (Emission(0, 1, 0, 0.5, distribution=(Share(0.0, 1.0, 4),)),))
    with pytest.raises(InputError, match="replay tests the fit"):
        check(office([1], [0]), machine)


def test_audits_have_the_counts() -> None:
    report = check_reward(office([1] * 20 + [0], [0] * 30))
    assert report.verdict == "noise"
    assert report.to_json()["noise"] == {"labels": 1, "steps": 1}
    assert report.to_json()["history"]["steps"] == 20
    assert "noise" not in check_reward(office([1] * 20, [1] * 20)).to_json()


def test_history_beside_noise_is_said() -> None:
    lucky, unlucky = [1] * 60 + [0] * 12, [0] * 60 + [1] * 12
    (note,) = check_reward(office(lucky, unlucky)).notes
    assert "Beside the noise there is history: a machine with 2 states" in note
    assert check_reward(office(lucky, lucky)).notes == ()


def test_the_command_line(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "machine.json"
    traces = office([1] * 20 + [0], [0] * 30)
    write_episodes(log, traces)
    write_machine(out, learn(traces, outliers=1, trigger_on="state", reward_on="state").unwrap())
    told = run_here("check", log)
    assert "Of these, noise: 1 step paid otherwise after the same history; history: 20 steps did" in told.out
    audited = run_here("audit", log)
    assert "(s, a, s') that paid differently: noise: 1 step paid otherwise after the same history" in audited.out
    counts = json.loads(run_here("check", log, "--machine", out, "--json").out)
    assert (counts["noise"]["steps"], counts["history"]["steps"], counts["outside"]) == (1, 0, 1)
    assert run_here("check", log, "--machine", out, "--exit-code").code == 1
    allowed = run_here("check", log, "--machine", out, "--exit-code", "--outliers", "1")
    assert allowed.code == 0 and "off the level of their (u, label, u') of the machine: 1 step" in allowed.out
    assert run_here("check", log, "--machine", out, "--exit-code", "--tolerance", "0.5").code == 0
