"""The active learner on the paper's worlds: it ends optimal, repeats itself, and steps as it compiles."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import markovize  # noqa: F401 - registers the worlds
from markovize.agents.tabular import ActiveLearner, RunProgress, RunResult, Settings, Snapshot
from markovize.episodes.labelling import named_kinds
from markovize.errors import InputError
from markovize.learning.engines.sat import SatEngine
from markovize.learning.result import LearnResult
from markovize.machine.machine import RewardMachine
from markovize.machine.replay import replay


def run(world: str, settings: Settings, *, compiled: bool = True, **options: Any) -> RunResult:
    return ActiveLearner(gym.make(f"markovize/{world}-v0", **options), settings, compiled=compiled).run()


@pytest.mark.parametrize(
    ("world", "options", "episodes", "states", "triggers", "best"),
    [
        ("OfficeWorld", {"task": "c"}, 400, 2, 1, 1.0),
        ("OfficeWorld", {"task": "e"}, 600, 4, 3, 1.0),
        ("OfficeWorld", {"task": "loop"}, 600, 4, 4, 5.0),
        ("BreakfastWorld", {"task": "b", "rewards": "full"}, 200, 5, 4, 3.2),
        ("BreakfastWorld", {"task": "b", "rewards": "cumulative"}, 300, 5, 4, 1.6),
        ("BreakfastWorld", {"task": "c", "rewards": "full"}, 200, 7, 6, 2.2),
    ],
)
def test_directed_mode_finds_machine_and_optimum(
    world: str, options: dict[str, Any], episodes: int, states: int, triggers: int, best: float
) -> None:
    result = run(world, Settings.of("directed", episodes=episodes, seed=2), **options)
    assert (result.machine.states, len(result.machine.triggers)) == (states, triggers)
    assert result.greedy_return == pytest.approx(best) == result.optimal_return
    assert result.episodes_to_optimal is not None
    assert replay(result.machine, result.kept).mismatches == 0
    assert len(result.returns) == len(result.lengths) == result.episodes == episodes


def test_transition_labels_are_found_in_beachworld() -> None:
    result = run("BeachWorld", Settings.of("directed", episodes=60, trigger_on="transition", reward_on="transition"))
    assert result.machine.states == 11
    assert result.greedy_return == pytest.approx(5.5) == result.optimal_return


def test_labels_are_refined_when_coarse_ones_cannot_explain() -> None:
    result = run("BeachWorld", Settings.of("directed", episodes=60, seed=0), levels=2)
    assert (result.machine.trigger_on, result.machine.reward_on) == ("transition", "transition")
    assert result.notes
    assert "refined to" in result.notes[-1]


@pytest.mark.parametrize(
    ("options", "states", "best"),
    [({"task": "b"}, 5, 3.2), ({"task": "b", "rewards": "cumulative"}, 5, 1.6), ({"task": "c"}, 7, 2.2)],
)
def test_paper_mode_ends_optimal(options: dict[str, Any], states: int, best: float) -> None:
    result = run("BreakfastWorld", Settings.of("paper", episodes=10_000, seed=3), **options)
    assert result.machine.states == states
    assert result.machine.acyclic
    assert result.greedy_return == pytest.approx(best)
    assert result.exemplars == len(result.kept)
    assert result.episodes >= 10_000
    assert [s.episode for s in result.solves] == sorted(s.episode for s in result.solves)


def test_the_wait_is_capped_and_a_run_without_conflict_says_so() -> None:
    settings = Settings.of("paper", episodes=50, max_wait=80, seed=0)
    result = run("OfficeWorld", settings, task="e")
    assert result.episodes == 80 + 50 - 10
    assert (result.status, result.machine.states, result.solves) == ("no conflict", 1, ())


@pytest.mark.parametrize("mode", ["directed", "paper", "q-learning"])
def test_the_same_seed_gives_the_same_run(mode: str) -> None:
    first, second = (run("BreakfastWorld", Settings.of(mode, episodes=200, seed=7), task="b") for _ in range(2))
    assert first.machine == second.machine
    assert np.array_equal(first.returns, second.returns)
    assert np.array_equal(first.q, second.q)
    other = run("BreakfastWorld", Settings.of(mode, episodes=200, seed=8), task="b")
    assert not np.array_equal(first.lengths, other.lengths)


@pytest.mark.parametrize(
    ("mode", "changes"),
    [("paper", {}), ("q-learning", {"crm": True}), ("q-learning", {"shaping": True, "keep": 20})],
)
def test_stepping_equals_the_compiled_loop(mode: str, changes: dict[str, bool]) -> None:
    """The compiled loop on tables and the plain stepping of the environment end with the same numbers."""
    settings = Settings.of(mode, episodes=120, seed=5, max_wait=120, **changes)
    compiled = run("BreakfastWorld", settings, task="b")
    stepped = run("BreakfastWorld", settings, compiled=False, task="b")
    assert np.array_equal(compiled.returns, stepped.returns)
    assert np.array_equal(compiled.lengths, stepped.lengths)
    assert compiled.machine == stepped.machine
    table = {(u, s, a): q for u, s, a, q in compiled.q_rows()}
    for u, s, a, q in stepped.q_rows():
        assert table[u, s, a] == q


def test_stepping_directs_as_the_compiled_loop_does() -> None:
    """Planned values may differ in their last digit, so only what comes out must agree."""
    settings = Settings.of("directed", episodes=120, seed=5)
    compiled, stepped = (run("BreakfastWorld", settings, compiled=c, task="b") for c in (True, False))
    assert {(t.source, t.on, t.target) for t in compiled.machine.triggers} == {
        (t.source, t.on, t.target) for t in stepped.machine.triggers
    }
    assert compiled.greedy_return == pytest.approx(stepped.greedy_return)


def test_transfer_keeps_values_between_machines() -> None:
    with_it, without = (
        run("BreakfastWorld", Settings.of("q-learning", episodes=300, seed=2, transfer=transfer), task="b")
        for transfer in (True, False)
    )
    assert not np.array_equal(with_it.returns, without.returns)
    assert with_it.machine.states == without.machine.states == 5


def test_progress_is_told() -> None:
    seen: list[RunProgress] = []
    env = gym.make("markovize/BreakfastWorld-v0")
    ActiveLearner(env, Settings.of(episodes=50), on_progress=seen.append).run()
    assert seen
    assert all(p.episodes == 50 and 0 < p.episode <= 50 for p in seen)


def test_ctrl_c_in_a_search_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search swallows Ctrl-C to hand over its best machine; the run must not go on as if nothing had happened."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    learner = ActiveLearner(gym.make("markovize/BreakfastWorld-v0"), Settings.of(episodes=50))
    monkeypatch.setattr("markovize.learning.engines.sat.SatSession.decide", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.run()


@pytest.mark.parametrize(("states", "adopted"), [(3, True), (2_000, False)])
def test_the_best_machine_of_an_interrupted_search(states: int, adopted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the result so far, unless it is a stopgap, whose tables would take longer than anyone waits."""
    saved: list[Snapshot] = []
    env = gym.make("markovize/BreakfastWorld-v0")
    learner = ActiveLearner(env, Settings.of(episodes=50), on_checkpoint=lambda run: saved.append(run.snapshot()))
    learn = learner.search.learn

    def interrupted(*_: object) -> LearnResult:
        return dataclasses.replace(learn(), machine=RewardMachine("state", "state", states), interrupted=True)

    monkeypatch.setattr(learner.search, "learn", interrupted)
    start = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        learner.run()
    assert time.process_time() - start < 5
    assert (learner.so_far().machine.states == states) == adopted
    assert saved[-1].facts["pending"]
    assert RewardMachine.from_json(saved[-1].facts["machine"]).states == 1, "who resumes repeats the search"


def test_results_speak_json() -> None:
    result = run("BreakfastWorld", Settings.of(episodes=50))
    assert {
        "episodes",
        "states",
        "triggers",
        "exemplars",
        "solve_seconds",
        "seconds",
        "greedy_return",
        "optimal_return",
        "episodes_to_optimal",
    } <= set(result.to_json())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 2.0}, "epsilon must be between"),
        ({"gamma": 1.0}, "gamma must be"),
        ({"episodes": 0}, "episodes must be at least 1"),
        ({"seed": -1}, "seed must not be negative"),
        ({"colour": 1}, "no setting 'colour'"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Settings.of("directed", **changes)


class Ours(SatEngine):
    """An engine that is in no registry."""

    name = "ours"


def test_an_engine_as_an_object_ends_as_by_name_and_goes_on_from_a_snapshot() -> None:
    named, given = (Settings.of(episodes=60, engine=engine) for engine in ("sat", Ours()))
    assert given.to_json() == named.to_json() | {"engine": "ours"}
    env = gym.make("markovize/BreakfastWorld-v0")
    learner = ActiveLearner(env, given)
    result = learner.run()
    assert result.machine == ActiveLearner(env, named).run().machine
    again = ActiveLearner(env, given)
    again.restore(Snapshot.from_bytes(learner.snapshot().to_bytes()))
    assert again.agent.machine == result.machine
    with pytest.raises(InputError, match=r"the run was made with other settings \(engine\)"):
        ActiveLearner(env, named).restore(learner.snapshot())


def test_settings_show_functions_by_name() -> None:
    assert Settings.of(trigger_on=max).to_json()["trigger_on"] == "max"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"crm": "yes"}, "crm must be true or false, not 'yes'"),
        ({"seed": True}, "seed must be a whole number, not True"),
        ({"episodes": 1.5}, "episodes must be a whole number, not 1.5"),
        ({"gamma": "0.9"}, "gamma must be a number, not '0.9'"),
        ({"engine": 3}, "engine must be the name of an engine, or an engine, not 3"),
        ({"objective": "size"}, "objective must be one of triggers, states, not 'size'"),
        (
            {"trigger_on": "colour"},
            f"trigger_on must be one of auto, {', '.join(named_kinds())}, module:function, not 'colour'",
        ),
    ],
)
def test_settings_of_the_wrong_kind(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Settings.of(**changes)


def test_settings_take_numpy_numbers_and_label_functions() -> None:
    settings = Settings.of(seed=np.int64(3), epsilon=np.float64(0.5), trigger_on=lambda *step: step[2])
    assert (type(settings.seed), type(settings.epsilon)) == (int, float)
