"""Replaying machines with guards: the compiled loop against a plain one, and all that runs machines over episodes."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guarded_machines import BOXES, COFFEE, OFFICE_WALKS, features_of, plain_step, random_machine, random_walks

from markovize import Emission, Feature, InputError, Product, RewardMachine, Traces, check, replay, write_episodes
from markovize.episodes.features import extract_features, tabulate_features
from markovize.io import stream_episodes
from markovize.machine.guarded_run import run_guards
from markovize.machine.replay import run
from markovize.machine.support import count_support


def plain_way(machine: RewardMachine, traces: Traces) -> list[tuple[int, tuple[bool, ...], int]]:
    """(u, valuation, u') of every step, without anything that is compiled."""
    way = []
    for episode in traces:
        u = machine.initial
        for step in zip(episode.observations, episode.actions, episode.observations[1:], strict=False):
            v, valuation = plain_step(machine, u, features_of(step))
            way.append((u, valuation, v))
            u = v
    return way


def test_the_compiled_loop_goes_as_the_plain_one() -> None:
    rng, moved = random.Random(5), 0
    for _ in range(300):
        machine, traces = random_machine(rng), random_walks(rng)
        found, way = run(machine, traces), plain_way(machine, traces)
        assert found.before.tolist() == [u for u, _, _ in way]
        assert found.after.tolist() == [v for _, _, v in way]
        assert [found.reward_labels.values[n] for n in found.reward_labels.ids] == [label for _, label, _ in way]
        fired = run_guards(machine, traces.offsets, tabulate_features(traces, machine.features)).fired
        assert [fired[n] >= 0 for n in range(len(way))] == [u != v for u, _, v in way]
        moved += sum(u != v for u, _, v in way)
    assert moved > 500


def test_reports_agree_with_the_plain_loop() -> None:
    rng, totals = random.Random(6), Counter[str]()
    for _ in range(100):
        machine, traces = random_machine(rng), random_walks(rng)
        unseen = mismatches = 0
        for (u, label, v), reward in zip(plain_way(machine, traces), traces.rewards.tolist(), strict=True):
            said = machine.reward(u, label, v)
            unseen += said is None
            mismatches += said is not None and said != reward
        report = replay(machine, traces)
        assert (report.steps, report.unseen, report.mismatches) == (traces.steps, unseen, mismatches)
        totals.update(unseen=unseen, mismatches=mismatches, fine=traces.steps - unseen - mismatches)
    assert min(totals.values()) > 50


def test_unseen_valuations() -> None:
    assert replay(COFFEE, OFFICE_WALKS).to_json() == {"steps": 6, "unseen": 0, "mismatches": 0, "unseen_paid": 0}
    fewer = replace(COFFEE, rewards=COFFEE.rewards[:-3])
    assert replay(fewer, OFFICE_WALKS).to_json() == {"steps": 6, "unseen": 2, "mismatches": 0, "unseen_paid": 1}
    wrong = replace(COFFEE, rewards=(Emission(1, (True, False), 1, 5.0),))
    report = replay(wrong, OFFICE_WALKS)
    assert (report.mismatches, report.first_mismatch) == (1, (0, 2, 5.0, 1.0))


def test_values_that_no_step_has() -> None:
    traces = Traces.of([([{"here": "hall", "x": 1}] * 3, [0, 0], [0, 0])])
    assert run(COFFEE, traces).after.tolist() == [0, 0]


def test_no_steps() -> None:
    for traces in (Traces.of([]), Traces.of([([{"here": "hall", "x": 1}], [], [])])):
        assert replay(COFFEE, traces).steps == 0


def test_conflicts_that_remain() -> None:
    assert check(OFFICE_WALKS, COFFEE).markov
    one = replace(COFFEE, states=1, triggers=(), rewards=())
    report = check(OFFICE_WALKS, one)
    assert (report.markov, report.testable, len(report.witnesses)) == (False, True, 1)
    assert report.witnesses[0].label == (0, (True, False), 0)


def continuous_walks(episodes: int, seed: int = 0) -> Traces:
    """Walks of a point in a square, paid as the machine of boxes says."""
    rng, walks = np.random.default_rng(seed), []
    for _ in range(episodes):
        points, u, rewards = [(2.0, 8.0)], 0, list[float]()
        while len(rewards) < 40:
            x, y = rng.uniform(0, 10, 2).tolist()
            points.append((x, y))
            v, (held,) = plain_step(BOXES, u, {"x": x, "y": y})
            rewards.append(1.0 if held and u == 1 else 0.0)
            u = v
            if rewards[-1]:
                break
        observations = [{"x": x, "y": y} for x, y in points]
        walks.append((observations, ["go"] * len(rewards), rewards, rewards[-1] == 1.0))
    return Traces.of(walks)


def test_observations_that_never_repeat() -> None:
    traces = continuous_walks(30)
    report = check(traces, BOXES)
    assert report.markov
    assert report.testable, "cells repeat, though no observation does"
    assert replay(BOXES, traces).to_json() == {"steps": traces.steps, "unseen": 0, "mismatches": 0, "unseen_paid": 0}
    (support,) = count_support(BOXES, traces)
    assert (support.steps > 5, support.paid > 5) == (True, True)


def test_what_supports_each_trigger() -> None:
    (support,) = count_support(COFFEE, OFFICE_WALKS)
    assert (support.steps, support.paid) == (1, 1)


def test_logs_read_chunk_by_chunk(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
    walks = [
        ([(o["x"], o["y"]) for o in e.observations], e.actions, e.rewards, e.terminated) for e in continuous_walks(20)
    ]
    traces = Traces.of(walks)
    renamed = json.dumps(BOXES.to_json()).replace('"x"', '"0"').replace('"y"', '"1"')
    machine = RewardMachine.from_json(json.loads(renamed))
    write_episodes(tmp_path / "log.parquet", traces)
    stream = stream_episodes(tmp_path / "log.parquet")
    assert replay(machine, stream) == replay(machine, traces)
    assert replay(machine, traces).mismatches == 0
    assert check(stream, machine) == check(traces, machine)


def test_functions_of_features() -> None:
    bare = Traces.of([([0, 3, 1, 4], ["go"] * 3, [0, 0, 1], True), ([0, 1, 4], ["go"] * 2, [0, 0], True)])
    machine = replace(COFFEE, features=(Feature("here", "categorical"),))

    def places(*step: Any) -> dict[str, Any]:
        return {"here": {3: "coffee", 4: "office"}.get(step[2], "hall")}

    with pytest.raises(InputError, match=r"here is not among those of the episodes: action, state; if .* features="):
        replay(machine, bare)
    assert replay(machine, bare, features=places).mismatches == 0
    assert check(bare, machine, features=places).markov
    assert count_support(machine, bare, features=places)[0].steps == 1
    assert Product.of(bare, machine, features=places).reward((1, 1), "go", (4, 1)) == 1.0


def test_products() -> None:
    walks = Traces.of(
        [
            (["hall", "coffee", "hall", "office"], [0, 0, 0], [0, 0, 1], True),
            (["hall", "hall", "office"], [0, 0], [0, 0], True),
        ]
    )
    guards = RewardMachine.from_json(
        {
            **COFFEE.to_json(),
            "features": [{"name": "state", "kind": "categorical"}],
            "triggers": [{"from": 0, "when": [{"feature": "state", "is": "coffee"}], "to": 1}],
            "reward_guards": [[{"feature": "state", "is": "office"}]],
            "rewards": [],
        }
    )
    labels = RewardMachine("state", "state", 2, tuple(replace(t, on="coffee") for t in guards.triggers))
    one, two = Product.of(walks, guards), Product.of(walks, labels)
    assert one.rewards.tolist() == two.rewards.tolist()
    assert one.target.tolist() == two.target.tolist()


def test_columns_may_be_shared() -> None:
    """A table with more features than the machine has will do."""
    traces = continuous_walks(5)
    table = extract_features(traces, before=True)
    assert run_guards(BOXES, traces.offsets, table).after.tolist() == run(BOXES, traces).after.tolist()
