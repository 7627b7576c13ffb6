"""What repeated observations say: time or history, nothing at all, and how long one may ask."""

from __future__ import annotations

from typing import Any

import pytest
from defects import Corridor, Step, StepCount
from gymnasium import spaces

import markovize
from markovize import check_reward
from markovize.auditing.logbook import Logbook
from markovize.auditing.machines import action_of
from markovize.auditing.replays import Replays
from markovize.auditing.scripts import Played, Script
from markovize.auditing.sources import EnvSource
from markovize.auditing.walks import Walker


class Unpaid(Corridor):
    """Never pays."""

    def pay(self, _: Step) -> float:
        return 0.0


class EverySecondStep(Corridor):
    """Every second step to the left pays, wherever it was taken."""

    def begin(self) -> None:
        self.count = 0

    def pay(self, step: Step) -> float:
        self.count += step.action == 0
        return float(step.action == 0 and self.count % 2 == 0)


class Constant(Corridor):
    """Always pays the same."""

    def pay(self, _: Step) -> float:
        return -1.0


def test_where_nothing_was_ever_paid_nothing_is_known() -> None:
    report = check_reward(Unpaid(), steps=500)
    assert report.verdict == "not-testable"
    assert "paid anything but 0" in report.reason
    constant = check_reward(Constant(), steps=500)
    assert (constant.verdict, constant.signature) == ("markov", ())


def test_a_few_rewards_on_one_line_over_time_are_of_time() -> None:
    late = [([0] * n + [1], ["go"] * n, [0.0] * (n - 1) + [1 - n / 100]) for n in (3, 5, 6, 9, 14)]
    idle: list[Any] = [([0] * n + [2], ["go"] * n, [0.0] * n) for n in range(1, 8)]
    report = check_reward(late + idle)
    assert (report.verdict, report.signature) == ("time", ("next_state", "time"))


def test_rewards_of_other_steps_confirm_the_line() -> None:
    """Only one step came about twice; the others lie on its line."""
    ends = [(3, 1), (9, 1), (4, 2), (5, 3), (7, 4), (8, 5)]
    late = [([0] * n + [end], ["go"] * n, [0.0] * (n - 1) + [1 - n / 100]) for n, end in ends]
    assert check_reward(late).verdict == "time"
    off = [(states, actions, [*rewards[:-1], rewards[-1] ** 2]) for states, actions, rewards in late]
    assert check_reward(off).verdict == "history"


def test_what_the_time_pays_on_some_occasions_only_is_no_law_of_time() -> None:
    """Only those who began at home are paid, by the time."""

    def episode(start: str, n: int) -> tuple[list[Any], list[str], list[float]]:
        return [start] + [0] * n + [1], ["go"] * (n + 1), [0.0] * n + [(1 - n / 100) * (start == "home")]

    walks = [episode("home", n) for n in range(2, 18, 2)] + [episode("away", n) for n in range(1, 19, 2)]
    assert check_reward(walks).verdict == "history"


def test_agreement_along_a_common_end_counts_once() -> None:
    """Every second push pays. Two episodes begin elsewhere, and agree from then on: that is not due to the time."""

    def episode(start: str, pushes: int) -> tuple[list[str], list[str], list[float]]:
        states = [start, "here", *["here"] * pushes]
        return states, ["go", *["push"] * pushes], [0.0, *(float(n % 2) for n in range(pushes))]

    report = check_reward([episode("left", 40), episode("right", 40)])
    assert report.verdict == "history"


def test_delays_reach_a_reward_again_at_equal_step_numbers() -> None:
    env = StepCount()
    walker = Walker(env, Logbook(), 0)
    while len(walker.earnings.levels()) < 3:
        walker.walk()
    before = len(walker.logbook.episodes)
    for _ in range(20):
        policy = walker._delay()
        walker.play(walker._seed, policy, 12)
    delayed = [one.episode for one in walker.logbook.episodes[before:]]
    ways: dict[int, set[tuple[Any, ...]]] = {}
    for episode in delayed:
        for time, reward in enumerate(episode.rewards):
            if reward:
                ways.setdefault(time, set()).add(tuple(episode.actions[:time]))
    assert max(len(histories) for histories in ways.values()) >= 3


def test_replays_stop_when_patience_is_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    walker = Walker(Corridor(), Logbook(), 0)
    for _ in range(10):
        walker.walk()
    replays, asked = Replays(EnvSource.of(Corridor()), walker.logbook, patience=0.0), []
    play_fresh = replays.play_fresh

    def count(script: Script) -> list[Played]:
        asked.append(script)
        return play_fresh(script)

    monkeypatch.setattr(replays, "play_fresh", count)
    assert replays.find_leak(range(10)) is None
    first = len(asked)
    assert first > 0
    replays.patience = 60.0
    assert replays.find_leak(range(10)) is None
    assert len(asked) == 11 * first


def test_a_history_of_actions_has_a_machine_of_actions() -> None:
    report = check_reward(EverySecondStep(), steps=2_000)
    assert report.verdict == "history"
    machine = report.machine
    assert machine is not None
    assert (machine.states, [trigger.on for trigger in machine.triggers]) == (2, [0, 0])
    assert "trigger_on=lambda s, a, t: a" in report.advice
    env = markovize.MarkovRewardWrapper(EverySecondStep(), machine, trigger_on=action_of)
    observation, _ = env.reset(seed=0)
    states = [env.step(action)[0]["rm_state"] for action in (0, 1, 0, 0)]
    assert (observation["rm_state"], states) == (0, [1, 1, 0, 1])


def test_a_contradiction_counts_however_few_steps_came_back() -> None:
    new = [([n, n + 1, n + 2], ["go", "go"], [0, 0]) for n in range(1_000, 3_000, 3)]
    some = [([start % 6, "hall", "office"], ["go", "go"], [0, start % 2]) for start in range(30)]
    assert check_reward(new + some).verdict == "history"
    agreeing = [([start % 6, "hall", "office"], ["go", "go"], [0, 1]) for start in range(30)]
    assert check_reward(new + agreeing).verdict == "not-testable"


def test_walks_prefer_actions_that_change_something() -> None:
    class Idle(Corridor):
        """Four more actions, which do nothing."""

        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Discrete(6)

        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            return super().step(action) if action < 2 else (self.cell, 0.0, False, False, {})

    walker = Walker(Idle(), Logbook(), 0)
    for _ in range(20):
        walker.walk()
    likely = walker._lively()
    assert likely.sum() == pytest.approx(1)
    assert min(likely[:2]) > 4 * max(likely[2:]) > 0


def test_a_disputed_step_is_tried_at_its_own_time_after_other_histories() -> None:
    """Before the step number is blamed: the same seed and number of steps, one action on the way is another."""
    logbook = Logbook()
    walker = Walker(EverySecondStep(), logbook, 0)
    while not walker.earnings.disputed():
        walker.walk()
    before = len(logbook.episodes)
    for _ in range(30):
        walker.walk_otherwise()
    for played in logbook.episodes[before:]:
        changed = [
            sum(a != b for a, b in zip(episode.actions, played.actions, strict=False))
            for episode, step in walker.earnings.disputed()
            if episode.seed == played.seed and step + 1 >= len(played.actions)
        ]
        assert min(changed) <= 1


@pytest.mark.long
def test_concentration_of_popgym_is_no_reward_of_time() -> None:
    """Turns alternate until a card that lies open is chosen first, which walks alone never met with this seed."""
    popgym = pytest.importorskip("popgym.envs.concentration")
    assert check_reward(popgym.ConcentrationHard, seed=0).verdict == "history"
