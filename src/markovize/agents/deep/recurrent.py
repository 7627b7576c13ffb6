"""DQN on S with a recurrent layer (RNN, GRU or LSTM) that has to find out by itself what to remember.

After each episode::

    draw an episode s_0 a_0 r_0 s_1 … s_n from the replay
    run Q over s_0 … s_(n-1), and Q_target over s_0 … s_n, both from an empty memory
    y_t = r_t                           at the end
    y_t = r_t + γ max_a Q_target_(t+1)  elsewhere, also where the episode was only cut
    descend on the mean of (Q_t[a_t] - y_t)²
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from markovize.agents.deep.agent import Agent
from markovize.agents.deep.agent_world import AgentWorld
from markovize.agents.deep.fast.episodes import play_recurrently
from markovize.agents.deep.networks import RecurrentNetwork
from markovize.agents.deep.replay import EpisodeReplay
from markovize.agents.deep.settings import DeepSettings

if TYPE_CHECKING:
    from markovize.agents.deep.fast.arrays import Walk


class RecurrentDQN(Agent):
    """See above."""

    network: RecurrentNetwork
    target: RecurrentNetwork
    replay: EpisodeReplay

    def __init__(self, where: AgentWorld, settings: DeepSettings, rng: np.random.Generator) -> None:
        states, actions = where.world.successor.shape
        network = RecurrentNetwork(settings.model, states, settings.hidden, actions)
        super().__init__(where, settings, network, EpisodeReplay(settings.replay_episodes), rng)

    def play(self, epsilon: float, walk: Walk) -> float:
        """Greedy but for ε; the memory is empty at the start."""
        network = self.network
        return float(
            play_recurrently(
                self.where.tables, network.kind, network.recurrence, network.layers, epsilon, self.rng, walk
            )
        )

    def learn(self) -> float:
        """One episode."""
        steps = self.replay.sample(self.rng)
        best = self.target.run(np.append(steps.views, steps.after[-1]))[0][1:].amax(dim=1)
        values, forward_pass = self.network.run(steps.views)
        return self.descend(values, forward_pass, steps, best)
