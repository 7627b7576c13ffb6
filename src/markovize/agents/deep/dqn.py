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
from torch import Tensor

from markovize.agents.deep.agent import Agent
from markovize.agents.deep.agent_world import AgentWorld
from markovize.agents.deep.fast.episodes import play
from markovize.agents.deep.networks import ValueNetwork
from markovize.agents.deep.replay import StepReplay
from markovize.agents.deep.settings import DeepSettings
from markovize.episodes.traces import Longs

if TYPE_CHECKING:
    import numpy as np

    from markovize.agents.deep.fast.arrays import Walk


class DQN(Agent):
    """See above; what the agent remembers is in its world's memory, so DQN and ADQN differ in nothing else."""

    network: ValueNetwork
    target: ValueNetwork
    replay: StepReplay

    def __init__(self, where: AgentWorld, settings: DeepSettings, rng: np.random.Generator) -> None:
        self.features = torch.from_numpy(where.features)
        network = ValueNetwork(self.features.shape[1], settings.hidden, len(where.world.actions))
        super().__init__(where, settings, network, StepReplay(settings.replay_steps), rng)
        self._first = network.compiled(where.memory.bits)

    def play(self, epsilon: float, walk: Walk) -> float:
        """Greedy but for ε; views are evaluated as they are met."""
        return float(play(self.where.tables, self._first, self.network.layers, epsilon, self.rng, walk))

    def learn(self) -> float:
        """One batch."""
        steps = self.replay.sample(self.settings.batch, self.rng)
        best = self.target.run(self._seen(steps.after))[0].amax(dim=1)
        values, forward_pass = self.network.run(self._seen(steps.views))
        return self.descend(values, forward_pass, steps, best)

    def _seen(self, views: Longs) -> Tensor:
        return self.features.index_select(0, torch.from_numpy(views))
