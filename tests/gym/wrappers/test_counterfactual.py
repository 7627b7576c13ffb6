"""Counterfactual experiences: they say what the environment would have paid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from wrapper_cases import GOAL, Ring, errand, errand_machine, ring_machine

from markovize.gym.wrappers import CounterfactualTable, Experience, MarkovRewardWrapper, counterfactual
from markovize.machine.machine import Emission, RewardMachine, Trigger


def test_every_state_learns_from_a_step() -> None:
    assert counterfactual(errand_machine(), 14, 2, GOAL) == [
        Experience(0, 0.0, 0, True),
        Experience(1, 0.0, 1, True),
        Experience(2, 1.0, 2, True),
    ]
    assert counterfactual(errand_machine(), np.int64(2), np.int64(2), np.array(3)) == [
        Experience(0, 0.0, 1, False),
        Experience(1, 0.0, 1, False),
        Experience(2, 0.0, 2, False),
    ]


def test_where_the_machine_knows_nothing() -> None:
    assert counterfactual(ring_machine(), 1, 1, 0) == [Experience(1, 0.0, 1, False)]  # (0, place 0) is left out
    assert counterfactual(ring_machine(), 1, 1, 77) == []


def test_two_kinds_of_labels() -> None:
    machine = RewardMachine(
        "function",
        "transition",
        2,
        (Trigger(0, "door", 1),),
        (Emission(0, (1, "go", 2), 1, 3.0), Emission(1, (1, "go", 2), 1, 4.0)),
    )
    found = counterfactual(machine, 1, "go", 2, trigger_on=lambda *step: "door" if step[2] == 2 else "floor")
    assert found == [Experience(0, 3.0, 1, False), Experience(1, 4.0, 1, False)]


def test_one_trigger_label_with_many_reward_labels() -> None:
    rewards = tuple(Emission(0, (s, "go", 2), 0, float(s)) for s in range(3))
    table = CounterfactualTable(RewardMachine("state", "transition", 1, (), rewards))
    for _ in range(2):
        assert [table.experiences(s, "go", 2)[0].reward for s in range(3)] == [0.0, 1.0, 2.0]


def test_the_real_one_comes_first_and_is_the_environments() -> None:
    env = MarkovRewardWrapper(errand(), errand_machine(), crm=True)
    env.reset(seed=0)
    steps = [env.step(action) for action in (2, 2, 2, 1, 1, 1)]
    lists = [info["rm_experiences"] for *_, info in steps]
    assert [rows[0] for rows in lists] == [
        Experience(0, 0.0, 0, False),
        Experience(0, 0.0, 0, False),
        Experience(0, 0.0, 1, False),
        Experience(1, 0.0, 1, False),
        Experience(1, 0.0, 1, False),
        Experience(1, 0.0, 1, True),
    ]
    assert Experience(2, 1.0, 2, True) in lists[-1]
    assert all(sorted(e.rm_state for e in rows) == [0, 1, 2] for rows in lists)


def test_the_environment_has_the_last_word_on_the_real_one() -> None:
    wrong = RewardMachine("state", "state", 1, (), (Emission(0, 1, 0, 99.0),))
    env = MarkovRewardWrapper(errand(), wrong, crm=True)
    env.reset(seed=0)
    assert env.step(2)[4]["rm_experiences"] == [Experience(0, 0.0, 0, False)]
    assert env.step(2)[4]["rm_experiences"] == [Experience(0, 0.0, 0, False)]  # the machine knows nothing of place 2


def test_experiences_are_what_other_histories_get() -> None:
    """In each state, the listed experience is what an environment with that history goes on to."""
    tables: dict[Any, set[Experience]] = {}
    real: dict[Any, set[Experience]] = {}
    env = MarkovRewardWrapper(Ring(limit=50), ring_machine(), crm=True)
    env.action_space.seed(1)
    for episode in range(60):
        observation, _ = env.reset(seed=episode)
        ended = False
        while not ended:
            action = env.action_space.sample()
            following, _, terminated, truncated, info = env.step(action)
            step = (observation["observation"], following["observation"])
            for n, e in enumerate(info["rm_experiences"]):
                (real if n == 0 else tables).setdefault((step, e.rm_state), set()).add(e)
            observation, ended = following, terminated or truncated
    both = real.keys() & tables.keys()
    assert len(both) > 15
    assert all(real[key] == tables[key] for key in both)


@pytest.mark.parametrize("gamma", [0.5, 0.9])
def test_shaped_experiences(gamma: float) -> None:
    env = MarkovRewardWrapper(errand(), errand_machine(), crm=True, shaping=gamma)
    env.reset(seed=0)
    for action in (2, 2, 2, 1, 1, 1):
        _, reward, _, _, info = env.step(action)
        assert info["rm_experiences"][0].reward == reward
    last = next(e for e in info["rm_experiences"] if e.rm_state == 2)
    assert last.reward == pytest.approx(1.0 - 1.0)  # Φ is 1 before and 0 after the end


def test_batches() -> None:
    table = CounterfactualTable(ring_machine())
    batch = table.batch([4, 1, 2], np.array([0, 1, 0]), [5, 0, 3])
    assert batch.step.tolist() == [0, 0, 1, 2, 2]
    assert batch.rm_state.tolist() == [0, 1, 1, 0, 1]
    assert batch.reward.tolist() == [0, 0, 0, 0, 1]
    assert batch.next_rm_state.tolist() == [1, 1, 1, 0, 1]
    assert batch.terminal.tolist() == [False, False, False, False, True]
    empty = table.batch([], [], [])
    assert [column.dtype for column in empty] == [column.dtype for column in batch]
