"""What deep agents see, and what would be optimal."""

from __future__ import annotations

import numpy as np
import pytest

from markovize.agents.deep import agent_world
from markovize.agents.deep.agent_world import AgentWorld, Memory
from markovize.agents.deep.fast.arrays import Walk
from markovize.agents.deep.fast.episodes import play_optimally
from markovize.agents.tabular.evaluation import optimal_return
from markovize.machine.machine import RewardMachine, Trigger
from markovize.product.value_iteration import optimal_values
from markovize.worlds import World, world

WORLDS = [world("office", task=task) for task in "bcde"] + [
    world("breakfast", task="c", rewards="cumulative"),
    world("beach", levels=4),
]


def room(steps: int) -> Walk:
    return Walk(
        np.zeros(steps + 1, np.int32), np.zeros(steps, np.int32), np.zeros(steps, np.float32), np.zeros(2, np.int32)
    )


@pytest.mark.parametrize("where", WORLDS, ids=lambda where: where.name)
def test_optimal_episodes_are_optimal(where: World) -> None:
    deep = AgentWorld(where, None, 0.95)
    walk, rng = room(200), np.random.default_rng(0)
    best = optimal_values(where, 0.95)[where.machine.initial, where.start].max()
    seen = set()
    for _ in range(20):
        total = play_optimally(deep.tables, deep.best, rng, walk)
        length, ended = walk.outcome.tolist()
        discounted = (walk.rewards[:length].astype(np.float64) * 0.95 ** np.arange(length)).sum()
        assert discounted == pytest.approx(best, abs=1e-6)
        assert total == pytest.approx(optimal_return(where, 0.95, 200))
        assert ended
        seen.add(tuple(walk.actions[:length].tolist()))
    if where.name == "office-e":
        assert len(seen) > 1  # equal ways are drawn


def test_memory_follows_the_machine_and_has_a_bit_for_each_trigger_fired() -> None:
    where = world("office", task="d")
    memory = Memory.of(where, where.machine)
    fired: dict[int, set[frozenset[int]]] = {}
    for u, bits in zip(memory.machine_state, memory.bits, strict=True):
        fired.setdefault(u, set()).add(frozenset(np.flatnonzero(bits).tolist()))
    for u, sets in fired.items():
        for trigger_set in sets:
            assert (len(trigger_set) == 0) == (u == where.machine.initial)
            assert all(where.machine.triggers[n].target <= u for n in trigger_set)
    assert len(fired[3]) > 1  # both orders, and two coffees
    rng, s, u, m = np.random.default_rng(0), where.start, 0, 0
    for a in rng.integers(5, size=3_000).tolist():
        u, m, s = int(where.tables.u[u, s, a]), int(memory.table[m, s, a]), int(where.successor[s, a])
        assert memory.machine_state[m] == u


def test_features_are_the_cell_and_the_bits() -> None:
    where = world("office", task="e")
    features = AgentWorld(where, where.machine, 0.95).features
    assert features.shape == (4 * 108, 108 + 3)
    row = features[2 * 108 + 17]
    assert np.flatnonzero(row).tolist() == [17, 108, 109]
    assert AgentWorld(where, None, 0.95).features.tolist() == np.eye(108).tolist()


@pytest.mark.parametrize("gamma", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("task", ["b", "e"])
def test_optimal_episodes_are_shortest_whatever_the_discount(task: str, gamma: float) -> None:
    where = world("office", task=task)
    deep = AgentWorld(where, None, gamma)
    walk, rng, lengths = room(200), np.random.default_rng(0), set()
    for _ in range(20):
        assert play_optimally(deep.tables, deep.best, rng, walk) == 1
        lengths.add(int(walk.outcome[0]))
    assert lengths == {15 if task == "b" else 30}


@pytest.mark.parametrize(("most", "bits"), [(100, 12), (20, 3)])
def test_a_machine_that_could_remember_too_much_shows_its_state(
    most: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_world, "MOST_MEMORIES", most)
    where = world("office", task="e")
    ways = [Trigger(u, where.observations[6 * u + n], u + 1) for u in range(2) for n in range(6)]
    memory = Memory.of(where, RewardMachine("state", "state", 3, tuple(ways)))
    assert memory.bits.shape[1] == bits  # of 1 + 6 + 36 ways to have fired
    assert len(memory.bits) == (43 if most > 43 else 3)
