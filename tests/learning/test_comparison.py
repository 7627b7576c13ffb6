"""Which labels ``auto`` takes: the coarsest that do, unless their machine is large and others have a smaller one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instances import patrol, two_coffees

from markovize import Learner, LearnResult, Traces, learn, read_episodes, replay, write_machine
from markovize.episodes.labelled_steps import label_traces
from markovize.io import read_machine
from markovize.learning import comparison
from markovize.learning.engines import find_engine
from markovize.learning.exemplars import ExemplarSets
from markovize.learning.inquiry import Goal
from markovize.learning.prefix_tree import build_tree
from markovize.learning.result import Compared
from markovize.learning.search import Deepening, Progress

Episode = tuple[list[Any], list[Any], list[float]]


def repeat_first(episodes: int, *, steps: int = 12, suits: int = 4, seed: int = 0) -> list[Episode]:
    """As popgym has it: cards are shown one after the other, and whoever names the first one is paid."""
    rng = np.random.default_rng(seed)
    cards, guesses = rng.integers(0, suits, (episodes, steps + 1)), rng.integers(0, suits, (episodes, steps))
    return [
        (hand.tolist(), own.tolist(), (own == hand[0]).astype(float).tolist())
        for hand, own in zip(cards, guesses, strict=True)
    ]


def lamp(_state: Any, _action: Any, next_state: Any) -> Any:
    """A label of one's own: whether the lamp's cell is entered."""
    return next_state == 2


def switched(steps: int, *, seed: int = 0) -> list[Episode]:
    """One walk over three cells. Pushing costs 1, other moves 2; from the lamp on everything costs twice as much."""
    rng = np.random.default_rng(seed)
    cells, moves = rng.choice([0, 1, 2], steps + 1, p=[0.45, 0.45, 0.1]), rng.integers(0, 2, steps)
    lit = np.cumsum(cells[1:] == 2) > 0
    return [(cells.tolist(), moves.tolist(), ((1.0 + moves) * (1 + lit)).tolist())]


def shape(result: LearnResult) -> tuple[Any, ...]:
    return result.status, result.states, result.triggers, result.trigger_on, result.reward_on


FIRST_CARD = ("optimal", 5, 4, "source", "transition")


def test_triggers_on_the_source_where_the_first_observation_matters() -> None:
    """Gave machines of dozens of states under transition/transition, and no proof."""
    episodes = repeat_first(30)
    result = learn(episodes)
    assert shape(result) == FIRST_CARD == shape(learn(episodes, trigger_on="source"))
    assert replay(result.unwrap(), episodes).mismatches == 0
    first, *others = result.compared
    assert (first.trigger_on, first.reward_on) == ("transition", "transition"), "the coarsest that do"
    assert first.status != "optimal", "a budget that is spent proves nothing"
    assert FIRST_CARD in [(pair.status, pair.states, pair.triggers, pair.trigger_on, pair.reward_on) for pair in others]


def test_the_choice_is_said_and_written(tmp_path: Any) -> None:
    result = learn(repeat_first(30))
    assert result.why_these_labels().startswith("source/transition: those with the smallest machine (compared: trans")
    said = result.to_json()
    assert (said["trigger_on"], said["reward_on"]) == ("source", "transition")
    assert {"trigger_on": "source", "reward_on": "transition", "status": "optimal", "states": 5, "triggers": 4} in said[
        "compared"
    ]
    write_machine(tmp_path / "m.json", result.unwrap())
    assert json.loads((tmp_path / "m.json").read_text())["trigger_on"] == "source"
    assert read_machine(tmp_path / "m.json") == result.machine


@pytest.mark.slow
def test_repeat_first_of_popgym() -> None:
    popgym = pytest.importorskip("popgym.envs.repeat_first")
    env, rng, episodes = popgym.RepeatFirstEasy(), np.random.default_rng(0), []
    for seed in range(50):
        seen, done = [env.reset(seed=seed)[0]], False
        moves, rewards = [], []
        while not done:
            moves.append(int(rng.integers(env.action_space.n)))
            observation, reward, terminated, truncated, _ = env.step(moves[-1])
            seen.append(observation)
            rewards.append(float(reward))
            done = terminated or truncated
        episodes.append(([int(card) for card in seen], moves, rewards))
    assert shape(learn(episodes)) == FIRST_CARD


def test_own_triggers_with_rewards_on_auto() -> None:
    """Rewards of the step under labels of the state: a machine that tells histories apart, where two states do."""
    result = learn(switched(60), trigger_on=lamp)
    assert shape(result) == ("optimal", 2, 1, "function", "transition")
    assert (result.compared[0].reward_on, result.compared[0].status) == ("state", "unknown")


def test_small_machines_stay_under_the_coarsest_labels() -> None:
    for traces in (patrol(3), two_coffees()):
        result = learn(traces)
        assert (result.trigger_on, result.reward_on, result.compared) == ("state", "state", ())
        assert "compared" not in result.to_json()
        assert result.why_these_labels() == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["office-d", "breakfast-c-cumulative"])
def test_hard_searches_stay_under_the_coarsest_labels(name: str) -> None:
    """Among 312 transitions six triggers and three states fit office-d by chance; six and four of 93 states are it."""
    sizes = {"office-d": (4, 6), "breakfast-c-cumulative": (7, 6)}
    file = Path(__file__).parents[2] / "benchmarks" / "data" / f"{name}.jsonl.gz"
    result = learn(read_episodes(file), objective="states", acyclic=True)
    assert shape(result) == ("optimal", *sizes[name], "state", "state")


def test_what_is_asked_for_is_not_compared() -> None:
    result = learn(repeat_first(5, steps=4), trigger_on="transition", reward_on="transition")
    assert (result.trigger_on, result.compared) == ("transition", ())


def test_the_coarsest_labels_stay_where_no_others_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "SMALL", 1)
    result = learn(patrol(3))
    assert shape(result) == ("optimal", 2, 2, "state", "state")
    assert len(result.compared) > 1
    assert "the coarsest, and no smaller machine was found with others" in result.why_these_labels()


def test_what_is_said_of_other_labels_is_true() -> None:
    result = learn(patrol(3))
    own = Compared("state", "state", "optimal", result.states, result.triggers)
    for other, said in [
        (Compared("source", "state", "feasible", 1, 1), "others have smaller machines only without a proof"),
        (Compared("source", "state", "unknown", None, None), "no smaller machine was found with others"),
        (Compared("source", "state", "optimal", 9, 9), "none has a smaller machine"),
    ]:
        assert f"the coarsest, and {said} (" in replace(result, compared=(own, other)).why_these_labels()


def test_a_paused_search_goes_on_exactly() -> None:
    """Machine, proof, bounds and exemplars are those of a search that was never paused."""
    tree = build_tree(label_traces(patrol(4), "state", "state"))[0]
    straight, paused = (Deepening(tree, ExemplarSets(find_engine("sat")), Goal()) for _ in range(2))
    assert straight.run()
    pauses = 0
    while not paused.run_unless(lambda _search: True):
        pauses += 1
    assert pauses > 1 and paused.is_proven
    assert (paused.best, paused.proof()) == (straight.best, straight.proof())
    assert paused.inquiry.exemplars.nodes.tolist() == straight.inquiry.exemplars.nodes.tolist()


def test_labels_are_repeatable_and_warm_calls_agree() -> None:
    episodes, learner = repeat_first(40), Learner()
    for number in (20, 30, 40):
        assert shape(learner.learn(episodes[:number])) == shape(learn(episodes[:number])) == FIRST_CARD
    few = episodes[:3]
    assert shape(learner.learn(few)) == shape(learn(few))


def test_since_is_believed_under_its_own_labels_only() -> None:
    episodes = repeat_first(40)
    earlier = learn(episodes[:30])
    assert shape(earlier) == FIRST_CARD
    again = learn(episodes, since=earlier)
    assert shape(again) == FIRST_CARD
    assert "infeasibility proof" in earlier.proof
    assert "infeasibility proof" not in again.proof
    # under other labels the optimum of these is nothing to start from
    assert shape(learn(two_coffees(), since=earlier)) == shape(learn(two_coffees()))


def test_an_effort_stays_with_the_coarsest_labels() -> None:
    result = Learner().learn(repeat_first(30), effort=100)
    assert (result.trigger_on, result.reward_on, result.compared) == ("transition", "transition", ())


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.02, 0.3, 1.0])
def test_a_time_limit_holds_while_labels_are_compared(limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "BUDGET", 300)  # so that all of them get a turn
    traces = Traces.of(repeat_first(300, steps=40, suits=9))
    learn(traces, time_limit=limit)
    start = time.process_time()
    result = learn(traces, time_limit=limit)
    assert time.process_time() - start < limit + 1
    assert result.status in ("optimal", "feasible", "unknown")
    assert result.machine is None or replay(result.machine, traces).mismatches == 0


@pytest.mark.parametrize("at", ["transition/transition", "source/transition"])
def test_ctrl_c_while_labels_are_compared(at: str, ctrl_c: Callable[[], None]) -> None:
    pressed: list[float] = []

    def press(progress: Progress) -> None:
        if not pressed and (progress.labels or "transition/transition") == at:
            pressed.append(time.process_time())
            ctrl_c()

    episodes = repeat_first(60)
    result = learn(episodes, on_progress=press)
    assert pressed and time.process_time() - pressed[0] < 1
    assert result.interrupted
    assert result.machine is None or replay(result.machine, episodes).mismatches == 0
    assert result.status != "optimal" or shape(result) == FIRST_CARD
