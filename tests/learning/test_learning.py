"""What ``learn`` promises, as known answers and as properties of random instances."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import KINDS, coffee, patrol, random_steps, two_coffees

from markovize import InputError, MarkovizeError, ReplayReport, UnrealisableError, check, learn, replay
from markovize.episodes.labelling import auto_order
from markovize.episodes.samples import sample_path
from markovize.episodes.traces import Episode, Traces
from markovize.io import read_episodes
from markovize.io.machines.json import machine_text
from markovize.learning.result import LearnResult
from markovize.worlds import world
from markovize.worlds.walks import noisy_walks

SETTINGS = [(o, a) for o in ("triggers", "states") for a in (True, False)]
seeds = st.integers(0, 10**6)


def solved(traces: Traces, kinds: tuple[str, str] = ("state", "state"), **options: object) -> LearnResult:
    result = learn(traces, trigger_on=kinds[0], reward_on=kinds[1], **options)  # type: ignore[arg-type]
    assert result.status == "optimal"
    return result


def shape(result: LearnResult) -> tuple[int | None, int | None]:
    return result.states, result.triggers


# --- known answers ---


def test_coffee_then_office() -> None:
    result = learn(coffee())
    assert shape(result) == (2, 1)
    assert result.bounds == (2, 1)
    assert (result.trigger_on, result.reward_on) == ("state", "state")
    (trigger,) = result.unwrap().triggers
    assert (trigger.source, trigger.on, trigger.target, trigger.alternatives) == (0, 0, 1, ())


def test_the_patrol_and_its_unrolling() -> None:
    cyclic, acyclic = learn(patrol(3)), learn(patrol(3), acyclic=True)
    assert shape(cyclic) == (2, 2)
    assert not cyclic.unwrap().acyclic
    assert acyclic.unwrap().acyclic
    assert acyclic.states is not None
    assert acyclic.states > 2


def test_markov_rewards_need_one_state_and_no_solver() -> None:
    result = learn(Traces.of([([0, 1, 0], ["a", "b"], [1, 0])]), engine="exhaustive")
    assert (result.status, shape(result), result.exemplars) == ("optimal", (1, 0), 0)
    assert "one state is enough" in result.proof


@pytest.mark.parametrize(("objective", "acyclic"), SETTINGS)
def test_the_packaged_patrol_has_its_true_triggers(objective: str, acyclic: bool) -> None:
    if objective == "states" and not acyclic:
        return  # with cycles, few states explain anything: not a question for a short test
    result = learn(read_episodes(sample_path("office-e")), objective=objective, acyclic=acyclic)  # type: ignore[arg-type]
    assert result.status == "optimal"
    assert [(t.source, t.on, t.target) for t in result.unwrap().triggers] == [
        (0, (1, 1), 1),
        (1, (1, 7), 2),
        (2, (10, 7), 3),
    ]


def test_beach_needs_transition_labels_and_finds_them() -> None:
    traces = read_episodes(sample_path("beach"))
    assert learn(traces, trigger_on="state", reward_on="state").status == "unrealisable"
    result = learn(traces)
    assert (result.status, result.trigger_on, result.reward_on) == ("optimal", "transition", "transition")
    assert {t.on for t in result.unwrap().triggers} == {(0, 4, 0)}
    assert replay(result.unwrap(), traces) == ReplayReport(traces.steps, unseen=0, mismatches=0)


def test_a_users_propositions_are_labels_too() -> None:
    def at(_state: object, _action: object, cell: int) -> set[str]:
        return {"coffee"} if cell in (0, 4) else {"office"} if cell == 2 else set()

    result = learn(two_coffees(), trigger_on=at, reward_on=at)
    machine = result.unwrap()
    assert shape(result) == (2, 1)  # two cells, one proposition
    assert (machine.trigger_on, machine.triggers[0].on) == ("function", ("coffee",))
    assert replay(machine, two_coffees(), trigger_on=at, reward_on=at).mismatches == 0
    with pytest.raises(InputError, match="pass it as trigger_on"):
        replay(machine, two_coffees())


def test_reward_labels_may_be_coarser_than_trigger_labels() -> None:
    """Then u' is not fixed by u and the reward label: the reward hangs on the trigger itself."""
    traces = Traces.of(
        [
            ([0, 1, 1], ["x", "stay"], [1, 0]),
            ([0, 1, 1], ["y", "stay"], [0, 0]),
            ([0, 1], ["x"], [1]),
        ]
    )
    result = solved(traces, ("transition", "state"))
    assert shape(result) == (2, 1)
    assert replay(result.unwrap(), traces).mismatches == 0


def test_unrealisable_data_raise_on_unwrap_with_both_steps() -> None:
    result = learn(Traces.of([([0, 1], ["a"], [0]), ([0, 1], ["a"], [1])]))
    assert result.status == "unrealisable"
    with pytest.raises(UnrealisableError, match="episode 0 step 0 and episode 1 step 0"):
        result.unwrap()
    with pytest.raises(MarkovizeError, match="allow more time"):
        LearnResult("unknown", None, (1, 0), "triggers", False, "sat", 0.0, 0).unwrap()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "fewest"}, "objective is"),
        ({"engine": "gurobi9"}, "there is no engine"),
        ({"time_limit": 0}, "time limit"),
        ({"trigger_on": "cell"}, "labels are"),
        ({"explain": "all"}, "explain is"),
    ],
)
def test_bad_options_say_what_is_allowed(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        learn(coffee(), **options)  # type: ignore[arg-type]


# --- properties ---


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(KINDS), st.sampled_from(SETTINGS))
def test_a_learned_machine_replays_its_own_data(seed: int, kinds: tuple[str, str], setting: tuple[str, bool]) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds)
    result = solved(traces, kinds, objective=setting[0], acyclic=setting[1])
    assert replay(result.unwrap(), traces) == ReplayReport(traces.steps, unseen=0, mismatches=0)


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(KINDS), st.sampled_from(SETTINGS), st.randoms(use_true_random=False))
def test_order_and_duplication_of_episodes_change_nothing(
    seed: int, kinds: tuple[str, str], setting: tuple[str, bool], shuffler: object
) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds)
    episodes = [*traces, *traces]
    shuffler.shuffle(episodes)  # type: ignore[attr-defined]
    options = {"objective": setting[0], "acyclic": setting[1]}
    assert shape(solved(Traces.of(episodes), kinds, **options)) == shape(solved(traces, kinds, **options))


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(KINDS), st.sampled_from(SETTINGS))
def test_renaming_states_and_actions_changes_nothing(
    seed: int, kinds: tuple[str, str], setting: tuple[str, bool]
) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds)
    renamed = Traces.of(
        Episode([["cell", 9 - o] for o in e.observations], [f"do {a}" for a in e.actions], e.rewards, e.terminated)
        for e in traces
    )
    options = {"objective": setting[0], "acyclic": setting[1]}
    assert shape(solved(renamed, kinds, **options)) == shape(solved(traces, kinds, **options))


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(KINDS), st.sampled_from(SETTINGS))
def test_adding_an_episode_never_lowers_the_optimum(
    seed: int, kinds: tuple[str, str], setting: tuple[str, bool]
) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds, episodes=5)
    sizes = []
    for count in range(1, len(traces) + 1):
        k, z = shape(solved(Traces.of([*traces][:count]), kinds, objective=setting[0], acyclic=setting[1]))
        sizes.append((z, k) if setting[0] == "triggers" else (k, z))
    assert sizes == sorted(sizes)  # lexicographically: when the first rises, the second may fall


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(KINDS), st.sampled_from(SETTINGS))
def test_going_on_from_an_earlier_result_gives_the_same_optimum(
    seed: int, kinds: tuple[str, str], setting: tuple[str, bool]
) -> None:
    traces = random_steps(np.random.default_rng(seed), kinds=kinds, episodes=6)
    options = {"objective": setting[0], "acyclic": setting[1]}
    earlier = None
    for count in range(1, len(traces) + 1):
        some = Traces.of([*traces][:count])
        earlier = solved(some, kinds, since=earlier, **options)
        assert shape(earlier) == shape(solved(some, kinds, **options))


def test_plain_lists_are_episodes_too() -> None:
    episodes = [*coffee()]
    assert shape(learn(episodes)) == (2, 1)
    assert replay(learn(episodes).unwrap(), episodes).mismatches == 0
    assert check(episodes).conflicts == check(coffee()).conflicts == 1


@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from(SETTINGS))
def test_alternatives_really_serve_as_well(seed: int, setting: tuple[str, bool]) -> None:
    traces = random_steps(np.random.default_rng(seed), labels=4, episodes=4, length=5)
    machine = solved(traces, objective=setting[0], acyclic=setting[1]).unwrap()
    for trigger in machine.triggers:
        for label in trigger.alternatives:
            delta = {(t.source, t.on): t.target for t in machine.triggers if t is not trigger}
            delta[trigger.source, label] = trigger.target
            paid: dict[object, float] = {}
            for episode in traces:
                u = 0
                for o, r in zip(episode.observations[1:], episode.rewards, strict=True):
                    v = delta.get((u, o), u)
                    assert paid.setdefault((u, o, v), r) == r
                    u = v


def test_acyclic_machines_are_numbered_along_their_edges_and_others_by_first_visit() -> None:
    chain = learn(read_episodes(sample_path("beach")), acyclic=True).unwrap()
    assert all(t.source < t.target for t in chain.triggers)
    loop = learn(patrol(4)).unwrap()
    assert [t.target for t in loop.triggers] == [1, 0]


def test_auto_prefers_the_coarsest_labels_that_work() -> None:
    for kinds in auto_order():
        for seed in range(6):
            traces = random_steps(np.random.default_rng(seed), kinds=kinds)
            result = learn(traces)
            tried = auto_order()[: auto_order().index((result.trigger_on, result.reward_on))]
            assert auto_order().index((result.trigger_on, result.reward_on)) <= auto_order().index(kinds)
            for coarser in tried:
                assert learn(traces, trigger_on=coarser[0], reward_on=coarser[1]).status == "unrealisable"


# --- the same input gives the same bytes ---


@pytest.mark.slow
def test_the_machine_is_byte_identical_whatever_the_hash_seed(tmp_path: Path) -> None:
    source = sample_path("office-e")
    texts = set()
    for number, seed in enumerate(("0", "4242")):
        target = tmp_path / f"{number}.json"
        command = [sys.executable, "-m", "markovize", "learn", str(source), "-o", str(target), "--json"]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)
        texts.add(target.read_bytes())
    assert len(texts) == 1


def test_few_triggers_need_few_exemplars_where_repairing_conflicts_misses_them() -> None:
    """All histories would be taken, some hundred, if a machine with few states were looked for at once."""
    breakfast = world("breakfast", task="b", rewards="cumulative")
    result = solved(noisy_walks(breakfast, 200, np.random.default_rng(5), max_steps=40))
    assert shape(result) == (5, 4) and result.exemplars < 30


@pytest.mark.slow
def test_growing_data_keep_the_number_of_exemplars_small() -> None:
    office = world("office", task="e")
    few = learn(noisy_walks(office, 600, np.random.default_rng(1)), acyclic=True)
    many = learn(noisy_walks(office, 6000, np.random.default_rng(1)), acyclic=True)
    assert many.exemplars < 10 * max(10, few.exemplars)
    assert machine_text(many.unwrap())


# --- instances that once failed, shrunk and kept ---


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "regressions").glob("*.jsonl")), ids=lambda p: p.stem)
def test_regressions(path: Path) -> None:
    from agreement import EVERY, disagreement

    traces = read_episodes(path)
    for kinds in EVERY:
        if learn(traces, trigger_on=kinds[0], reward_on=kinds[1]).status != "unrealisable":
            assert disagreement(traces, kinds) is None


def test_labels_that_hardly_repeat_are_no_evidence() -> None:
    """Positions that never come back: one state explains them, whatever the rewards are."""
    rng = random.Random(0)
    walk = [rng.random() for _ in range(121)]
    rewards = [rng.random() for _ in range(120)]
    result = learn(Traces.of([(walk, [0] * 120, rewards)]), count_steps=True)
    assert result.states == 1 and "occur only once" in result.doubt
    signs = learn(Traces.of([(walk, [0] * 120, [float(x > 0.5) for x in walk[1:]])]), trigger_on=half, reward_on=half)
    assert signs.states == 1 and not signs.doubt


def half(_state: object, _action: object, after: float) -> bool:
    return after > 0.5
