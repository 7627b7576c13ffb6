"""The worked examples, for real: a short training of each, and long ones to the returns that are stated."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import markovize
from markovize.worlds import world
from markovize.worlds.walks import distances, noisy_walks

torch = pytest.importorskip("torch", reason="the extra `sb3` is not installed")
pytest.importorskip("stable_baselines3", reason="the extra `sb3` is not installed")
pytest.importorskip("sb3_contrib", reason="the extra `sb3` is not installed")
torch.set_num_threads(1)
EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("sb3_office", "sb3_ppo", "sb3_switch")


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield [import_module(name) for name in NAMES]
    for name in NAMES:
        sys.modules.pop(name)


def changed(model: Any, before: dict[str, Any]) -> bool:
    return any(not torch.equal(before[name], value) for name, value in model.policy.state_dict().items())


def weights(model: Any) -> dict[str, Any]:
    return {name: value.clone() for name, value in model.policy.state_dict().items()}


# --- DQN -----------------------------------------------------------------------------------------------------------


def test_dqn_starts(examples: Any) -> None:
    office, _, _ = examples
    truth = world("office", task="e")
    machine, episodes = truth.machine, noisy_walks(truth, 30, np.random.default_rng(0))
    model = office.dqn(machine, episodes)
    assert model.replay_buffer.size() > episodes.steps
    evaluation = office.Evaluation(office.wrapped(machine), 100)
    model.learn(200, callback=evaluation)
    assert [step for step, _ in evaluation.curve] == [100, 200]


@pytest.mark.parametrize("task", ["c", "d"])
def test_no_policy_without_memory_earns_anything(task: str) -> None:
    """The mail is behind one cell, start and office before it: whoever passes it would have to go both ways there."""
    office = world("office", task=task)
    (mail,), (goal,) = office.landmarks["mail"], office.landmarks["office"]
    door = np.array([cell == (7, 5) for cell in office.observations])
    assert not door[[office.start, mail, goal]].any()
    assert (distances(office, [mail], np.zeros_like(door))[[office.start, goal]] > 0).all()
    assert (distances(office, [mail], door)[[office.start, goal]] < 0).all()


@pytest.mark.long
@pytest.mark.parametrize(("task", "seed"), [("e", 0), ("e", 1), ("c", 0)])
def test_dqn_reaches_the_optimum_with_the_machine_only(examples: Any, task: str, seed: int) -> None:
    office, _, _ = examples
    machine, episodes = office.explored(seed, task=task)
    with_machine = office.dqn(machine, episodes, seed, task).learn(office.STEPS)
    assert office.greedy_return(with_machine, office.wrapped(machine, task)) == 1
    bare = office.dqn(office.NO_MACHINE, episodes, seed, task).learn(office.STEPS)
    assert office.greedy_return(bare, office.wrapped(office.NO_MACHINE, task)) < 1


# --- PPO and RecurrentPPO ------------------------------------------------------------------------------------------


def test_ppo_starts(examples: Any) -> None:
    _, ppo, _ = examples
    machine = world("office", task=ppo.TASK).machine
    episodes = noisy_walks(world("office", task=ppo.TASK), 100, np.random.default_rng(0), noise=0.05)
    for model, known in ((ppo.ppo(machine), machine), (ppo.recurrent_ppo(), ppo.NO_MACHINE)):
        before = weights(model)
        ppo.imitate(model, known, episodes, rounds=3)
        assert changed(model, before)
        before = weights(model)
        model.learn(1)  # one rollout of all worlds
        assert model.num_timesteps == ppo.COMMON["n_steps"] * ppo.WORLDS
        assert changed(model, before)
        assert -1 <= ppo.mean_return(model, known, episodes=2) <= 1


@pytest.mark.long
@pytest.mark.parametrize(("recurrent", "seed", "stated"), [(False, 0, 0.9), (False, 1, 0.9), (True, 0, 0.8)])
def test_training_improves_what_was_imitated(examples: Any, recurrent: bool, seed: int, stated: float) -> None:
    """A policy that acts at random now and then meets a plant, so that its mean return stays below 1."""
    office, ppo, _ = examples
    machine, episodes = office.explored(seed, task=ppo.TASK)
    known = ppo.NO_MACHINE if recurrent else machine
    model = ppo.recurrent_ppo(seed) if recurrent else ppo.ppo(machine, seed)
    ppo.imitate(model, known, episodes)
    before = ppo.mean_return(model, known)
    model.learn(ppo.STEPS)
    after = ppo.mean_return(model, known)
    assert after > before
    assert after >= stated
    assert office.greedy_return(model, ppo.seen(known)) == 1


# --- the callback --------------------------------------------------------------------------------------------------


def test_careful_exploring_meets_no_plant_twice(examples: Any) -> None:
    office, _, switch = examples
    env = switch.Careful(office.office("c"))
    ends = []
    for _ in range(2):
        env.reset()
        ends.append([env.step(1)[1:3] for _ in range(2)][-1])  # two to the right there is a plant
    assert ends == [(-1.0, True), (0.0, False)]


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_the_callback_finds_the_machine_and_dqn_goes_on_with_it(examples: Any, seed: int) -> None:
    office, _, switch = examples
    callback = switch.watched(seed)
    assert callback.ready
    assert callback.conflicts >= 2
    assert markovize.check(callback.traces, callback.machine).markov
    (trigger,) = callback.machine.triggers
    assert (7, 4) in (trigger.on, *trigger.alternatives)  # the mail, or what these episodes cannot tell from it
    model = switch.switched(callback, seed).learn(office.STEPS)
    assert office.greedy_return(model, office.wrapped(callback.machine, switch.TASK)) == 1
