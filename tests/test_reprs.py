"""Whatever a value holds, its ``repr`` fits ten lines."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import markovize
from markovize import Emission, Episode, RewardMachine, Traces, Trigger, Witness

WIDTH, LINES = 79, 10
LONG = "a very long label, " * 200
MANY = tuple(range(2_000))


def large_traces() -> Traces:
    rng = np.random.default_rng(0)
    return Traces.of([(rng.integers(0, 900, 51), [LONG] * 50, rng.integers(0, 2, 50)) for _ in range(40)])


def large_machine() -> RewardMachine:
    triggers = tuple(Trigger(n, (LONG, n), n + 1, MANY) for n in range(300))
    return RewardMachine("state", "state", 301, triggers, tuple(Emission(0, n, 0, 0.0) for n in MANY))


def small_run() -> markovize.ActiveLearner:
    env = gymnasium.make("markovize/OfficeWorld-v0", task="b")
    return markovize.ActiveLearner(env, markovize.Settings.of("directed", episodes=30))


def values(tmp: Path) -> dict[str, Any]:
    """One value of each public class, as large as they come."""
    traces, machine, learner = large_traces(), large_machine(), small_run()
    unpaid = Traces.of([([LONG, *MANY], MANY, [0] * len(MANY))])
    env = gymnasium.make("FrozenLake-v1")
    long_walk = markovize.Separation(((LONG, LONG, LONG),) * 200, (1.0, 0.0))
    corridor = markovize.GridWorld("+---+\n|@ a|\n+---+", RewardMachine("state", "state", 1))
    return {
        "Traces": traces,
        "Episode": Episode(MANY, MANY, MANY),
        "RewardMachine": machine,
        "Trigger": machine.triggers[0],
        "Feature": markovize.Feature(LONG, "numeric"),
        "Literal": markovize.Literal(LONG, "is", LONG),
        "Guard": markovize.Guard([markovize.Literal(f"{n} {LONG}", "is", LONG) for n in range(50)]),
        "Emission": Emission(0, LONG, 0, 1.0),
        "Witness": Witness(LONG, tuple(map(float, MANY)), (0, 1), (0, 1)),
        "CheckReport": markovize.check(traces),
        "ReplayReport": markovize.replay(machine, traces),
        "RewardReport": markovize.check_reward(traces),
        "LearnResult": markovize.LearnResult("feasible", machine, (1, 0), "triggers", False, "sat", 0.0, 1, LONG),
        "AllMachines": markovize.AllMachines((machine,) * 50, False, 51, (long_walk,) * 49),
        "Separation": long_walk,
        "Certificate": markovize.Certificate({"claims": MANY, "machine": machine.to_json()}, {LONG: b""}),
        "Verification": markovize.Verification(False, LONG),
        "Learner": markovize.Learner(),
        "Product": markovize.Product.of(unpaid, large_machine()),
        "ActiveLearner": learner,
        "Settings": learner.settings,
        "RunResult": learner.run(),
        "GridWorld": corridor,
        "MarkovRewardWrapper": markovize.MarkovRewardWrapper(env, RewardMachine("state", "state", 1)),
        "RecordEpisodes": markovize.RecordEpisodes(env, tmp / "log.jsonl"),
    }


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return values(tmp_path_factory.mktemp("log"))


CLASSES = [
    name
    for name in markovize.__all__
    if inspect.isclass(getattr(markovize, name)) and not issubclass(getattr(markovize, name), Exception)
]


@pytest.mark.parametrize("name", CLASSES)
def test_fits_ten_lines(name: str, examples: dict[str, Any]) -> None:
    text = repr(examples[name])
    assert sum(max(1, -(-len(line) // WIDTH)) for line in text.splitlines()) <= LINES, text[:2000]


def test_small_values_are_shown_whole() -> None:
    machine = RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1),))
    trigger = "Trigger(source=0, on=(1, 1), target=1, alternatives=())"
    shown = f"trigger_on='state', reward_on='state', states=2, triggers=({trigger},), initial=0"
    assert repr(machine) == f"RewardMachine({shown})"
