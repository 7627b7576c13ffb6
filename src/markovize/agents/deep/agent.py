"""What all deep agents share: two networks, an optimiser, and one step of learning with a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.optim.adam import adam

from markovize.agents.deep.agent_world import AgentWorld
from markovize.agents.deep.networks import ForwardPass, Network
from markovize.agents.deep.replay import Replay, Steps
from markovize.agents.deep.settings import DeepSettings

if TYPE_CHECKING:
    import numpy as np

    from markovize.agents.deep.fast.arrays import Walk


class Adam:
    """PyTorch's Adam on one tensor, without what its class adds for many."""

    def __init__(self, weights: Tensor, gradient: Tensor, learning_rate: float) -> None:
        self.weights, self.gradient, self.learning_rate = weights, gradient, learning_rate
        self.steps, self.first, self.second = torch.tensor(0.0), torch.zeros_like(weights), torch.zeros_like(weights)

    def step(self) -> None:
        """One step against the gradient."""
        adam(
            [self.weights],
            [self.gradient],
            [self.first],
            [self.second],
            [],
            [self.steps],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    @property
    def state(self) -> dict[str, Tensor]:
        """All that it keeps in mind, to be saved or overwritten."""
        return {"steps": self.steps, "first": self.first, "second": self.second}


class Agent(ABC):
    """A network that acts and learns, a target network that follows it slowly, and what they learn from.

    ``rng`` draws everything that is drawn after the first weights.
    """

    def __init__(
        self, where: AgentWorld, settings: DeepSettings, network: Network, replay: Replay, rng: np.random.Generator
    ) -> None:
        self.where, self.settings, self.replay, self.rng = where, settings, replay, rng
        self.network, self.target = network, network.twin()
        self.optimiser = Adam(network.weights, network.gradient, settings.learning_rate)

    @abstractmethod
    def play(self, epsilon: float, walk: Walk) -> float:
        """One ε-greedy episode, written into ``walk``; its return."""

    def remember(self, walk: Walk) -> None:
        """Puts an episode into the replay."""
        self.replay.add(walk)

    @abstractmethod
    def learn(self) -> float:
        """One update from the replay; its loss."""

    def descend(self, values: Tensor, forward_pass: ForwardPass, steps: Steps, best: Tensor) -> float:
        """One step of Adam on the mean of (Q[a] - y)², which it gives; then the target follows.

        ``values`` are Q at these steps, ``best`` the most that the target promises after them.
        """
        actions = torch.from_numpy(steps.actions)
        wanted = torch.from_numpy(steps.rewards) + self.settings.gamma * torch.from_numpy(~steps.ends) * best
        error = values.gather(1, actions[:, None])[:, 0] - wanted
        slope = torch.zeros_like(values).scatter_(1, actions[:, None], (2 / len(error) * error)[:, None])
        self.network.gradients(forward_pass, slope)
        self.optimiser.step()
        self.target.weights.lerp_(self.network.weights, self.settings.smoothing)
        return float(error @ error) / len(error)
