"""Learning with a tolerance and with outliers: what is named, what is refused, and what ``auto`` takes."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import run_here
from instances import coffee, two_coffees, walk
from pieces import Pieces

from markovize import (
    InputError,
    Learner,
    Traces,
    learn,
    read_episodes,
    read_machine,
    replay,
    write_episodes,
    write_machine,
)
from markovize.cli.learn import _print_noise
from markovize.episodes.allowance import Allowance
from markovize.errors import MachineError
from markovize.learning import advice
from markovize.learning.engines import find_engine
from markovize.learning.engines.base import Rules
from markovize.learning.fronts import Front, Point, collect_points
from markovize.learning.label_front import Question
from markovize.learning.limits import Limits, Stop
from markovize.learning.noise import CLEAR, Chosen, choose_noise, choose_point, with_own_machine, without_noise
from markovize.learning.prefix_tree import cut_tree
from markovize.learning.problem import label_and_merge
from markovize.learning.result import Choice, Noise, Outlier
from markovize.learning.reward_clusters import snap_rewards, tolerances_to_try
from markovize.learning.trimming import trim_rewards
from markovize.machine.machine import RewardMachine
from markovize.machine.support import count_support
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

OFFICE: dict[str, Any] = {"trigger_on": "state", "reward_on": "state"}


@pytest.fixture(scope="module")
def office() -> Traces:
    return noisy_walks(world("office", task="c"), 300, np.random.default_rng(3))


def shaken(traces: Traces, by: float, seed: int = 0) -> Traces:
    noise = np.random.default_rng(seed).uniform(-by, by, traces.steps)
    return replace(traces, rewards=traces.rewards + noise)


def flipped(traces: Traces, steps: list[int]) -> Traces:
    paid = traces.rewards.copy()
    paid[steps] = 1.0 - paid[steps]
    return replace(traces, rewards=paid)


def dense_walks(states: int, labels: int, seed: int) -> Traces:
    """Of a machine that almost every label moves: it takes many triggers."""
    rng = np.random.default_rng(seed)
    after, paid = rng.integers(states, size=(states, labels)), rng.integers(4, size=(states, labels))
    episodes = []
    for _ in range(60):
        places, u, rewards = rng.integers(labels, size=20).tolist(), 0, list[float]()
        for x in places[1:]:
            rewards.append(float(paid[u, x]))
            u = int(after[u, x])
        episodes.append((places, [0] * 19, rewards))
    return Traces.of(episodes)


def many_levels(seed: int, episodes: int, steps: int) -> Traces:
    """Of a machine with four states and six labels, among 74 others with a level each; all rewards are shaken."""
    rng = np.random.default_rng(seed)
    after = {(u, int(x)): int(rng.integers(4)) for u in range(4) for x in rng.choice(6, 3, replace=False)}
    found = []
    for _ in range(episodes):
        is_known = rng.random(steps) < 0.5
        places = np.where(is_known, rng.integers(0, 6, steps), rng.integers(6, 80, steps)).tolist()
        u, rewards = 0, list[float]()
        for x in places[1:]:
            u = after.get((u, x), u)
            rewards.append((0.3 * (u == 3) if x == 0 else 0.5 * x) + rng.uniform(-0.05, 0.05))
        found.append((places, [0] * (steps - 1), rewards))
    return Traces.of(found)


def test_outliers_are_named(office: Traces) -> None:
    wrong = [5, 700, 2_000]
    noisy = flipped(office, wrong)
    result = learn(noisy, outliers=3, **OFFICE)
    assert (result.status, result.states, result.triggers) == ("optimal", 2, 1)
    assert result.noise is not None
    named = [(each.episode, each.step) for each in result.noise.outliers]
    assert named == [office.locate(step) for step in wrong]
    assert all(each.reward == 1.0 - each.expected for each in result.noise.outliers)
    assert result.to_json()["noise"]["outliers"][0]["episode"] == named[0][0]


def test_the_tolerance_is_compared_with_the_whole_range() -> None:
    """One label pays 0, 0.25 and 0.5: half of 0.5 is enough, a little less is not."""
    traces = Traces.of([walk(1, 2, pays=(0.0,)), walk(1, 2, pays=(0.25,)), walk(1, 2, pays=(0.5,))])
    enough = learn(traces, tolerance=0.25, **OFFICE)
    assert (enough.status, enough.states) == ("optimal", 1)
    (emission,) = enough.unwrap().rewards
    assert (emission.reward, emission.spread, emission.count) == (0.25, 0.25, 3)
    assert learn(traces, tolerance=0.2499, **OFFICE).status == "unrealisable"
    assert learn(traces, tolerance=0.2499, outliers=1, **OFFICE).status == "optimal"


def test_the_contradiction_named_is_one_that_exceeds_the_tolerance() -> None:
    """Of four steps with one history, the first two differ, but not by too much."""
    walks = Traces.of([(["hall", "hall"], ["stay"], [reward]) for reward in (0.0, 0.1, 0.15, 1.0)])
    found = learn(walks, tolerance=0.1, **OFFICE).contradiction
    assert found is not None
    assert (found.episodes, found.rewards, found.contradicting_episodes) == ((0, 3), (0.0, 1.0), 1)
    exactly = learn(walks, **OFFICE).contradiction
    assert exactly is not None and exactly.episodes == (0, 1)


@pytest.mark.parametrize("objective", ["triggers", "states"])
def test_what_auto_has_proven_is_what_a_search_of_its_own_proves(office: Traces, objective: Any) -> None:
    noisy = shaken(office, 0.1)
    chosen = learn(noisy, tolerance="auto", objective=objective, **OFFICE)
    assert chosen.noise is not None
    alone = learn(noisy, tolerance=chosen.noise.tolerance, objective=objective, **OFFICE)
    assert (chosen.status, chosen.bounds, chosen.machine) == (alone.status, alone.bounds, alone.machine)
    assert chosen.proof == alone.proof


def test_ends_are_told_apart_whatever_the_tolerance() -> None:
    traces = Traces.of([walk(1, 2, pays=(1.0,), ends=True), walk(1, 0, 1, 2, pays=(1.1,))])
    assert learn(traces, tolerance=1.0, **OFFICE).states == 1
    assert learn(traces, tolerance=1.0, explain="reward+termination", **OFFICE).states == 2


def test_without_noise_the_machine_is_the_same() -> None:
    for traces in (coffee(), two_coffees()):
        exact, noisy = learn(traces, **OFFICE).unwrap(), learn(traces, tolerance=0.1, **OFFICE).unwrap()
        assert exact.triggers == noisy.triggers
        assert [each.reward for each in exact.rewards] == [each.reward for each in noisy.rewards]


def test_calls_of_a_learner_agree_with_fresh_ones(office: Traces, monkeypatch: pytest.MonkeyPatch) -> None:
    """More episodes make rewards of known histories wider, and more of them."""
    monkeypatch.setattr("markovize.learning.entry.ADVICE_SECONDS", 0.1)  # where they contradict each other
    noisy = flipped(shaken(office, 0.1), [40, 900])
    for options in ({"tolerance": 0.1}, {"tolerance": 0.1, "outliers": 2}, {"outliers": 3}):
        learner = Learner(**OFFICE, **options)
        for episodes in (20, 60, 150, 150, 90, 300):
            part = Traces.of(list(noisy)[:episodes])
            warm, fresh = learner.learn(part), learn(part, **OFFICE, **options)
            assert (warm.status, warm.states, warm.triggers) == (fresh.status, fresh.states, fresh.triggers)


@pytest.mark.parametrize("effort", [200, 5_000, None])
def test_no_machine_with_a_cycle_where_there_must_be_none(effort: int | None) -> None:
    """A lamp that is switched: merging histories finds two states with a cycle, which proved itself to be smallest."""
    rng, episodes = np.random.default_rng(0), []
    for _ in range(12):
        seen, lit, paid = rng.choice(["switch", "look"], 7).tolist(), False, []
        for place in seen[1:]:
            paid.append(int(lit and place == "look"))
            lit ^= place == "switch"
        episodes.append((seen, [0] * 6, paid))
    asked: dict[str, Any] = {"acyclic": True, "trigger_on": "state", "reward_on": "state"}
    exact = learn(Traces.of(episodes), **asked)
    noisy = Learner(**asked, tolerance=0.1).learn(episodes, effort=effort)
    assert exact.status == "optimal" and noisy.unwrap().acyclic
    assert noisy.status in ("optimal", "feasible")
    size = (noisy.triggers, noisy.states)
    assert (
        size == (exact.triggers, exact.states) if noisy.status == "optimal" else size >= (exact.triggers, exact.states)
    )


@pytest.mark.filterwarnings("error")
def test_huge_rewards_have_an_allowance_as_well(office: Traces) -> None:
    far = replace(office, rewards=np.where(office.rewards > 0, 1e200, -1e200))
    assert learn(far, tolerance="auto", outliers="auto").machine is not None


def test_auto_takes_no_allowance_for_clean_rewards(office: Traces) -> None:
    result = learn(office, tolerance="auto", outliers="auto", **OFFICE)
    assert result.noise is not None
    assert (result.noise.tolerance, result.noise.allowed, result.noise.outliers) == (0.0, 0, ())
    assert result.unwrap() == learn(office, **OFFICE).unwrap()
    assert result.noise.margin is not None and result.noise.margin > CLEAR


def test_auto_finds_the_tolerance(office: Traces) -> None:
    result = learn(shaken(office, 0.1), tolerance="auto", **OFFICE)
    assert (result.status, result.states, result.triggers) == ("optimal", 2, 1)
    assert result.noise is not None
    assert 0.09 < result.noise.tolerance < 0.11
    assert not result.remarks


def test_a_tolerance_that_is_wider_than_the_gap_between_levels(office: Traces) -> None:
    """Some rewards fit both: of the smallest machines the one that tells clusters of rewards apart is taken."""
    noisy, clean = shaken(office, 0.3), learn(office, **OFFICE)
    for asked in ("auto", 0.3):
        result = learn(noisy, tolerance=asked, **OFFICE)
        assert (result.status, result.states, result.triggers) == ("optimal", 2, 1)
        assert result.unwrap().triggers[0].on == clean.unwrap().triggers[0].on
        assert result.noise is not None and 0.28 < result.noise.tolerance < 0.31


def test_where_clusters_contradict_each_other_rewards_are_searched_as_they_are() -> None:
    """What is paid after one history lies on both sides of the widest gap, and yet within the tolerance."""
    paid = (0.0, 0.3, 0.5, 0.8)
    walks = [([cell, "hall"], ["go"], [reward]) for cell in "xyz" for reward in paid]
    traces = Traces.of([*walks, (["hall", "coffee", "hall"], ["go", "go"], [0.0, 1.2])])
    result = learn(traces, tolerance=0.4, **OFFICE)
    assert (result.status, result.states, result.triggers) == ("optimal", 2, 1)


@pytest.mark.slow
def test_auto_finds_the_tolerance_where_proofs_with_cycles_are_long() -> None:
    """Office d with normal noise: six triggers that a search among rewards as they are leaves open."""
    clean = read_episodes(Path(__file__).parents[3] / "benchmarks" / "data" / "office-d.jsonl.gz")
    noise = np.random.default_rng(100).normal(0, 0.1, clean.steps)
    result = learn(replace(clean, rewards=clean.rewards + noise), tolerance="auto")
    assert (result.status, result.states, result.triggers) == ("optimal", 4, 6)
    assert result.noise is not None and result.noise.tolerance < 0.5


def test_the_margin_is_over_other_machines_not_over_other_tolerances() -> None:
    """Normal noise takes as many bits whatever the tolerance around it."""
    points = [Point(Allowance(0.1, 0), 3, 2, 100.0), Point(Allowance(0.2, 0), 3, 2, 100.0)]
    other = Point(Allowance(1.0, 0), 1, 0, 170.0)
    chosen = choose_point(Front([*points, other]))
    assert chosen.point is points[0] and chosen.margin == 70.0 and len(chosen.front) == 3
    assert choose_point(Front(points)).margin is None
    assert choose_point(Front([points[0], Point(Allowance(0.1, 4), 3, 2, 130.0)])).margin == 30.0


def test_rewards_that_hardly_repeat_are_no_outliers(office: Traces) -> None:
    """Nearly all steps would be outliers; the error says what helps."""
    result = learn(shaken(office, 0.1), outliers="auto", **OFFICE)
    assert result.status == "unrealisable"
    assert result.contradiction is not None and "--tolerance" in result.contradiction.advice


def test_where_rewards_are_taken_as_they_are_the_front_has_the_machine_that_is_returned() -> None:
    before = replace(learn(two_coffees()), machine=None, trigger_on="state", reward_on="state")
    rough = Chosen(None, (Choice(0.0, 0, 6, 11, 113.0), Choice(0.0, 3, 2, 1, 90.0)), -23.0)
    assert with_own_machine(rough, before, two_coffees(), "reward") is rough
    result = learn(two_coffees())
    chosen = with_own_machine(rough, result, two_coffees(), "reward")
    assert (chosen.front[0].states, chosen.front[0].triggers) == (result.states, result.triggers)
    assert chosen.front[1:] == rough.front[1:]
    assert chosen.margin == 90.0 - chosen.front[0].bits
    unsettled = with_own_machine(replace(rough, margin=None), result, two_coffees(), "reward")
    assert unsettled.margin is None  # no allowance was weighed against it


def test_many_outliers_are_named() -> None:
    rng = np.random.default_rng(1)
    walks = Traces.of([(["x"] * 9, [0] * 8, rng.integers(0, 3, 8).tolist()) for _ in range(40)])
    result = learn(walks, outliers="auto", **OFFICE)
    assert result.noise is not None and len(result.noise.outliers) > 100
    assert "of the steps are outliers" in result.remarks[-1]


def test_a_long_front_is_cut_on_the_screen(office: Traces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_episodes(tmp_path / "walks.jsonl", flipped(office, [5, 700]))
    asked = ["learn", str(tmp_path / "walks.jsonl"), "--outliers", "auto"]
    whole = run_here(*asked).out
    monkeypatch.setattr("markovize.cli.learn.MOST_COMPARED", 1)
    cut = run_here(*asked).out
    assert whole.count(" bits\n") > cut.count(" bits\n") == 1 and "→ tolerance 0, 2 outliers" in cut
    assert "longer one" in cut and "longer one" not in whole


def test_a_tolerance_that_holds_all_rewards_is_named() -> None:
    """Noise of any width is one level then, and who believes that needs no machine has not been told enough."""
    rewards = np.random.default_rng(0).normal(0.0, 1.0, 400)
    walks = Traces.of([(["x"] * 5, [0] * 4, rewards[at : at + 4].tolist()) for at in range(0, 400, 4)])
    result = learn(walks, tolerance="auto", **OFFICE)
    assert (result.states, result.triggers) == (1, 0)
    assert "holds all rewards" in result.remarks[-1] and "--reward random" in result.remarks[-1]


def test_auto_finds_outliers(office: Traces) -> None:
    wrong = np.random.default_rng(5).choice(office.steps, 8, replace=False).tolist()
    result = learn(flipped(office, wrong), outliers="auto", **OFFICE)
    assert (result.states, result.triggers) == (2, 1)
    assert result.noise is not None
    assert {(each.episode, each.step) for each in result.noise.outliers} == {office.locate(step) for step in wrong}
    sizes = {(choice.outliers, choice.states) for choice in result.noise.front}
    assert (8, 2) in sizes and min(sizes)[0] <= 8 < max(sizes)[0]


def test_auto_finds_both(office: Traces) -> None:
    noisy = shaken(flipped(office, [17, 1_200, 3_000]), 0.05)
    result = learn(noisy, tolerance="auto", outliers="auto", **OFFICE)
    assert (result.states, result.triggers) == (2, 1)
    assert result.noise is not None
    assert result.noise.tolerance < 0.06
    assert len(result.noise.outliers) == 3


def test_contradictory_rewards_say_what_would_help(office: Traces) -> None:
    noisy = flipped(office, [int(office.offsets[1]), 700])  # a first step, whose history many episodes share
    result = learn(noisy, **OFFICE)
    assert result.status == "unrealisable"
    assert f"With 2 outliers of {office.steps:,} steps (--outliers 2): 2 states, 1 trigger." in str(
        result.contradiction
    )


def test_a_large_machine_of_finer_labels_comes_with_a_hint_at_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each episode has actions of its own, so that finer labels explain whatever was paid."""
    walks = [(["hall", "hall", "yard"], [n, n], [0.0, float(n == 7)]) for n in range(60)]
    assert "--outliers auto" not in " ".join(learn(walks).remarks)  # a machine of one state is small
    monkeypatch.setattr(advice, "SMALL", 0)
    result = learn(walks)
    assert (result.trigger_on, result.reward_on) == ("state", "transition")
    assert "with state/state labels only 1 of 120 steps contradict" in result.remarks[-1]
    clean = [(observations, actions, [0.0, 0.0]) for observations, actions, _ in walks]
    assert not learn(clean).remarks


def test_a_long_search_hints_at_noise_while_it_goes_on(office: Traces, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long walks have histories of their own: flips contradict nothing, and a machine that explains them is huge."""
    monkeypatch.setattr(advice, "LONG_SECONDS", 0.0)
    number = np.arange(office.steps) - office.offsets[:-1].repeat(np.diff(office.offsets))
    wrong = np.flatnonzero((number > 25) & (office.rewards == 0))[::300].tolist()
    told: list[str] = []
    noisy = flipped(office, wrong)
    result = learn(noisy, time_limit=6, on_progress=lambda progress: told.append(progress.hint), **OFFICE)
    assert result.status != "optimal"
    hint = f"with {len(wrong)} outliers of {office.steps:,} steps (--outliers {len(wrong)}): 2 states, 1 trigger."
    assert told[-1].endswith(hint) and result.remarks[-1].endswith(hint)
    clean = learn(office, on_progress=lambda progress: told.append(progress.hint), **OFFICE)
    assert clean.status == "optimal" and not clean.remarks


@pytest.mark.parametrize("share", [0.2, 0.0])
def test_what_supports_a_trigger_is_the_same_with_noise(office: Traces, share: float) -> None:
    """Levels within the tolerance of each other are no evidence; for ``learn`` as for ``draw --episodes``."""
    clean, noisy = learn(office, **OFFICE), shaken(office, share)
    result = learn(noisy, tolerance=share, **OFFICE)
    counts = [(each.steps, each.paid) for each in clean.support]
    assert [(each.steps, each.paid) for each in result.support] == counts
    machine = result.unwrap()
    again = count_support(machine, without_noise(machine, noisy))
    assert [(each.steps, each.paid) for each in again] == counts


def test_a_limit_holds_while_an_allowance_is_chosen(office: Traces) -> None:
    result = learn(flipped(office, list(range(0, 3_000, 50))), outliers="auto", time_limit=0.05, **OFFICE)
    assert result.status in ("optimal", "feasible", "unknown", "unrealisable")
    assert result.seconds < 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tolerance": -1.0}, "at least 0"),
        ({"tolerance": float("nan")}, "at least 0"),
        ({"tolerance": "much"}, "the tolerance is a number"),
        ({"outliers": 1.5}, "whole number"),
        ({"outliers": True}, "whole number"),
        ({"outliers": 1, "engine": "ilp"}, "the engine ilp explains rewards exactly"),
        ({"outliers": "auto", "trigger_on": "guards", "engine": "sat"}, "guards have an objective and an engine"),
    ],
)
def test_what_cannot_be_asked_for(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        learn(coffee(), **options)


def test_a_learner_needs_numbers() -> None:
    with pytest.raises(InputError, match="auto is for learn"):
        Learner(tolerance="auto")


def test_files_keep_levels_spreads_and_counts(office: Traces, tmp_path: Path) -> None:
    machine = learn(shaken(office, 0.1), tolerance=0.1, **OFFICE).unwrap()
    write_machine(tmp_path / "machine.json", machine)
    assert read_machine(tmp_path / "machine.json") == machine
    assert sum(each.count for each in machine.rewards) == office.steps
    text = json.loads((tmp_path / "machine.json").read_text())
    for field, bad, words in (("spread", -0.1, "the spread must be"), ("count", -1, "the count must be")):
        text["rewards"][0] |= {"spread": 0.1, "count": 1} | {field: bad}
        with pytest.raises(MachineError, match=words):
            RewardMachine.from_json(text)


def test_replay_within_a_tolerance(office: Traces) -> None:
    noisy = shaken(office, 0.1)
    machine = learn(noisy, tolerance=0.1, **OFFICE).unwrap()
    assert replay(machine, noisy, tolerance=0.1).mismatches == 0
    assert replay(machine, noisy).mismatches > 100
    assert replay(machine, flipped(noisy, [3, 4]), tolerance=0.1).mismatches == 2


def test_the_command_line(office: Traces, tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "machine.json"
    write_episodes(log, flipped(office, [5, 700, 2_000]))
    labels = ["--trigger-on", "state", "--reward-on", "state"]
    learned = run_here("learn", str(log), "-o", str(out), "--outliers", "auto", *labels)
    assert learned.code == 0
    assert "With 3 outliers:" in learned.out and "paid 1 instead of 0" in learned.out
    assert "→ tolerance 0, 3 outliers: 2 states, 1 trigger" in learned.out
    asked = run_here("learn", str(log), "--outliers", "3", "--tolerance", "0.1", "--json", *labels)
    assert json.loads(asked.out)["noise"]["allowed"] == 3
    assert run_here("replay", str(out), str(log)).code == 1
    assert run_here("replay", str(out), str(log), "--outliers", "3", "--tolerance", "0.1").code == 0
    for wrong in (["--outliers", "few"], ["--outliers", "2.5"], ["--tolerance", "-1"], ["--tolerance", "nan"]):
        refused = run_here("learn", str(log), *wrong)
        assert refused.code == 2
        assert len(refused.err.strip().splitlines()) == 1


def test_tolerances_are_widths_of_clusters() -> None:
    assert tolerances_to_try(np.array([2.0, 2.0])) == [0.0]
    rng = np.random.default_rng(0)
    found = tolerances_to_try(np.concatenate([rng.uniform(-0.1, 0.1, 500), rng.uniform(0.9, 1.1, 50)]))
    assert found[0] == 0
    assert any(0.09 < each < 0.1 for each in found)


def test_rewards_are_snapped_to_clusters() -> None:
    rng = np.random.default_rng(0)
    noise = rng.uniform(-0.1, 0.1, 500)
    levels = rng.integers(0, 3, 500).astype(float)
    snapped = snap_rewards(levels + noise, 0.1)
    assert snapped is not None
    assert len(np.unique(snapped)) == 3
    assert np.abs(snapped - levels).max() <= 0.1
    assert snap_rewards(rng.uniform(0, 1, 500), 0.0005) is None


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_both_allowances_among_normal_noise_and_flips(seed: int) -> None:
    """The tolerance reaches to the farthest normal deviation: what is beyond are flips, and none of it a trigger."""
    rng = np.random.default_rng(seed)
    clean = noisy_walks(world("breakfast", task="b", rewards="cumulative"), 150, rng)
    levels = np.unique(clean.rewards)
    gap, wrong = float(np.diff(levels).min()), rng.random(clean.steps) < 0.001
    paid = np.where(wrong, levels[(np.searchsorted(levels, clean.rewards) + 1) % len(levels)], clean.rewards)
    noisy = replace(clean, rewards=paid + rng.normal(0, gap / 10, clean.steps))
    options: dict[str, Any] = {"trigger_on": "state", "reward_on": "state", "acyclic": True}
    result, exact = learn(noisy, **options, tolerance="auto", outliers="auto"), learn(clean, **options)
    assert (result.states, result.triggers) == (exact.states, exact.triggers)
    assert result.noise is not None
    assert 0.3 * gap < result.noise.tolerance < 0.5 * gap
    named = {(outlier.episode, outlier.step) for outlier in result.noise.outliers}
    assert named == {clean.locate(step) for step in np.flatnonzero(wrong).tolist()}


@pytest.mark.parametrize("options", [{"outliers": 2}, {"outliers": "auto"}, {"outliers": 2, "tolerance": 0.1}])
def test_outliers_of_a_stream_are_named_by_their_own_steps(options: dict[str, Any]) -> None:
    """A stream's equal beginnings are merged elsewhere: then a step is not that of one episode."""
    pays, lost = (["hall", "coffee", "hall", "office"], [0, 0, 0], [0, 0, 1]), ([0, 0, 0], [0, 0, 0])
    episodes = [pays] * 20 + [(["hall", "hall", "hall", "office"], *lost)] * 20 + [(pays[0], *lost)] * 2
    traces = Traces.of([*episodes, (["hall", "coffee", "hall", "hall", "office"], [0] * 4, [0, 0, 0, 1])])
    for log in (traces, Pieces(traces, 7)):
        result = learn(log, **OFFICE, **options)
        assert result.noise is not None
        assert [(each.episode, each.step) for each in result.noise.outliers] == [(40, 2), (41, 2)]


def test_ctrl_c_while_an_allowance_is_chosen_ends_the_search_too(office: Traces) -> None:
    noisy = flipped(office, list(range(0, office.steps, 60)))
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        result = learn(noisy, outliers="auto", **OFFICE)
    finally:
        timer.cancel()
    assert result.interrupted
    assert result.seconds < 10


def test_ctrl_c_while_advice_is_looked_for_is_not_lost(office: Traces, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*traces_and_more: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return choose_noise(*traces_and_more, **options)

    monkeypatch.setattr("markovize.learning.advice.choose_noise", pressed)
    result = learn(flipped(office, [int(office.offsets[1])]), **OFFICE)
    assert (result.status, result.interrupted) == ("unrealisable", True)


def test_outliers_are_found_where_a_machine_does_not_grow_trigger_by_trigger() -> None:
    """Cumulative rewards: all is paid at the door, so that a first trigger alone explains next to nothing."""
    clean = noisy_walks(world("breakfast", task="b", rewards="cumulative"), 300, np.random.default_rng(7))
    rng, paid = np.random.default_rng(1), clean.rewards.copy()
    wrong = np.sort(rng.choice(clean.steps, 4, replace=False))
    paid[wrong] = 1.0 - paid[wrong]
    exactly = learn(clean, **OFFICE)
    result = learn(replace(clean, rewards=paid), outliers="auto", **OFFICE)
    assert (result.states, result.triggers) == (exactly.states, exactly.triggers)
    assert result.noise is not None
    assert [(each.episode, each.step) for each in result.noise.outliers] == [clean.locate(int(step)) for step in wrong]


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, 2])
def test_a_task_done_in_one_of_two_long_ways_is_found_under_outliers(seed: int) -> None:
    """The second way pays only once all of its three triggers are there: no single one of them shortens anything."""
    rng = np.random.default_rng(seed)
    breakfast = noisy_walks(world("breakfast", task="c", rewards="cumulative"), 200, rng)
    wrong = rng.random(breakfast.steps) < 0.001
    noisy = replace(breakfast, rewards=np.where(wrong, rng.choice([0.0, 0.65, 1.1], len(wrong)), breakfast.rewards))
    question = Question(0.0, None, True, "reward", Learner().options.engine)
    point = choose_noise(noisy, question, [("state", "state")], Limits()).point
    assert point is not None
    assert (point.states, point.triggers) == (7, 6)
    assert point.allowance.outliers <= np.count_nonzero(noisy.rewards != breakfast.rewards)


def test_no_noise_is_claimed_where_time_was_up_before_that_was_settled(office: Traces) -> None:
    learner = Learner(**OFFICE)
    question = Question(0.0, None, False, "reward", learner.options.engine)
    short = choose_noise(office, question, [("state", "state")], Limits(time.monotonic()))
    assert short.point is None
    assert choose_noise(office, question, [("state", "state")], Limits()).point is None


def test_outliers_by_their_end_are_named() -> None:
    """Where ends are to be explained as well, a step may be wrong about that, about its reward, or both."""
    pays, other = (["h", "c", "o"], [0, 0], [0, 1], True), (["h", "h", "o"], [0, 0], [0, 0], False)
    wrong = [(*pays[:3], False), (*pays[:2], [0, 0], False)]
    result = learn([pays] * 20 + [other] * 20 + wrong, outliers=2, explain="reward+termination", **OFFICE)
    assert (result.status, result.states, result.termination_conflicts) == ("optimal", 2, ())
    assert result.noise is not None
    assert [str(each) for each in result.noise.outliers] == [
        "episode 40 step 1 did not end it",
        "episode 41 step 1 paid 0 instead of 1 and did not end it",
    ]
    assert result.to_json()["noise"]["outliers"][0]["ends"] is False
    assert [each.terminal for each in result.unwrap().rewards if each.reward] == [True]


def test_without_a_tolerance_any_other_reward_is_an_outlier_however_near() -> None:
    pays, other = (["h", "c", "o"], [0, 0], [0, 1.0]), (["h", "h", "o"], [0, 0], [0, 0])
    result = learn([pays] * 20 + [other] * 20 + [(*pays[:2], [0, 1.0000000000000002])], outliers=1, **OFFICE)
    assert result.noise is not None
    assert [str(each) for each in result.noise.outliers] == ["episode 40 step 1 paid 1.0000000000000002 instead of 1.0"]


def test_a_tolerance_is_printed_so_that_it_does_again(office: Traces, tmp_path: Path) -> None:
    """Rounded down, it would not explain the rewards: what is said can be asked for."""
    write_episodes(tmp_path / "walks.jsonl", shaken(office, 0.0317))
    told = run_here("learn", str(tmp_path / "walks.jsonl"), "--tolerance", "auto")
    assert told.code == 0
    said = next(line for line in told.out.splitlines() if line.startswith("With a tolerance of "))
    again = run_here("learn", str(tmp_path / "walks.jsonl"), "--tolerance", said.removeprefix("With a tolerance of "))
    assert again.code == 0
    assert said in again.out.splitlines()


def test_the_taken_allowance_is_marked_also_where_fewer_outliers_do(
    office: Traces, capsys: pytest.CaptureFixture[str]
) -> None:
    """The machine that is returned may have fewer of them than the one that was compared."""
    noise = Noise(0.0, 9, (Outlier(0, 1, 0.0, 1.0),), (Choice(0.0, 4, 9, 12, 310.0), Choice(0.0, 9, 3, 2, 140.5)))
    assert noise.taken == (0.0, 9)
    _print_noise(replace(learn(office, **OFFICE), noise=noise), everything=True)
    told = capsys.readouterr().out
    assert "With 1 outlier of 9 allowed:" in told
    assert "→ tolerance 0, 9 outliers: 3 states, 2 triggers, 140 bits" in told


def test_a_tolerance_that_makes_one_level_of_two_values_says_so(office: Traces) -> None:
    """Chance is no error of measurement: the shortest description may still be a level in the middle."""
    rng, walks = np.random.default_rng(0), []
    for _ in range(200):
        places = rng.choice(["hall", "coffee", "office", "mail"], 9).tolist()
        armed, paid = False, list[float]()
        for place in places[1:]:
            armed |= place == "coffee"
            level = {"office": 4.0 * armed, "mail": float(rng.random() < 0.3)}.get(place, 0.0)
            paid.append(level + rng.uniform(-0.02, 0.02))
        walks.append((places, [0] * 8, paid))
    remarks = learn(walks, tolerance="auto", **OFFICE).remarks
    assert any("makes one level of what (1, mail, 1) pays" in each for each in remarks), remarks
    remarks = learn(walks, tolerance=0.02, outliers="auto", **OFFICE).remarks
    assert any("steps of (1, mail, 1) are outliers" in each for each in remarks), remarks
    assert not learn(shaken(office, 0.1), tolerance="auto", **OFFICE).remarks


def test_two_values_are_told_also_beside_an_outlier_but_not_where_chance_makes_two_of_many_labels() -> None:
    rng = np.random.default_rng(0)
    walks: list[Any] = [(["x"] * 2, [0], [float(rng.choice([0.95, 1.05]))]) for _ in range(60)]
    walks += [(["x"] * 2, [0], [9.0])]
    assert any("makes one level of what (0, x, 0)" in n for n in learn(walks, tolerance=0.06, outliers=1).remarks)
    labels = np.repeat(np.arange(300), 10)
    many = [(["x", int(at)], [0], [at + float(rng.uniform(-0.1, 0.1))]) for at in labels]
    assert not any("makes one level" in n for n in learn(many, tolerance=0.1, **OFFICE).remarks)


def test_a_random_label_is_named_beside_a_common_one_with_more_outliers() -> None:
    coin = [(["x", "coin"], [0], [float(n % 2)]) for n in range(40)]
    hall = [(["x", "hall"], [0], [float(n < 30)]) for n in range(2_000)]
    remarks = learn(coin + hall, outliers=50, **OFFICE).remarks
    assert any("20 of the 40 steps of (0, coin, 0) are outliers" in each for each in remarks), remarks


def test_an_outlier_by_its_end_has_no_other_reward() -> None:
    pays = [(["h", "o"], [0], [paid], True) for paid in (1.0, 1.05, 0.95)] * 20
    result = learn([*pays, (["h", "o"], [0], [0.96], False)], tolerance=0.1, outliers=1, explain="reward+termination")
    assert result.noise is not None
    assert [str(each) for each in result.noise.outliers] == ["episode 60 step 0 did not end it"]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_numbers_of_numpy_are_allowances(kind: type, office: Traces) -> None:
    asked: Any = {"outliers": kind(3)} if kind is np.int64 else {"tolerance": kind(0.25)}
    result = learn(flipped(office, [5]) if kind is np.int64 else shaken(office, 0.2), **asked, **OFFICE)
    assert (result.status, result.states) == ("optimal", 2)
    json.dumps(result.to_json())


@pytest.mark.parametrize("seconds", [0.002, 0.01, 0.03, 0.1, 0.3])
def test_no_noise_is_claimed_of_clean_data_whenever_time_is_up(seconds: float) -> None:
    clean = dense_walks(4, 4, seed=0)
    result = learn(clean, outliers="auto", tolerance="auto", time_limit=seconds, **OFFICE)
    assert result.noise is not None
    assert (result.noise.tolerance, result.noise.outliers) == (0.0, ())


def test_a_choice_that_a_limit_stopped_says_so(tmp_path: Path) -> None:
    clean = dense_walks(5, 5, seed=0)
    result = learn(clean, tolerance="auto", outliers="auto", time_limit=0.01, **OFFICE)
    assert result.noise is not None
    assert result.noise.stopped
    assert result.to_json()["noise"]["stopped"] is True
    assert any(remark.startswith("not all allowances were compared") for remark in result.remarks)
    write_episodes(tmp_path / "walks.jsonl", clean)
    asked = ["--tolerance", "auto", "--outliers", "auto", "--time-limit", "0.01"]
    told = run_here("learn", str(tmp_path / "walks.jsonl"), *asked)
    assert told.code == 3
    assert "not all allowances were compared before the limit" in told.out


@dataclass(frozen=True)
class Started:
    """Where a search for machines begins: what of it decides whether noise is claimed."""

    alone: Point
    may_be_exact: bool = True
    least: float = 0.0
    rank: float = 0.0


def collected(first: Started, other: Started, stops: bool) -> Front:
    """The points of two label pairs: the first gives way and is never done if time is up; the other is done at once."""

    def add(start: Started, front: Front) -> Iterator[float]:
        if start is first:
            front.points.append(replace(start.alone, allowance=Allowance(0.0, 20)))  # which leaves much
            yield 0.0
            if stops:
                raise Stop
        front.settle(start)

    return collect_points(np.array([0.0, 1.0]), 0.0, None, lambda _, others: [other if others else first], add)


def test_what_one_search_settles_is_not_settled_for_others() -> None:
    first, other = (Started(Point(Allowance(0.0, 30), 1, 0, 900.0, labels=(each, each))) for each in ("a", "b"))
    assert collected(first, other, stops=True).open
    assert choose_point(collected(first, other, stops=True)).point is None
    assert not collected(first, other, stops=False).open
    assert not collected(replace(first, least=1000.0), other, stops=True).open  # no exact machine could be shorter


def test_the_command_does_not_call_what_is_longer_the_shortest(
    office: Traces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where time was up before it was known whether there is noise, rewards are taken as they are; that is said."""
    front = (Choice(0.0, 0, 9, 12, 310.0), Choice(0.0, 9, 1, 0, 1.5))
    monkeypatch.setattr(
        "markovize.learning.entry.choose_allowance", lambda *_, **__: Chosen(None, front, None, stopped=True)
    )
    write_episodes(tmp_path / "walks.jsonl", office)
    told = run_here("learn", str(tmp_path / "walks.jsonl"), "--outliers", "auto")
    assert told.code == 3
    assert "it is not settled whether there is any noise, and rewards are taken as they are" in told.out


def test_a_choice_that_nothing_stopped_does_not_say_so(office: Traces) -> None:
    result = learn(flipped(office, [5]), outliers="auto", **OFFICE)
    assert result.noise is not None
    assert not result.noise.stopped
    assert "stopped" not in result.to_json()["noise"]


@pytest.mark.parametrize("allowances", [{"tolerance": "auto"}, {"outliers": "auto"}], ids=str)
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_machines_with_many_triggers_are_no_noise(seed: int, allowances: dict[str, Any]) -> None:
    """Searches for few triggers are in vain there, and so are those for few outliers."""
    result = learn(dense_walks(4, 4, seed), **allowances, **OFFICE)
    assert result.status == "optimal"
    assert (result.triggers or 0) > 5
    assert result.noise is not None
    assert (result.noise.tolerance, result.noise.outliers) == (0.0, ())


@pytest.mark.parametrize(("seed", "steps"), [(16, (40, 20)), (1, (30, 30)), (2, (30, 30))])
def test_solvers_of_a_choice_are_not_those_of_other_outcomes(seed: int, steps: tuple[int, int]) -> None:
    """Over 64 clusters a search is in rewards as they are; where their levels lie apart, the next one is not."""
    noisy = many_levels(seed, *steps)
    options = {**OFFICE, "tolerance": 0.05, "objective": "states"}
    chosen = learn(noisy, **{**options, "outliers": "auto"})
    assert chosen.noise is not None
    fresh = learn(noisy, **{**options, "outliers": chosen.noise.allowed})
    assert (chosen.status, chosen.states, chosen.triggers) == (fresh.status, fresh.states, fresh.triggers)


@pytest.mark.parametrize(("width", "rare", "left"), [(0.0, 1, [0, 0, 0, 5, 5, 7, 7]), (0.0, 2, [0, 0, 0, 0, 0, 7, 7])])
def test_rare_rewards_become_usual_ones(width: float, rare: int, left: list[float]) -> None:
    traces = Traces.of([(["hall"] * 7 + ["door"], ["go"] * 7, [0, 0, 1, 5, 5, 0, 7]), (["hall", "door"], ["go"], [7])])
    trimmed, steps = trim_rewards(traces, "state", width, rare)
    assert sorted(trimmed.rewards.tolist()) == sorted([*left, 0])
    assert steps == np.count_nonzero(trimmed.rewards != traces.rewards)


def test_rewards_that_are_near_each_other_are_not_rare() -> None:
    traces = Traces.of([(["hall"] * 5, ["stay"] * 4, [0.0, 0.1, 0.05, 9.0])])
    assert trim_rewards(traces, "state", 0.2, 1)[0].rewards.tolist() == [0.0, 0.1, 0.05, 0.0]


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_front_is_drawn(kind: str, office: Traces, tmp_path: Path) -> None:
    write_episodes(tmp_path / "walks.jsonl", flipped(office, [5, 700]))
    told = run_here(
        "learn", str(tmp_path / "walks.jsonl"), "--outliers", "auto", "--front", str(tmp_path / f"front.{kind}")
    )
    assert told.code == 0
    drawn = (tmp_path / f"front.{kind}").read_bytes()
    assert drawn.startswith(b"\x89PNG" if kind == "png" else b"<?xml")


@pytest.mark.parametrize(
    ("name", "allowance", "said"),
    [
        ("front.pdf", "auto", "it is a .png or .svg file"),
        ("front.png", "3", "--front is for --tolerance auto or --outliers auto"),
        ("nowhere/front.png", "auto", "does not exist"),
    ],
)
def test_fronts_that_are_refused(name: str, allowance: str, said: str, tmp_path: Path) -> None:
    write_episodes(tmp_path / "walks.jsonl", two_coffees())
    told = run_here("learn", str(tmp_path / "walks.jsonl"), "--outliers", allowance, "--front", str(tmp_path / name))
    assert told.code == 2
    assert said in told.err
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    "allowed", [{"tolerance": "auto"}, {"outliers": "auto"}, {"tolerance": 1.0}, {"reward": "random"}], ids=str
)
def test_rewards_whose_difference_is_no_number_are_refused(allowed: Any) -> None:
    walks = [(["h", "c", "o"], ["g", "g"], [0, 1e308]), (["h", "h", "o"], ["s", "g"], [0, -1e308])]
    assert learn(walks).states == 2
    with pytest.raises(InputError, match="too far apart for noise"):
        learn(walks, **allowed)


def test_contradictions_of_such_rewards_come_without_advice() -> None:
    walks = [(["h", "o"], ["g"], [paid]) for paid in [1e308, -1e308] * 60]
    assert learn(walks).status == "unrealisable"


def test_rewards_that_miss_the_tolerance_by_a_rounding_are_named() -> None:
    """They are compared as they are: 1.1 − 0.9 is more than twice 0.1."""
    walks = [(["h", "c", "o"], ["g", "g"], [0, paid]) for paid in (0.9, 1.1)]
    refused = learn(walks, tolerance=0.1)
    assert refused.status == "unrealisable"
    assert "(--tolerance 0.1000001) makes them one level" in str(refused.contradiction)
    apart = [(["h", "c", "o"], ["g", "g"], [0, 0.9]), (["h", "h", "o"], ["g", "g"], [0, 1.1])]
    result = learn(apart, tolerance=0.1)
    assert result.states == 2 and "rewards 0.9 and 1.1 differ by 0.20000000000000007" in result.remarks[-1]
    more = learn(apart, tolerance=0.1000001)
    assert more.states == 1 and not more.remarks
    assert not learn(apart, tolerance=0.05).remarks


def test_where_an_allowance_is_not_enough_the_error_says_what_is(office: Traces) -> None:
    noisy = flipped(office, [5, 700, 2_000])
    paid = noisy.rewards.copy()
    paid[: office.offsets[40]] = office.rewards[: office.offsets[40]]
    twice = Traces.of([*replace(noisy, rewards=paid), *noisy])
    refused = learn(twice, outliers=1, **OFFICE)
    assert refused.status == "unrealisable"
    assert "outliers" in str(refused.contradiction) and "2 states, 1 trigger." in str(refused.contradiction)
    assert refused.noise is not None and refused.noise.allowed == 1


def test_the_clock_is_looked_at_while_many_outliers_are_counted(office: Traces) -> None:
    """Each step that may be one of a thousand takes a thousand clauses."""
    looks: list[int] = []
    tree = cut_tree(label_and_merge(office, ("state", "state"), "reward", Limits()), Allowance(0.0, 1_000))
    session = find_engine("sat").open(Rules(acyclic=False))
    session.extend(tree, tree.mark_node[:20])
    session.decide(2, 1, Limits(pulse=lambda: looks.append(1)))
    assert len(looks) > 20


def test_how_clear_a_tolerance_is_can_always_be_told(office: Traces) -> None:
    """The machine with one state is compared, even where no search was worth it."""
    result = learn(shaken(office, 0.1), tolerance="auto", **OFFICE)
    assert result.noise is not None and result.noise.margin is not None and result.noise.margin > 64
    assert (result.noise.front[-1].states, result.noise.front[-1].triggers) == (1, 0)
    assert 1.0 < result.noise.front[-1].tolerance < 1.11  # half of all, from −1 to 1
