"""What episodes say for a trigger, against the plain definition; and the doubt that little of it leaves."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from instances import random_steps

from markovize import RewardMachine, Traces, Trigger, learn, read_episodes
from markovize.episodes.samples import sample_path
from markovize.machine import support as module
from markovize.machine.support import LITTLE, count_support


def plain_support(machine: RewardMachine, traces: Traces) -> list[tuple[int, int]]:
    out = []
    for trigger in machine.triggers:
        fired, paid = 0, 0
        cells: dict[Any, Counter[float]] = defaultdict(Counter)
        for episode in traces:
            u = v = machine.initial  # with the trigger, and without
            for n in range(episode.steps):
                entered = episode.observations[n + 1]
                fired += (u, entered) == (trigger.source, trigger.on)
                u = machine.step(u, entered)
                after = v if (v, entered) == (trigger.source, trigger.on) else machine.step(v, entered)
                cells[v, entered, after][episode.rewards[n]] += 1
                v = after
        paid = sum(sum(seen.values()) - max(seen.values()) for seen in cells.values())
        out.append((fired, paid))
    return out


@pytest.mark.parametrize("seed", range(10))
def test_against_the_definition(seed: int) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=("state", "state"), episodes=8, length=8)
    result = learn(traces, trigger_on="state", reward_on="state")
    if result.machine is None:
        pytest.skip("no machine")
    assert [(each.steps, each.paid) for each in result.support] == plain_support(result.machine, traces)
    assert [each.trigger for each in result.support] == list(result.machine.triggers)
    assert all(each.paid > 0 for each in result.support), "every trigger of a smallest machine is needed"


def test_labels_of_a_users_own() -> None:
    walks = [(["hall", "key", "door"], [0, 0], [0, 1]), (["hall", "door"], [0], [0])] * 2
    result = learn(Traces.of(walks), trigger_on=lambda _s, _a, t: t == "key", reward_on="state")
    assert [(each.steps, each.paid) for each in result.support] == [(2, 2)]


def test_little_support_is_said_and_much_is_not() -> None:
    walks = [(["hall", "key", "door"], [0, 0], [0, 1]), (["hall", "door"], [0], [0])]
    assert "needed by only 1 paid step " in learn(Traces.of(walks)).doubt
    assert learn(Traces.of(walks * LITTLE)).doubt == ""
    assert learn(Traces.of(walks[:1])).doubt == "", "no trigger, no doubt"
    assert learn(read_episodes(sample_path("office-e"))).doubt == ""


def test_large_data_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORK", 1)
    machine = RewardMachine("state", "state", 2, (Trigger(0, 1, 1),))
    assert count_support(machine, Traces.of([([0, 1, 0], [0, 0], [0, 0])])) == ()
