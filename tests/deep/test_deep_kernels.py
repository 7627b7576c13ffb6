"""The compiled loops beside PyTorch's own layers, and beside the world they walk through."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `deep` is not installed")

from markovize.deep import MODELS, RECURRENT, DeepSettings, kernels  # noqa: E402
from markovize.deep.agent import Agent  # noqa: E402
from markovize.deep.dqn import DQN  # noqa: E402
from markovize.deep.networks import RecurrentNetwork, ValueNetwork  # noqa: E402
from markovize.deep.recurrent import RecurrentDQN  # noqa: E402
from markovize.deep.training import new_agent, new_walk  # noqa: E402
from markovize.worlds import world  # noqa: E402

OFFICE = world("office", task="e")


def agent_of(model: str, seed: int = 0) -> Agent:
    return new_agent(OFFICE, DeepSettings(model), seed, OFFICE.machine if model == "ADQN" else None)


def test_the_hyperbolic_tangent() -> None:
    xs = np.linspace(-12, 12, 2001, dtype=np.float32)
    found = np.array([kernels.tanh(x) for x in xs])
    assert np.abs(found - np.tanh(xs.astype(np.float64))).max() < 3e-7


@pytest.mark.parametrize("rows", [1, 7, 8, 21])
def test_products(rows: int) -> None:
    rng = np.random.default_rng(rows)
    matrix, vector = rng.normal(size=(rows, 5)).astype(np.float32), rng.normal(size=rows).astype(np.float32)
    out = np.ones(5, np.float32)
    kernels.add_product(out, vector, matrix)
    assert out == pytest.approx(1 + vector @ matrix, abs=1e-5)


@pytest.mark.parametrize("model", RECURRENT)
def test_recurrent_layers_and_their_gradients_are_those_of_torch(model: str) -> None:
    torch.manual_seed(1)
    network = RecurrentNetwork(model, inputs=9, hidden=16, actions=3)
    assert_as_plain(network, torch.randint(9, (30,)))


def test_chained_layers_and_their_gradients_are_those_of_torch() -> None:
    torch.manual_seed(1)
    assert_as_plain(ValueNetwork(9, hidden=16, actions=3), torch.randn(30, 9))


def assert_as_plain(network: RecurrentNetwork | ValueNetwork, seen: torch.Tensor) -> None:
    weights = torch.randn(30, 3)
    gradients = []
    for forward in (network.forward, network.plain_forward):
        network.zero_grad()
        values = forward(seen)
        (values * weights).sum().backward()
        gradients.append((values.detach(), {name: p.grad.clone() for name, p in network.named_parameters()}))
    (ours, our_gradients), (theirs, their_gradients) = gradients
    assert torch.allclose(ours, theirs, atol=1e-6)
    assert our_gradients.keys() == their_gradients.keys()
    for name, gradient in our_gradients.items():
        assert torch.allclose(gradient, their_gradients[name], atol=2e-5), name


@pytest.mark.parametrize("model", MODELS)
def test_greedy_episodes_take_the_networks_best_actions(model: str) -> None:
    agent = agent_of(model, seed=3)
    walk = new_walk(40)
    agent.play(0.0, walk)
    length = int(walk.outcome[0])
    views = torch.from_numpy(walk.views[:length].astype(np.int64))
    with torch.no_grad():
        if isinstance(agent, RecurrentDQN):
            values = agent.network.plain_forward(views)
        else:
            assert isinstance(agent, DQN)
            values = agent.network.plain_forward(agent.features[views])
    taken = values[torch.arange(length), torch.from_numpy(walk.actions[:length].astype(np.int64))]
    assert torch.allclose(taken, values.max(dim=1).values, atol=1e-5)


@pytest.mark.parametrize("model", ["ADQN", "GRU"])
def test_episodes_are_steps_of_the_world(model: str) -> None:
    agent = agent_of(model)
    walk = new_walk(60)
    for _ in range(20):
        total = agent.play(0.7, walk)
        length, ended = walk.outcome.tolist()
        s, u = OFFICE.start, OFFICE.machine.initial
        for n in range(length):
            memory = u if model == "ADQN" else 0  # in task e, the triggers fired are the machine's state
            assert walk.views[n] == memory * len(OFFICE.observations) + s
            s, u, reward, end = OFFICE.step(s, u, int(walk.actions[n]))
            assert walk.rewards[n] == reward
            assert end == (bool(ended) and n == length - 1)
        assert walk.views[length] % len(OFFICE.observations) == s
        assert total == walk.rewards[:length].sum()
        assert ended or length == 60


def test_exploring_is_uniform_over_actions() -> None:
    agent = agent_of("DQN")
    walk, counts = new_walk(200), np.zeros(5)
    for _ in range(50):
        agent.play(1.0, walk)
        counts += np.bincount(walk.actions[: walk.outcome[0]], minlength=5)
    assert counts.min() > 0.9 * counts.mean()
