"""Rewards that are random by nature: which machines are found, which are not, and what is said of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import run_here
from instances import coffee
from pieces import Pieces
from scipy.stats import binomtest

from markovize import InputError, LearnResult, Traces, learn, read_machine, replay, write_episodes, write_machine
from markovize.errors import MachineError
from markovize.machine.describe import describe
from markovize.machine.machine import Emission, RewardMachine
from markovize.machine.summary import arrows

PLACES = ("hall", "coffee", "office", "mail", "lift", "yard")
LABELS: dict[str, Any] = {"trigger_on": "state", "reward_on": "state"}


def wander(episodes: int, seed: int, steps: int = 15) -> Traces:
    """Walks from place to place, nothing paid."""
    rng = np.random.default_rng(seed)
    walks = [["hall", *(PLACES[n] for n in rng.integers(len(PLACES), size=steps))] for _ in range(episodes)]
    return Traces.of([(walk, [0] * steps, [0.0] * steps) for walk in walks])


def pay(traces: Traces, chances: Any, seed: int = 0) -> Traces:
    """The same walks; each step pays 1 with the probability that ``chances`` (places so far) gives."""
    draw, paid = np.random.default_rng(seed), list[float]()
    for episode in traces:
        seen = episode.observations
        paid += [float(draw.random() < chances(seen[: n + 2])) for n in range(len(seen) - 1)]
    return replace(traces, rewards=np.array(paid))


def after_coffee(seen: Any) -> float:
    """The office pays more often once there was coffee."""
    return (0.8 if "coffee" in seen else 0.2) if seen[-1] == "office" else 0.0


def toggled(seen: Any) -> float:
    """Each lift switches what the office pays."""
    return (0.8 if list(seen).count("lift") % 2 else 0.2) if seen[-1] == "office" else 0.0


def mail_then_coffee(seen: Any) -> float:
    """The office pays more often after coffee that came after mail."""
    mail = list(seen).index("mail") if "mail" in seen else len(seen)
    return (0.8 if "coffee" in seen[mail:] else 0.2) if seen[-1] == "office" else 0.0


def moves(result: LearnResult) -> list[tuple[int, Any, int]]:
    return [(t.source, t.on, t.target) for t in result.unwrap().triggers]


@pytest.mark.parametrize(
    ("chances", "expected"),
    [
        (after_coffee, [(0, "coffee", 1)]),
        (toggled, [(0, "lift", 1), (1, "lift", 0)]),
        (mail_then_coffee, [(0, "mail", 1), (1, "coffee", 2)]),
    ],
)
def test_the_machine_is_found(chances: Any, expected: list[tuple[int, str, int]]) -> None:
    result = learn(pay(wander(800, 1), chances), reward="random", **LABELS)
    assert (result.status, result.bounds) == ("feasible", (1, 0))
    assert moves(result) == expected
    office = {e.source: e for e in result.unwrap().rewards if e.on == "office"}
    assert office[0].reward == pytest.approx(0.2, abs=0.08)
    assert max(e.reward for e in office.values()) == pytest.approx(0.8, abs=0.08)
    assert all(sum(share.count for share in e.distribution) == e.count for e in office.values())


def test_labels_are_chosen() -> None:
    result = learn(pay(wander(800, 2), after_coffee), reward="random")
    assert (result.trigger_on, result.reward_on) == ("state", "state")
    assert moves(result) == [(0, "coffee", 1)]


def test_what_depends_on_the_step_alone_is_no_history() -> None:
    """The office pays by where one comes from: no machine where labels are open, but one if they hide it."""
    traces = pay(wander(800, 3), lambda seen: 0.0 if seen[-1] != "office" else 0.8 if seen[-2] == "coffee" else 0.2)
    assert learn(traces, reward="random").states == 1
    assert (learn(traces, reward="random", **LABELS).states or 0) > 1


def test_chance_alone_gives_no_machine() -> None:
    """Of 40 Markov data sets hardly any may have one: at most alpha of them, in the long run."""
    found = 0
    for seed in range(40):
        traces = pay(wander(60, seed), lambda seen: 0.2 + 0.1 * PLACES.index(seen[-1]), seed)
        result = learn(traces, reward="random", alpha=0.05, **LABELS)
        found += result.states != 1
    assert binomtest(found, 40, 0.05, "greater").pvalue > 0.01


def test_groups_of_continuous_rewards() -> None:
    traces = wander(800, 4)
    draw = np.random.default_rng(0)
    levels = np.concatenate([[after_coffee(e.observations[: n + 2]) for n in range(e.steps)] for e in traces])
    result = learn(replace(traces, rewards=levels + draw.normal(0, 0.5, traces.steps)), reward="random", **LABELS)
    assert moves(result) == [(0, "coffee", 1)]
    (before, after) = (e for e in result.unwrap().rewards if e.on == "office")
    assert len(before.distribution) == len(after.distribution) == 4
    assert before.distribution[0].low < before.distribution[0].high < before.distribution[1].low


def test_acyclic_machines_have_no_way_back() -> None:
    result = learn(pay(wander(500, 5), toggled), reward="random", acyclic=True, **LABELS)
    assert result.unwrap().acyclic


def test_alternatives_are_what_cannot_be_rejected() -> None:
    """Coffee is always followed by the yard, so both serve."""
    walks = pay(wander(600, 6), after_coffee)
    doubled = []
    for episode in walks:
        seen, paid = [episode.observations[0]], list[float]()
        for place, reward in zip(episode.observations[1:], episode.rewards, strict=True):
            seen += ["coffee", "cup"] if place == "coffee" else [place]
            paid += [0.0, 0.0] if place == "coffee" else [reward]
        doubled.append((seen, [0] * len(paid), paid))
    (trigger,) = learn(doubled, reward="random", **LABELS).unwrap().triggers
    assert {trigger.on, *trigger.alternatives} == {"coffee", "cup"}


def test_replay_is_a_test_of_fit() -> None:
    machine = learn(pay(wander(400, 7), after_coffee), reward="random", **LABELS).unwrap()
    fresh = wander(400, 8)
    fits = replay(machine, pay(fresh, after_coffee, 9))
    assert fits.mismatches == 0 and fits.fit is not None and fits.fit.cells > 6
    other = pay(fresh, lambda seen: 0.5 if seen[-1] == "office" else 0.0, 9)
    wrong = replay(machine, other)
    assert wrong.fit is not None and {misfit.cell[1] for misfit in wrong.fit.misfits} == {"office"}
    assert wrong.mismatches == sum(misfit.steps for misfit in wrong.fit.misfits) > 100
    assert replay(machine, Pieces(other, 7)) == wrong


def test_files_keep_distributions(tmp_path: Path) -> None:
    machine = learn(pay(wander(400, 7), after_coffee), reward="random", **LABELS).unwrap()
    write_machine(tmp_path / "machine.json", machine)
    assert read_machine(tmp_path / "machine.json") == machine
    text = json.loads((tmp_path / "machine.json").read_text())
    for bad, words in (
        ([{"count": 3}], 'has a "reward", or "from" and "to"'),
        ([{"reward": 1.0, "count": -3}], "finite rewards and a count"),
        ([{"from": 2.0, "to": 1.0, "count": 3}], "finite rewards and a count"),
    ):
        text["rewards"][0]["distribution"] = bad
        with pytest.raises(MachineError, match=words):
            RewardMachine.from_json(text)


def test_words_have_means_rounded_to_their_error() -> None:
    machine = learn(pay(wander(400, 7), after_coffee), reward="random", **LABELS).unwrap()
    (line,) = (line for line in describe(machine, rewards=True) if line.startswith("in state 1, entering office"))
    assert line.removeprefix("in state 1, entering office pays ") in {f"{n / 100:g} on average" for n in range(70, 90)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reward": "noisy"}, "reward is 'exact' or 'random'"),
        ({"alpha": 0.1}, "alpha is for reward='random'"),
        ({"reward": "random", "alpha": 1.5}, "between 0 and 1"),
        ({"reward": "random", "alpha": True}, "between 0 and 1"),
        ({"reward": "random", "objective": "states"}, "know no objective"),
        ({"reward": "random", "engine": "ilp"}, "know no engine"),
        ({"reward": "random", "outliers": 2}, "know no outliers"),
        ({"reward": "random", "tolerance": "auto"}, "know no tolerance"),
        ({"reward": "random", "explain": "reward+termination"}, "know no explain"),
        ({"reward": "random", "trigger_on": "guards"}, "random rewards are for labels"),
        ({"reward": "random", "time_limit": 0.0}, "must be positive"),
    ],
)
def test_what_cannot_be_asked_for(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        learn(coffee(), **options)


def test_limits_end_the_search() -> None:
    result = learn(pay(wander(400, 7), after_coffee), reward="random", time_limit=1e-6, **LABELS)
    assert result.chance is not None and result.chance.stopped
    assert (result.states, result.status) == (1, "feasible")


def test_nothing_and_constant_rewards() -> None:
    assert learn([], reward="random").states == 1
    assert learn(wander(5, 0), reward="random").states == 1


def test_the_command_line(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "machine.json"
    write_episodes(log, pay(wander(400, 7), after_coffee))
    labels = ["--trigger-on", "state", "--reward-on", "state"]
    learned = run_here("learn", log, "-o", out, "--reward", "random", *labels)
    assert learned.code == 0
    assert "no lower bound is claimed" in learned.out and "→ 2 states, 1 trigger: 10^" in learned.out
    asked = json.loads(run_here("learn", log, "--reward", "random", "--alpha", "0.001", "--json", *labels).out)
    assert asked["status"] == "feasible" and asked["bounds"] == {"states": 1, "triggers": 0}
    assert asked["random"]["alpha"] == 0.001 and asked["random"]["compared"][0]["significant"]
    assert run_here("replay", out, log).code == 0
    write_episodes(log, pay(wander(400, 7), lambda seen: 0.5 if seen[-1] == "office" else 0.0))
    refuted = run_here("replay", out, log)
    assert refuted.code == 1 and "do not fit" in refuted.out
    assert run_here("draw", out, "-o", tmp_path / "machine.dot").code == 0
    assert run_here("learn", log, "--alpha", "0.1").code == 2


def test_pictures_have_levels_rounded_to_the_noise() -> None:
    """What is zero but for the noise is not worth a line."""
    noisy = {1: 0.0012, 2: -0.003, 3: 1.013}
    levels = tuple(Emission(0, on, 0, level, spread=0.1, count=5) for on, level in noisy.items())
    assert [arrow.lines for arrow in arrows(RewardMachine("state", "state", 1, (), levels))] == [("3: reward 1",)]
