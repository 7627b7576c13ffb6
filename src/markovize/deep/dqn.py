"""DQN on S and, with a machine, the paper's ADQN on S×U: a value network on the state one-hot and the memory's bits.

After each episode::

    draw a batch of steps (s, a, r, s') from the replay
    y = r                          where the episode ended there
    y = r + γ max_a' Q_target(s')  elsewhere, also where it was only cut
    descend on (Q(s)[a] - y)²
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from markovize.deep import kernels
from markovize.deep.agent import Agent
from markovize.deep.courses import DeepWorld
from markovize.deep.networks import ValueNetwork
from markovize.deep.replay import StepReplay
from markovize.deep.settings import DeepSettings

if TYPE_CHECKING:
    import numpy as np

    from markovize.deep.kernels import Walk


class DQN(Agent):
    """See above; what the agent remembers is in its world's memory, so DQN and ADQN differ in nothing else."""

    network: ValueNetwork
    replay: StepReplay

    def __init__(self, where: DeepWorld, settings: DeepSettings, rng: np.random.Generator) -> None:
        self.features = torch.from_numpy(where.features)
        network = ValueNetwork(self.features.shape[1], settings.hidden, len(where.world.actions))
        super().__init__(where, settings, network, StepReplay(settings.replay_steps), rng)

    def play(self, epsilon: float, walk: Walk) -> float:
        """Greedy but for ε; views are evaluated as they are met."""
        layers = self.network.layers(len(self.where.world.observations), self.where.memory.bits)
        return float(kernels.play(self.where.course, layers, epsilon, self.rng, walk))

    def learn(self) -> float:
        """One batch."""
        steps = self.replay.sample(self.settings.batch, self.rng)
        rewards, goes_on = torch.from_numpy(steps.rewards), torch.from_numpy(~steps.ends)
        with torch.no_grad():
            best = self.target(self.features[torch.from_numpy(steps.after)]).max(dim=1).values
            wanted = rewards + self.settings.gamma * goes_on * best
        values = self.network(self.features[torch.from_numpy(steps.views)])
        taken = values.gather(1, torch.from_numpy(steps.actions)[:, None])[:, 0]
        return self.descend(taken, wanted)
