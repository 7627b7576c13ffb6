"""Acting where rewards are noisy: a tolerance that is given, one that is found, and none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import gymnasium
import numpy as np
import pytest
from in_process import run_here
from resumed_runs import checkpoints, same

from markovize import ActiveLearner, Emission, GridWorld, RewardMachine, Settings, Trigger
from markovize.agents.tabular import RunResult, Snapshot
from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.compiled.allocation import allocate
from markovize.agents.tabular.compiled.arrays import Rewards, Sizes
from markovize.agents.tabular.compiled.updates import CONTRADICTS, KNOWN, MOVED, NEW, remember_level
from markovize.agents.tabular.kept_episodes import KeptEpisodes
from markovize.agents.tabular.outliers import Settled
from markovize.agents.tabular.repeats import MANY, ROUND, SAME, spread_of_repeats
from markovize.agents.tabular.search import MachineSearch
from markovize.errors import InputError, UnrealisableError

MAP = """
    +---------+
    |k . @ . D|
    +---------+"""
MACHINE = RewardMachine("state", "state", 2, (Trigger(0, "k", 1),), (Emission(1, "D", 1, 1.0, terminal=True),))


class Noisy(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds uniform noise of this half width to each reward; equal seeds make it equal."""

    def __init__(self, env: gymnasium.Env[Any, Any], noise: float) -> None:
        super().__init__(env)
        self.noise = noise

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.rng = np.random.default_rng(seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = self.env.step(action)
        return observation, float(reward) + self.rng.uniform(-self.noise, self.noise), *rest


class Flipped(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Pays 0 for 1 and 1 for 0 now and then; equal seeds make it equal."""

    def __init__(self, env: gymnasium.Env[Any, Any], share: float) -> None:
        super().__init__(env)
        self.share = share

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.rng = np.random.default_rng(seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, *rest = self.env.step(action)
        flipped = self.rng.random() < self.share
        return observation, 1.0 - float(reward) if flipped else float(reward), *rest


def flipped(share: float = 0.01) -> gymnasium.Env[Any, Any]:
    return Flipped(gymnasium.wrappers.TimeLimit(GridWorld(MAP, MACHINE), 30), share)


def corridor(noise: float = 0.1) -> gymnasium.Env[Any, Any]:
    """Fetch the key, then go through the door: eight steps; the noise of all of them adds up."""
    return Noisy(gymnasium.wrappers.TimeLimit(GridWorld(MAP, MACHINE), 30), noise)


def run(noise: float, **settings: Any) -> RunResult:
    return ActiveLearner(corridor(noise), Settings.of(episodes=120, max_steps=30, **settings)).run()


def test_without_an_allowance_noise_is_an_error() -> None:
    with pytest.raises(UnrealisableError, match="allow for it: --tolerance auto, --outliers auto or --reward random"):
        run(0.1)


def test_a_tolerance_that_is_given() -> None:
    result = run(0.1, tolerance=0.1)
    assert (result.machine.states, len(result.machine.triggers)) == (2, 1)
    assert result.greedy_return == pytest.approx(1.0, abs=0.1)
    assert result.noise is not None
    assert [round(level.reward, 1) for level in result.noise.levels] == [0.0, 1.0]
    assert result.noise.levels[1].spread <= 0.1


def test_a_tolerance_that_is_found() -> None:
    """From equal histories alone: these differ by noise, and by nothing else."""
    result = run(0.1, tolerance="auto")
    assert (result.machine.states, len(result.machine.triggers)) == (2, 1)
    assert result.noise is not None
    assert 0.09 < result.noise.tolerance < 0.13
    assert result.greedy_return == pytest.approx(1.0, abs=0.1)
    assert json.dumps(result.to_json()["noise"])


@pytest.mark.parametrize("compiled", [True, False])
def test_nothing_is_taken_for_noise_where_there_is_none(compiled: bool) -> None:
    env = gymnasium.wrappers.TimeLimit(GridWorld(MAP, MACHINE), 30)
    settings = Settings.of(episodes=60, max_steps=30, tolerance="auto")
    result = ActiveLearner(env, settings, compiled=compiled).run()
    assert result.noise is not None
    assert (result.noise.tolerance, result.machine.states, result.greedy_return) == (0.0, 2, 1.0)


@pytest.mark.parametrize("mode", ["directed", "q-learning"])
@pytest.mark.parametrize("tolerance", [0.1, "auto"])
def test_a_run_that_goes_on_ends_as_one_that_never_stopped(
    mode: str, tolerance: float | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.of(mode, episodes=60, max_steps=30, tolerance=tolerance, seed=3)
    whole, saved = checkpoints(corridor, settings, monkeypatch)
    for at in (len(saved) // 3, -1):
        again = ActiveLearner(corridor(), settings)
        again.restore(Snapshot.from_bytes(saved[at]))
        same(again.run(), whole)


def test_q_learning_learns_from_what_was_paid() -> None:
    result = run(0.05, mode="q-learning", tolerance="auto", epsilon=0.5, greedy_tail=0)
    assert result.machine.states == 2
    assert result.noise is not None
    assert 0.04 < result.noise.tolerance < 0.07


def test_steps_that_ones_own_labels_call_alike_are_alike() -> None:
    """Harvest pays the same wherever chance leads: histories of (state, action) tell more of the noise."""

    def label(state: Any, action: Any, _: Any) -> Any:
        return [state, action]

    settings = Settings.of(episodes=60, trigger_on=label, reward_on=label, tolerance="auto", effort=5)
    result = ActiveLearner(gymnasium.make("markovize/HarvestWorld-v0"), settings).run()
    assert result.noise is not None
    assert 0.1 < result.noise.tolerance < 0.5
    assert result.machine.states > 1


def test_outliers_that_are_told_by_votes() -> None:
    """Episodes in conflict are played again: what most of them pay is right."""
    result = ActiveLearner(flipped(), Settings.of(episodes=200, max_steps=30, outliers="auto")).run()
    assert (result.machine.states, len(result.machine.triggers)) == (2, 1)
    assert result.noise is not None
    assert len(result.noise.outliers) > 3
    kept = list(result.kept)
    for outlier in result.noise.outliers:
        assert (outlier.reward, outlier.expected) in ((0.0, 1.0), (1.0, 0.0))
        assert kept[outlier.episode].rewards[outlier.step] == outlier.reward
    assert {level.reward for level in result.noise.levels} == {0.0, 1.0}


class Patrol(gymnasium.Env[Any, Any]):
    """Nine cells in a row: the second pays each time that the eighth was visited before; now and then the opposite."""

    observation_space, action_space = gymnasium.spaces.Discrete(9), gymnasium.spaces.Discrete(2)

    def __init__(self, share: float) -> None:
        self.share = share

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.cell, self.visited, self.steps = 4, False, 0
        return self.cell, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.cell, self.steps = min(8, max(0, self.cell + (1 if action else -1))), self.steps + 1
        reward = float(self.cell == 1 and self.visited)
        self.visited = self.cell == 7 or (self.visited and self.cell != 1)
        if self.np_random.random() < self.share:
            reward = 1 - reward
        return self.cell, reward, False, self.steps >= 30, {}


def test_two_equal_histories_that_disagree_end_no_run() -> None:
    """No label tells them apart and two votes decide nothing; one of them is an outlier all the same."""
    tied: list[bool] = []

    def note(search: MachineSearch, kept: KeptEpisodes | None = None, *, decide: bool = False) -> Settled:
        tied.append(decide)
        return put_right(search, kept, decide=decide)

    put_right = MachineSearch.put_right
    with mock.patch.object(MachineSearch, "put_right", note):
        result = ActiveLearner(Patrol(0.003), Settings.of(episodes=200, outliers="auto", seed=0)).run()
    assert any(tied), "votes were never tied: this run shows nothing"
    assert (result.machine.states, len(result.machine.triggers)) == (2, 2)


def test_a_number_of_outliers_that_is_given() -> None:
    """No conflict is declared at the first flip, nor at the second; what is left unexplained is named."""
    settings = Settings.of(episodes=150, max_steps=30, outliers=40, seed=1)
    result = ActiveLearner(flipped(0.004), settings).run()
    assert result.machine.states == 2
    assert result.noise is not None
    assert 0 < len(result.noise.outliers) <= 40
    assert len(result.solves) < 5


@pytest.mark.parametrize("outliers", [40, "auto"])
def test_a_run_with_outliers_that_goes_on(outliers: int | str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.of(episodes=60, max_steps=30, outliers=outliers, seed=2)
    whole, saved = checkpoints(flipped, settings, monkeypatch)
    again = ActiveLearner(flipped(), settings)
    again.restore(Snapshot.from_bytes(saved[len(saved) // 2]))
    same(again.run(), whole)


@pytest.mark.parametrize(("outliers", "share"), [("auto", 0.01), (20, 0.003)])
def test_a_tolerance_that_is_found_among_outliers(outliers: int | str, share: float) -> None:
    """Flips are ten times as far as the noise: they do not widen the tolerance, and none of them is a trigger."""
    settings = Settings.of(episodes=300, max_steps=30, tolerance="auto", outliers=outliers, seed=1)
    result = ActiveLearner(Noisy(flipped(share), 0.1), settings).run()
    assert (result.machine.states, len(result.machine.triggers)) == (2, 1)
    assert result.noise is not None
    assert 0.09 < result.noise.tolerance < 0.13
    assert len(result.noise.outliers) > 3
    assert all(abs(outlier.reward - outlier.expected) > 0.7 for outlier in result.noise.outliers)
    assert [round(level.reward, 1) for level in result.noise.levels] == [0.0, 1.0]
    assert result.greedy_return == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
def test_a_run_with_both_kinds_of_noise_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.of(episodes=80, max_steps=30, tolerance="auto", outliers="auto", seed=2)
    whole, saved = checkpoints(lambda: Noisy(flipped(), 0.1), settings, monkeypatch)
    again = ActiveLearner(Noisy(flipped(), 0.1), settings)
    again.restore(Snapshot.from_bytes(saved[len(saved) // 2]))
    same(again.run(), whole)


def test_flips_leave_the_spread_of_equal_histories_as_it_is() -> None:
    kept, rng = KeptEpisodes(), np.random.default_rng(0)
    for number in range(200):
        paid = rng.normal(0, 0.1) + (number % 20 == 7)
        kept.add(np.array([0], np.int32), np.array([paid]), True)
    assert spread_of_repeats(kept).seen > 0.5
    assert 0.2 < spread_of_repeats(kept, outliers=True).seen < 0.4
    assert 0.35 < spread_of_repeats(kept, outliers=True).expected < 0.5  # a normal deviation has tails


def search_with(kept: KeptEpisodes, **settings: Any) -> MachineSearch:
    codec = StepCodec([0, 1], [0])
    codec.transition(0, 0, 1)
    search = MachineSearch(Settings.of(**settings), codec)
    search.kept = kept
    return search


def after_one_history(paid: Sequence[float]) -> KeptEpisodes:
    kept = KeptEpisodes()
    for each in paid:
        kept.add(np.array([0], np.int32), np.array([each]), True)
    return kept


def test_the_last_episodes_are_the_same_only_if_they_all_went_and_paid_alike() -> None:
    kept = after_one_history([0.5, 1.0, 1.0])
    assert kept.are_same(2) and not kept.are_same(3) and not kept.are_same(4)
    kept.add(np.array([0, 0], np.int32), np.array([1.0, 1.0]), True)
    assert not kept.are_same(2)
    assert after_one_history([1.0, 1.0, 1.0 + 1e-12]).are_same(3) is False


@pytest.mark.parametrize(("paid", "known"), [([1.0] * 4, True), ([1.0] * 3, False), ([1.0, 1.1] * 5, False)])
def test_levels_are_known_by_few_rewards_where_all_are_the_same(paid: list[float], known: bool) -> None:
    assert search_with(after_one_history(paid), tolerance="auto").knows_levels([1.0]) is known
    assert search_with(after_one_history([]), tolerance=0.1).knows_levels([1.0])  # nobody asks


def test_levels_that_are_noisy_are_known_by_many_rewards() -> None:
    kept = after_one_history(np.random.default_rng(0).uniform(0.9, 1.1, MANY).tolist())
    search = search_with(kept, tolerance="auto")
    assert search.knows_levels([1.0, 0.95])
    assert not search.knows_levels([1.0, 3.0])  # nothing is known of that one


def test_rewards_after_one_history_are_enough_where_they_are_the_same_or_as_wide_as_others() -> None:
    rng = np.random.default_rng(0)
    search = search_with(after_one_history(rng.uniform(0.8, 1.2, 64).tolist()), tolerance="auto")
    assert not search.has_enough([1.0] * SAME) and search.has_enough([1.0] * (SAME + 1))
    narrow = rng.uniform(0.95, 1.05, ROUND).tolist()
    assert search.has_enough(narrow) and not search.has_enough(narrow[:-1])
    assert not search.has_enough(rng.uniform(0, 2, ROUND).tolist())  # wider than anything before


@pytest.mark.parametrize("asked", [{"tolerance": "auto"}, {"outliers": "auto"}, {"tolerance": 0.1}, {"outliers": 1}])
def test_all_machines_are_not_for_noisy_runs(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="all"):
        Settings.of(all=3, **asked)


def test_repeating_where_nothing_is_noisy_soon_ends() -> None:
    """Three repetitions of each episode in conflict, and four of each end, say that there is nothing to be measured."""
    noisy, exact = (run(0, tolerance=each, seed=0) for each in ("auto", 0))
    assert noisy.machine.states == exact.machine.states
    assert noisy.noise is not None and noisy.noise.tolerance == 0
    assert len(noisy.kept) <= len(exact.kept) + 40


@pytest.mark.kernels
def test_what_is_remembered_of_noisy_rewards() -> None:
    rewards = allocate(Rewards, Sizes(1, 2, 2, 2, 1, 2, 1, 1))
    told = [remember_level(rewards, 0, 0, 0, paid, False, False, 0.5) for paid in (1.0, 1.25, 1.125, 1.125, 0.75, 0.5)]
    assert told == [NEW, MOVED, KNOWN, MOVED, MOVED, CONTRADICTS]
    assert (rewards.low[0, 0, 0], rewards.high[0, 0, 0], rewards.made[0, 0, 0]) == (0.5, 1.25, 6)
    assert rewards.paid[0, 0, 0] == pytest.approx(np.mean([1.0, 1.25, 1.125, 1.125, 0.75, 0.5]))


def test_settings_say_what_they_take() -> None:
    with pytest.raises(InputError, match="tolerance must be a number, or auto"):
        Settings.of(tolerance="some")
    with pytest.raises(InputError, match="at least 0"):
        Settings.of(tolerance=-1.0)
    with pytest.raises(InputError, match="exactly"):
        Settings.of(tolerance=0.1, engine="ilp")
    with pytest.raises(InputError, match="outliers must be a whole number, or auto"):
        Settings.of(outliers=1.5)
    with pytest.raises(InputError, match="for q-learning give the tolerance as a number"):
        Settings.of("q-learning", outliers=3, tolerance="auto")
    assert "tolerance" not in Settings.of().to_json()
    assert "outliers" not in Settings.of().to_json()
    assert Settings.of(tolerance="auto").to_json()["tolerance"] == "auto"


def test_the_command_line(tmp_path: Path) -> None:
    words = ["markovize/BreakfastWorld-v0", "--episodes", 60, "--tolerance", "auto", "--out", tmp_path / "out"]
    done = run_here("run", *words)
    assert done.code == 0, done.err
    assert "tolerance 0: rewards have" in done.out
    assert json.loads((tmp_path / "out" / "config.json").read_text())["settings"]["tolerance"] == "auto"
    assert json.loads((tmp_path / "out" / "result.json").read_text())["noise"]["tolerance"] == 0.0
    wrong = run_here("run", "markovize/BreakfastWorld-v0", "--tolerance", "much")
    assert wrong.code == 2
    assert "neither auto nor a number" in wrong.err
