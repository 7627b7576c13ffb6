"""Planning on what is known of S×U, compiled."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

from numba import njit

from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at
from markovize.agents.tabular.compiled.updates import best_value

TOLERANCE = 1e-6  # of the values


@njit(cache=True)
def plan(agent: AgentRef, sweeps: int) -> bool:
    """Value iteration on the known part of S×U; what was never tried or seen counts as zero.

    False if so many sweeps were not enough; the next call goes on.
    """
    arrays = arrays_at(agent)
    transitions, machine, rewards, model = arrays.transitions, arrays.machine, arrays.rewards, arrays.model
    q, gamma = arrays.values.q, arrays.control.how[0].gamma
    states, n_actions = model.first.shape
    for _ in range(sweeps):
        change = 0.0
        for u in range(len(machine.delta)):
            for s in range(states):
                for a in range(n_actions):
                    x = model.first[s, a]
                    tries, value = 0, 0.0
                    while x >= 0:
                        v = machine.delta[u, transitions.trigger[x]]
                        label = transitions.label[x]
                        reward = rewards.paid[u, label, v]
                        here = 0.0 if math.isnan(reward) else reward
                        if not rewards.ends[u, label, v]:
                            here += gamma * best_value(q, v, transitions.target[x])
                        value += model.seen[x] * here
                        tries += model.seen[x]
                        x = model.next[x]
                    if tries > 0:
                        value /= tries
                    change = max(change, abs(value - q[u, s, a]))
                    q[u, s, a] = value
        if change * gamma <= TOLERANCE * (1.0 - gamma):
            return True
    return False
