"""What all deep agents share: two networks, an optimiser, and one step of learning with a target."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from markovize.deep.courses import DeepWorld
from markovize.deep.replay import Replay
from markovize.deep.settings import DeepSettings

if TYPE_CHECKING:
    import numpy as np

    from markovize.deep.kernels import Walk


class Agent(ABC):
    """A network that acts and learns, a target network that follows it slowly, and what they learn from.

    ``rng`` draws everything that is drawn after the first weights.
    """

    def __init__(
        self, where: DeepWorld, settings: DeepSettings, network: nn.Module, replay: Replay, rng: np.random.Generator
    ) -> None:
        self.where, self.settings, self.replay, self.rng = where, settings, replay, rng
        self.network = network
        self.target = copy.deepcopy(network).requires_grad_(False)
        self._weights = tuple(network.parameters())
        self._target_weights = tuple(self.target.parameters())
        self.optimiser = torch.optim.Adam(self._weights, settings.learning_rate, fused=True)

    @abstractmethod
    def play(self, epsilon: float, walk: Walk) -> float:
        """One ε-greedy episode, written into ``walk``; its return."""

    def remember(self, walk: Walk) -> None:
        """Puts an episode into the replay."""
        self.replay.add(walk)

    @abstractmethod
    def learn(self) -> float:
        """One update from the replay; its loss."""

    def descend(self, values: Tensor, wanted: Tensor) -> float:
        """One step of Adam on the mean squared error; then the target follows."""
        loss = nn.functional.mse_loss(values, wanted)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self.smooth()
        return float(loss.detach())

    def smooth(self) -> None:
        """target ← target + smoothing · (network - target)."""
        with torch.no_grad():
            torch._foreach_lerp_(self._target_weights, self._weights, self.settings.smoothing)
