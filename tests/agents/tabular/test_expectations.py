"""What was never done is expected to be like the same action elsewhere, in the same state of the machine."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from resumed_runs import checkpoints, same

from markovize import ActiveLearner, RewardMachine, Settings, Trigger
from markovize.agents.tabular import Snapshot
from markovize.agents.tabular.agent import Agent
from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.expectations import expect_like_actions, with_expected

ACTIONS = ("make", "sell", "rest")
MAKE, SELL, REST = range(3)


def shop(kind: str, machine: RewardMachine, seen: dict[tuple[int, int, int], float]) -> Agent:
    """An agent in three towns, between which chance moves it; what it has seen, by (u, town, action)."""
    codec = StepCodec(["north", "south", "west"], ACTIONS)
    codec.relabel(kind, kind)
    for s in range(3):
        for a in range(3):
            for t in range(3):
                codec.transition(s, a, t)
    agent = Agent.new(codec, machine, (4, 32), steps=5)
    rewards, delta = agent.arrays.rewards, agent.arrays.machine.delta
    for (u, s, a), paid in seen.items():
        x = codec.transition(s, a, s)
        cell = u, codec.rewards.ids[x], delta[u, codec.triggers.ids[x]]
        rewards.paid[cell], rewards.made[cell] = paid, 1
    return agent


def moves(agent: Agent) -> set[tuple[int, Any, int]]:
    return {(trigger.source, trigger.on, trigger.target) for trigger in with_expected(agent).triggers}


TWO_TOWNS = {(u, s, a): 2.0 * (u and a == SELL) for u in (0, 1) for s in (0, 1) for a in range(3)}
MADE = tuple(Trigger(0, (town, "make"), 1) for town in ("north", "south"))
SOLD = tuple(Trigger(1, (town, "sell"), 0) for town in ("north", "south"))


def test_actions_lead_where_they_lead_elsewhere() -> None:
    agent = shop("choice", RewardMachine("choice", "choice", 2, MADE + SOLD), TWO_TOWNS)
    expect_like_actions(agent)
    learned = {(trigger.source, trigger.on, trigger.target) for trigger in MADE + SOLD}
    assert moves(agent) == learned | {(0, ("west", "make"), 1), (1, ("west", "sell"), 0)}
    pays = agent.arrays.machine.pays
    assert (pays[1, 2, SELL], pays[1, 2, REST], pays[0, 2, SELL]) == (2.0, 0.0, 0.0)


def test_where_towns_do_not_agree_nothing_is_expected() -> None:
    agent = shop("choice", RewardMachine("choice", "choice", 2, (*MADE, SOLD[0])), TWO_TOWNS)
    expect_like_actions(agent)
    assert (1, ("west", "sell"), 0) not in moves(agent)


def test_one_town_says_nothing_of_others() -> None:
    seen = {key: paid for key, paid in TWO_TOWNS.items() if key[1] == 0}
    agent = shop("choice", RewardMachine("choice", "choice", 2, (MADE[0], SOLD[0])), seen)
    expect_like_actions(agent)
    assert moves(agent) == {(0, ("north", "make"), 1), (1, ("north", "sell"), 0)}


def test_what_comes_of_it_is_another_matter_than_where_it_was_done() -> None:
    """With whole steps as labels, those from the same town come first."""
    triggers = tuple(Trigger(0, (town, "make", town), 1) for town in ("north", "south"))
    agent = shop("transition", RewardMachine("transition", "transition", 2, triggers), TWO_TOWNS)
    expect_like_actions(agent)
    towns = ("north", "south", "west")
    assert moves(agent) == {(0, (s, "make", t), 1) for s in towns for t in towns}


def test_guesses_are_made_anew_and_what_was_done_is_none() -> None:
    agent = shop("choice", RewardMachine("choice", "choice", 2, MADE + SOLD), TWO_TOWNS)
    expect_like_actions(agent)
    codec, rewards = agent.codec, agent.arrays.rewards
    x = codec.transition(2, MAKE, 2)
    rewards.paid[0, codec.rewards.ids[x], 1] = 0.0  # it was made, and led where it was expected to
    seen = codec.transition(0, SELL, 0)
    rewards.paid[1, codec.rewards.ids[seen], 0] = np.nan  # as if the other towns were all there is
    agent.machine = RewardMachine("choice", "choice", 2, MADE + SOLD[1:])
    expect_like_actions(agent)
    assert (0, ("west", "make"), 1) in moves(agent)
    assert (1, ("west", "sell"), 0) not in moves(agent)


@pytest.mark.parametrize("kind", ["state", "source"])
def test_places_say_nothing_of_other_places(kind: str) -> None:
    agent = shop(kind, RewardMachine(kind, kind, 2, (Trigger(0, "north", 1), Trigger(0, "south", 1))), TWO_TOWNS)
    expect_like_actions(agent)
    assert moves(agent) == {(0, "north", 1), (0, "south", 1)}
    assert not agent.arrays.machine.pays.any()


def test_tables_that_grow_keep_what_is_expected() -> None:
    agent = shop("choice", RewardMachine("choice", "choice", 2, MADE + SOLD), TWO_TOWNS)
    expect_like_actions(agent)
    before = moves(agent)
    agent.grow(64, 512)
    assert moves(agent) == before


def test_harvest_without_labels_of_ones_own() -> None:
    """Choices (s, a) are found by ``auto``: what comes of them by chance is no matter."""
    settings = Settings.of(episodes=150, tolerance="auto", effort=5, gamma=0.9)
    result = ActiveLearner(gymnasium.make("markovize/HarvestWorld-v0"), settings).run()
    assert (result.machine.trigger_on, result.machine.reward_on) == ("choice", "choice")
    assert result.machine.states > 3
    assert all(trigger.source != trigger.target for trigger in result.machine.triggers)


def test_a_run_that_goes_on_expects_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def env() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("markovize/HarvestWorld-v0")

    settings = Settings.of(episodes=120, tolerance="auto", effort=5, seed=1)
    whole, saved = checkpoints(env, settings, monkeypatch)
    for at in (len(saved) // 2, -1):
        again = ActiveLearner(env(), settings)
        again.restore(Snapshot.from_bytes(saved[at]))
        same(again.run(), whole)
