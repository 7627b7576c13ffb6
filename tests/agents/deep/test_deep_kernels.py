"""The compiled loops beside PyTorch's own layers, and beside the world they walk through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from torch import Tensor

torch = pytest.importorskip("torch", reason="the extra `deep` is not installed")

from markovize.agents.deep import MODELS, RECURRENT, DeepSettings  # noqa: E402
from markovize.agents.deep.agent import Agent  # noqa: E402
from markovize.agents.deep.dqn import DQN  # noqa: E402
from markovize.agents.deep.fast import layers  # noqa: E402
from markovize.agents.deep.networks import ForwardPass, Network, RecurrentNetwork, ValueNetwork  # noqa: E402
from markovize.agents.deep.recurrent import RecurrentDQN  # noqa: E402
from markovize.agents.deep.training import new_agent, new_walk  # noqa: E402
from markovize.worlds import world  # noqa: E402

pytestmark = pytest.mark.kernels

OFFICE = world("office", task="e")


def agent_of(model: str, seed: int = 0) -> Agent:
    return new_agent(OFFICE, DeepSettings(model), seed, OFFICE.machine if model == "ADQN" else None)


def test_the_hyperbolic_tangent() -> None:
    xs = np.linspace(-12, 12, 2001, dtype=np.float32)
    found = np.array([layers.tanh(x) for x in xs])
    assert np.abs(found - np.tanh(xs.astype(np.float64))).max() < 3e-7


@pytest.mark.parametrize("rows", [1, 7, 8, 21])
def test_products(rows: int) -> None:
    rng = np.random.default_rng(rows)
    matrix, vector = rng.normal(size=(rows, 5)).astype(np.float32), rng.normal(size=rows).astype(np.float32)
    out, other = np.ones(5, np.float32), np.ones(5, np.float32)
    layers.add_product_back(out, vector, matrix)
    layers.add_product(other, np.ascontiguousarray(matrix.T), vector)
    assert out == pytest.approx(1 + vector @ matrix, abs=1e-5)
    assert other == pytest.approx(1 + vector @ matrix, abs=1e-5)


@pytest.mark.parametrize("steps", [1, 30])
@pytest.mark.parametrize("model", RECURRENT)
def test_recurrent_layers_and_their_gradients_are_those_of_torch(model: str, steps: int) -> None:
    torch.manual_seed(1)
    network = RecurrentNetwork(model, inputs=9, hidden=16, actions=3)
    states = torch.randint(9, (steps,))
    assert_as_autograd(network, states, network.run(states.numpy()))


def test_chained_layers_and_their_gradients_are_those_of_torch() -> None:
    torch.manual_seed(1)
    network = ValueNetwork(9, hidden=16, actions=3)
    seen = torch.randn(30, 9)
    assert_as_autograd(network, seen, network.run(seen))


def assert_as_autograd(network: Network, seen: Tensor, found: tuple[Tensor, ForwardPass]) -> None:
    """What ``run`` and ``gradients`` give is what PyTorch's own layers do."""
    values, trail = found
    slope = torch.randn_like(values)
    network.gradient.fill_(7.0)  # nothing of it may be left
    network.gradients(trail, slope)
    ours = {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}
    assert torch.equal(network.gradient.sort()[0], torch.cat([g.flatten() for g in ours.values()]).sort()[0])
    network.zero_grad()
    theirs = network(seen)
    theirs.backward(slope)
    assert torch.allclose(values, theirs, atol=1e-6)
    for name, p in network.named_parameters():
        assert torch.allclose(ours[name], p.grad, atol=2e-5), name


def test_all_weights_lie_in_one_tensor() -> None:
    torch.manual_seed(1)
    network = RecurrentNetwork("GRU", inputs=9, hidden=16, actions=3)
    twin = network.twin()
    states = torch.randint(9, (12,))
    assert torch.equal(network(states), twin(states)) and not any(p.requires_grad for p in twin.parameters())
    network.weights.mul_(0.5)
    assert torch.allclose(network.run(states.numpy())[0], network(states), atol=1e-6)
    assert not torch.allclose(network(states), twin(states), atol=1e-3)
    assert sum(p.numel() for p in network.parameters()) == len(network.weights)
    twin.weights.copy_(network.weights)
    assert torch.equal(network(states), twin(states))


@pytest.mark.parametrize("model", MODELS)
def test_greedy_episodes_take_the_networks_best_actions(model: str) -> None:
    agent = agent_of(model, seed=3)
    walk = new_walk(40)
    agent.play(0.0, walk)
    length = int(walk.outcome[0])
    views = torch.from_numpy(walk.views[:length].astype(np.int64))
    with torch.no_grad():
        if isinstance(agent, RecurrentDQN):
            values = agent.network(views)
        else:
            assert isinstance(agent, DQN)
            values = agent.network(agent.features[views])
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
