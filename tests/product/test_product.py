"""The paper's ARMDP: Definition 1 property by property, Theorem 1, planning and pictures."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markovize.episodes.labelling import labelling_of
from markovize.episodes.traces import Episode, Traces
from markovize.errors import InputError, UnsupportedError
from markovize.machine.machine import Emission, RewardMachine, Trigger
from markovize.product.picture_parts import merge_steps
from markovize.product.product import Product, Solution, ars, rs
from markovize.worlds import noisy_walks, random_grid_world, random_machine, world

LABELS = [0, 1, 2, 3]


def slippery_episodes(rng: np.random.Generator, machine: RewardMachine, episodes: int = 12) -> Traces:
    """Walks on a ring of four places that slip now and then, so that T is not 0 or 1; rewards from the machine."""
    out = []
    for _ in range(episodes):
        places, actions, rewards, u = [int(rng.integers(2))], [], [], machine.initial
        for _ in range(int(rng.integers(1, 12))):
            action = int(rng.integers(2))
            after = (places[-1] + (1 if action else -1) + int(rng.random() < 0.3)) % 4
            v = machine.step(u, after)
            reward = machine.reward(u, after, v)
            assert reward is not None
            places.append(after)
            actions.append(action)
            rewards.append(reward)
            u = v
        out.append(Episode(places, actions, rewards, bool(rng.random() < 0.5)))
    return Traces.of(out)


@st.composite
def explained(draw: st.DrawFn) -> tuple[Traces, RewardMachine]:
    """Episodes and a machine that explains them: slippery, or walks through a random grid."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    states, acyclic = draw(st.integers(1, 4)), draw(st.booleans())
    if draw(st.booleans()):
        machine = random_machine(rng, states, LABELS, acyclic=acyclic, rewards=(0.0, 1.0, -0.5))
        traces = slippery_episodes(rng, machine)
    else:
        grid = random_grid_world(rng, width=4, height=4, states=states, acyclic=acyclic)
        traces, machine = noisy_walks(grid, 15, rng, max_steps=40), grid.machine
    # what was learned from data lists only what the data showed, or nothing at all
    return traces, machine if draw(st.booleans()) else RewardMachine("state", "state", states, machine.triggers)


def steps_of(traces: Traces) -> list[tuple[int, int, object, object, object, float, bool]]:
    """(episode, step, s, a, s', r, whether it ended the episode) of every step."""
    return [
        (e, n, s, a, t, r, episode.terminated and n == episode.steps - 1)
        for e, episode in enumerate(traces)
        for n, (s, a, t, r) in enumerate(
            zip(episode.observations[:-1], episode.actions, episode.observations[1:], episode.rewards, strict=True)
        )
    ]


@settings(max_examples=40, deadline=None)
@given(explained())
def test_definition_1_property_1_states_are_the_product(case: tuple[Traces, RewardMachine]) -> None:
    traces, machine = case
    product = Product.of(traces, machine)
    assert set(product.states) == set(itertools.product(traces.observation_values, range(machine.states)))
    assert len(product.states) == len(set(product.states))
    assert [product.number(state) for state in product.states] == list(range(len(product.states)))


@settings(max_examples=40, deadline=None)
@given(explained())
def test_definition_1_property_2_only_the_first_machine_state_is_initial(case: tuple[Traces, RewardMachine]) -> None:
    traces, machine = case
    product = Product.of(traces, machine)
    assert product.initial.sum() == pytest.approx(1)
    likely = {product.states[number] for number in np.flatnonzero(product.initial)}
    assert {u for _, u in likely} == {machine.initial}
    assert {s for s, _ in likely} == {episode.observations[0] for episode in traces}


@settings(max_examples=40, deadline=None)
@given(explained())
def test_definition_1_property_3_transitions_are_those_of_the_world_gated_by_the_machine(
    case: tuple[Traces, RewardMachine],
) -> None:
    traces, machine = case
    product = Product.of(traces, machine)
    pairs, triples = Counter[object](), Counter[object]()
    for _, _, s, a, t, _, _ in steps_of(traces):
        pairs[s, a] += 1
        triples[s, a, t] += 1
    rows = list(zip(product.row_state.tolist(), product.row_action.tolist(), strict=True))
    assert len(rows) == len(set(rows))
    for row, (number, action) in enumerate(rows):
        (s, u), a = product.states[number], product.actions[action]
        span = slice(int(product.first[row]), int(product.first[row + 1]))
        assert product.probabilities[span].sum() == pytest.approx(1)
        for t, v in product.states:
            expected = triples[s, a, t] / pairs[s, a] if machine.step(u, t) == v else 0.0
            assert product.probability((s, u), a, (t, v)) == expected


@settings(max_examples=40, deadline=None)
@given(explained())
def test_definition_1_property_4_rewards_are_the_machine_s(case: tuple[Traces, RewardMachine]) -> None:
    traces, machine = case
    product = Product.of(traces, machine)
    shown: dict[object, float] = {}
    u = 0
    for _, n, s, a, t, reward, _ in steps_of(traces):
        u = machine.initial if n == 0 else u
        v = machine.step(u, t)  # type: ignore[arg-type]
        shown[u, t, v] = reward
        assert product.reward((s, u), a, (t, v)) == reward  # type: ignore[arg-type]
        u = v
    rows = np.repeat(np.arange(len(product.row_state)), np.diff(product.first))
    for at, row in enumerate(rows.tolist()):
        (_, u), (t, v) = product.states[product.row_state[row]], product.states[product.target[at]]
        known = shown.get((u, t, v), machine.reward(u, t, v))
        assert product.rewards[at] == (0.0 if known is None else known)
        assert product.counts[at] == 0 or (u, t, v) in shown


@settings(max_examples=40, deadline=None)
@given(explained())
def test_theorem_1_rs_equals_ars_for_every_episode(case: tuple[Traces, RewardMachine]) -> None:
    traces, machine = case
    product = Product.of(traces, machine)
    for episode in range(len(traces)):
        assert ars(product, traces, episode) == rs(traces, episode)


@settings(max_examples=30, deadline=None)
@given(explained())
def test_counts_and_endings_are_those_of_the_steps(case: tuple[Traces, RewardMachine]) -> None:
    traces, machine = case
    product = Product.of(traces, machine)
    counts, ends = Counter[object](), Counter[object]()
    u = 0
    visited = set()
    for _, n, s, a, t, _, ended in steps_of(traces):
        u = machine.initial if n == 0 else u
        v = machine.step(u, t)  # type: ignore[arg-type]
        counts[(s, u), a, (t, v)] += 1
        ends[(s, u), a, (t, v)] += ended
        visited |= {(s, u), (t, v)}
        u = v
    rows = np.repeat(np.arange(len(product.row_state)), np.diff(product.first))
    for at, row in enumerate(rows.tolist()):
        key = (
            product.states[product.row_state[row]],
            product.actions[product.row_action[row]],
            product.states[product.target[at]],
        )
        assert product.counts[at] == counts[key]
        if counts[key]:
            assert product.ending[at] == ends[key] / counts[key]
    assert {product.states[number] for number in np.flatnonzero(product.visited)} == visited


@settings(max_examples=30, deadline=None)
@given(explained(), st.floats(0, 0.97))
def test_value_iteration_solves_the_bellman_equation(case: tuple[Traces, RewardMachine], gamma: float) -> None:
    product = Product.of(*case)
    solution = product.value_iteration(gamma)
    for number, (s, u) in enumerate(product.states):
        q: dict[object, float] = {}
        for row in np.flatnonzero(product.row_state == number).tolist():
            q[product.actions[product.row_action[row]]] = sum(
                product.probabilities[at]
                * (product.rewards[at] + gamma * (1 - product.ending[at]) * solution.values[product.target[at]])
                for at in range(product.first[row], product.first[row + 1])
            )
        assert solution.value((s, u)) == pytest.approx(max(q.values(), default=0.0), abs=1e-8)
        assert [action for action, _ in solution.action_values((s, u))] == list(q)
        best = solution.action((s, u))
        assert (best is None) == (not q)
        if best is not None:
            assert q[best] == pytest.approx(max(q.values()), abs=1e-7)


def test_the_order_of_episodes_does_not_matter() -> None:
    office = world("office", task="e")
    traces = noisy_walks(office, 60, np.random.default_rng(0))
    there = Product.of(traces, office.machine)
    back = Product.of(traces.select(range(len(traces) - 1, -1, -1)), office.machine)
    assert there.states == back.states
    for column in ("row_state", "row_action", "first", "target", "probabilities", "rewards", "ending", "initial"):
        assert np.array_equal(getattr(there, column), getattr(back, column)), column


@pytest.mark.parametrize("task", ["b", "c"])
def test_planning_on_enough_walks_finds_the_optimal_breakfast(task: str) -> None:
    place = world("breakfast", task=task)
    product = Product.of(noisy_walks(place, 2000, np.random.default_rng(0)), place.machine)
    solution = product.value_iteration(gamma=0.999)
    state, u, ended, total = place.start, 0, False, 0.0
    for _ in range(40):
        action = solution.action((place.observations[state], u))
        assert isinstance(action, int)
        state, u, reward, ended = place.step(state, u, action)
        total += reward
        if ended:
            break
    assert ended
    assert total == pytest.approx({"b": 3.2, "c": 2.2}[task])


def test_nothing_is_expected_after_an_end() -> None:
    machine = RewardMachine("state", "state", 1)
    ended, cut = (
        Product.of(Traces.of([([0, 1], ["go"], [0], end), ([1, 2], ["go"], [1], True)]), machine)
        for end in (True, False)
    )
    assert ended.value_iteration(0.5).value((0, 0)) == 0
    assert cut.value_iteration(0.5).value((0, 0)) == 0.5


def test_ends_that_happen_half_of_the_time_are_weighed() -> None:
    traces = Traces.of([([0, 1], ["go"], [0], True), ([0, 1, 2], ["go", "go"], [0, 1], True)])
    product = Product.of(traces, RewardMachine("state", "state", 1))
    assert product.value_iteration(0.5).value((0, 0)) == 0.25


def test_an_outcome_never_seen_in_this_machine_state_is_paid_by_the_machine_or_not_at_all() -> None:
    traces = Traces.of([([0, 1, 0, 2], ["go"] * 3, [0, 0, 0]), ([0, 2], ["go"], [0])])
    bare = RewardMachine("state", "state", 2, (Trigger(0, 1, 1),))
    assert Product.of(traces, bare).reward((0, 1), "go", (1, 1)) == 0
    told = RewardMachine("state", "state", 2, bare.triggers, (Emission(1, 1, 1, 7.0, terminal=True),))
    product = Product.of(traces, told)
    assert product.reward((0, 1), "go", (1, 1)) == 7
    assert product.value_iteration(0.9).value((0, 1)) == pytest.approx(7 / 3), "a third of the time, and it ends"


def test_labels_of_one_s_own() -> None:
    def parity(_s: object, _a: object, t: int) -> str:
        return "odd" if t % 2 else "even"

    machine = RewardMachine("function", "function", 2, (Trigger(0, "odd", 1),))
    traces = Traces.of([([0, 2, 4], ["go", "go"], [0, 0]), ([0, 3, 4], ["go", "go"], [0, 1])])
    product = Product.of(traces, machine, trigger_on=parity, reward_on=parity)
    assert product.reward((3, 1), "go", (4, 1)) == 1
    assert ars(product, traces, 1) == rs(traces, 1)
    with pytest.raises(InputError, match="pass it as reward_on="):
        Product.of(traces, machine, trigger_on=parity)


def test_transition_labels() -> None:
    beach = world("beach", levels=3)
    traces = noisy_walks(beach, 80, np.random.default_rng(1), noise=0.4)
    product = Product.of(traces, beach.machine)
    assert [product.reward((0, u), 4, (0, u + 1)) for u in range(3)] == [1.0, 0.9, 0.8]
    assert labelling_of("transition").label((0, 4, 0)) == (0, 4, 0)
    assert all(ars(product, traces, e) == rs(traces, e) for e in range(len(traces)))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (
            RewardMachine("state", "state", 1),
            "episode 0 step 2 and episode 1 step 0 both go from state 0 to 0 on 2, but pay 1 and 0",
        ),
        (
            RewardMachine("state", "state", 2, (Trigger(0, 1, 1),), (Emission(1, 2, 1, 5.0),)),
            "episode 0 step 2 pays 1, but the machine says 5 for steps that go from state 1 to 1 on 2",
        ),
    ],
)
def test_a_machine_that_does_not_explain_the_episodes_is_refused(machine: RewardMachine, message: str) -> None:
    traces = Traces.of([([0, 1, 0, 2], ["go"] * 3, [0, 0, 1]), ([0, 2], ["go"], [0])])
    with pytest.raises(InputError, match=f"does not explain these episodes: {message}"):
        Product.of(traces, machine)


def test_bad_questions_are_refused() -> None:
    machine = RewardMachine("state", "state", 1)
    traces = Traces.of([([0, 1], ["go"], [0])])
    product = Product.of(traces, machine)
    with pytest.raises(InputError, match=r"\(5, 0\) is not a state"):
        product.number((5, 0))
    with pytest.raises(InputError, match=r"\(0, 1\) is not a state"):
        product.probability((0, 1), "go", (1, 0))
    with pytest.raises(InputError, match="gamma < 1"):
        product.value_iteration(gamma=1.0)
    with pytest.raises(InputError, match="at least one step"):
        Product.of(Traces.of([([0], [], [])]), machine)
    with pytest.raises(InputError, match="trigger_on is 'state'; it cannot be run with 'function' labels"):
        Product.of(traces, machine, trigger_on=lambda _s, _a, t: t)
    with pytest.raises(InputError, match="not one of the episodes"):
        ars(product, Traces.of([([0, 1], ["stay"], [0])]), 0)


@pytest.fixture(scope="module")
def solved() -> dict[str, Solution]:
    out = {}
    for place in (world("breakfast", task="c"), world("beach", levels=4)):
        product = Product.of(noisy_walks(place, 150, np.random.default_rng(1)), place.machine)
        out[place.name] = product.value_iteration()
    return out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["breakfast-c-full", "beach"])
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_pictures_are_the_same_each_time(solved: dict[str, Solution], tmp_path: Path, name: str, kind: str) -> None:
    paths = [tmp_path / f"{number}.{kind}" for number in range(2)]
    solved[name].product.draw(paths[0], solved[name])
    solved[name].product.draw(str(paths[1]))
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size > 5000


def test_edges_merge_actions_and_mark_the_greedy_one(solved: dict[str, Solution]) -> None:
    solution = solved["beach"]
    found = {(edge.source, edge.target): edge for edge in merge_steps(solution.product, solution)}
    number = solution.product.number
    sun = found[number((0, 0)), number((0, 1))]
    assert (sun.actions, sun.reward, sun.ends, sun.greedy) == ((4,), 1.0, False, True)
    assert found[number((0, 0)), number((0, 0))].actions == (0, 1, 2)
    assert all(edge.ends == (edge.target // 5 == 2) for edge in found.values())


def test_outcomes_that_this_machine_state_never_saw_are_not_drawn() -> None:
    traces = Traces.of([([0, 1, 0, 2], ["go"] * 3, [0, 0, 0]), ([0, 2], ["go"], [0])])
    product = Product.of(traces, RewardMachine("state", "state", 2, (Trigger(0, 1, 1),)))
    assert (0 * 2 + 1, 1 * 2 + 1) not in {(e.source, e.target) for e in merge_steps(product, product.value_iteration())}


def test_a_picture_of_nothing_worth_anything(tmp_path: Path) -> None:
    product = Product.of(Traces.of([(["in", "out"], ["go"], [0])]), RewardMachine("state", "state", 1))
    product.draw(tmp_path / "flat.svg")
    with pytest.raises(UnsupportedError, match=r"\.svg or \.png, not 'flat.gif'"):
        product.draw(tmp_path / "flat.gif")


def test_matplotlib_is_not_imported_before_something_is_drawn() -> None:
    code = "import sys, markovize.product.product; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
