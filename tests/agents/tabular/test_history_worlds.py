"""Default runs in other people's environments whose reward depends on history: the true machine, an optimal policy."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from history_rules import Rule, Ruled, cliff_after, optimal_value, value_of_policy, visit_first
from other_worlds import FirstCard, TwelveCells, taxi_with_a_detour

from markovize.agents.tabular import ActiveLearner, RunResult, Settings
from markovize.episodes.labelling import labelling_of
from markovize.learning.comparison import SHARE
from markovize.learning.learner import Learner
from markovize.learning.result import LearnResult

GAMMA = Settings.of().gamma
SEEDS = range(5)


def landmark(observation: int) -> bool:
    """Whether the taxi is in the corner."""
    return observation // 20 == 0


def taxi_by_rule() -> Ruled:
    """Taxi with a detour, its rule known: who is in the corner, at the start or later, is paid for a delivery."""
    rule = Rule(
        2,
        lambda s: int(landmark(s)),
        lambda m, s, _a, t: int(m or landmark(s) or landmark(t)),
        lambda m, _t, own: own if own < 20.0 or m else -1.0,
    )
    return Ruled(taxi_with_a_detour().unwrapped, rule)


def run(env: gym.Env[Any, Any], **changes: Any) -> RunResult:
    return ActiveLearner(env, Settings.of(**changes)).run()


def lake(*, slippery: bool, coffee: int) -> Ruled:
    return Ruled(gym.make("FrozenLake-v1", is_slippery=slippery), visit_first(coffee, 1.0))


@pytest.mark.parametrize(("slippery", "coffee"), [(False, 2), (True, 8)])
def test_coffee_first_on_the_lake(slippery: bool, coffee: int) -> None:
    env = lake(slippery=slippery, coffee=coffee)
    result = run(env, episodes=600 if not slippery else 2_000)
    assert [(trigger.source, trigger.on) for trigger in result.machine.triggers] == [(0, coffee)]
    value, best = value_of_policy(env, result.policy, GAMMA), optimal_value(env, GAMMA)
    assert value == pytest.approx(best, rel=0.1 if slippery else 1e-6)


def test_the_first_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is proven, and beside a small one other labels get little: most of the time went there before."""
    efforts: dict[tuple[str, str], list[int | None]] = {}
    learn = Learner.learn

    def watched(learner: Learner, *args: Any, **options: Any) -> LearnResult:
        trigger, reward = (labelling_of(on) for on in learner.options.labels[0])
        efforts.setdefault((trigger.kind, reward.kind), []).append(options["effort"])
        return learn(learner, *args, **options)

    monkeypatch.setattr(Learner, "learn", watched)
    result = run(FirstCard(), episodes=100, seed=2)
    machine = result.machine
    assert (result.status, machine.states, len(machine.triggers), machine.trigger_on) == ("optimal", 5, 4, "source")
    whole = Settings.of().effort
    assert whole is not None
    assert max(effort or whole for effort in efforts["source", "state"]) <= whole // SHARE
    assert efforts["source", "transition"][-1] == whole


@pytest.mark.long
def test_a_label_function_for_taxi_with_rewards_on_auto() -> None:
    """The machine is as small as the labels allow, since rewards are refined to transitions."""
    result = run(taxi_with_a_detour(), episodes=300, trigger_on=lambda s, _a, t: landmark(s) or landmark(t))
    assert (result.machine.states, len(result.machine.triggers)) == (2, 1)
    assert result.machine.triggers[0].on is True
    assert result.machine.reward_on == "transition"


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_twelve_cells(seed: int) -> None:
    """Leaving the corner is the trigger: one label by ``source``, two by ``transition``."""
    result = run(TwelveCells(), seed=seed)
    triggers = {trigger.on for trigger in result.machine.triggers}
    assert (result.status, result.machine.states) == ("optimal", 2)
    assert triggers == ({0} if result.machine.trigger_on == "source" else {(0, 0, 4), (0, 2, 1)})
    assert result.greedy_return == 1.0


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_taxi_with_a_detour(seed: int) -> None:
    """The corner with each passenger still to be fetched, and with one on board, for three destinations."""
    result = run(taxi_with_a_detour(), seed=seed)
    corner = {4 * passenger + goal for goal in (1, 2, 3) for passenger in (1, 2, 3, 4) if passenger != goal}
    assert (result.status, result.machine.states, result.machine.trigger_on) == ("optimal", 2, "source")
    assert {trigger.on for trigger in result.machine.triggers} == corner
    env = taxi_by_rule()
    assert value_of_policy(env, result.policy, GAMMA) == pytest.approx(optimal_value(env, GAMMA), abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_the_cliff_after_a_visit(seed: int) -> None:
    env = Ruled(gym.make("CliffWalking-v1"), cliff_after(0))
    result = run(env, seed=seed)
    assert [(trigger.source, trigger.on) for trigger in result.machine.triggers] == [(0, 0)]
    assert value_of_policy(env, result.policy, GAMMA) == pytest.approx(optimal_value(env, GAMMA), abs=1e-6)
