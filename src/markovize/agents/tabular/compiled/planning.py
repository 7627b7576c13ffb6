"""What an agent knows of S×U, as decisions to plan on; compiled."""
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import math

import numpy as np
from numba import njit

from markovize.agents.tabular.compiled.reference import AgentRef, arrays_at
from markovize.agents.tabular.compiled.updates import share_going_on
from markovize.product.value_iteration import Decisions


@njit(cache=True)
def known_decisions(agent: AgentRef) -> Decisions:
    """The known part of S×U, state u·S + s. What was never tried has no outcomes, what never paid pays as expected."""
    arrays = arrays_at(agent)
    transitions, machine, rewards, model = arrays.transitions, arrays.machine, arrays.rewards, arrays.model
    gamma = arrays.control.how[0].gamma
    machine_states, (states, n_actions) = len(machine.delta), model.first.shape
    n_rows, known = machine_states * states * n_actions, machine_states * np.count_nonzero(model.seen)
    first, total, target = np.zeros(n_rows + 1, np.int64), np.zeros(n_rows), np.zeros(known, np.int64)
    weight, reward, discount = np.zeros(known), np.zeros(known), np.zeros(known)
    row, at = 0, 0
    for u in range(machine_states):
        for s in range(states):
            for a in range(n_actions):
                x = model.first[s, a]
                while x >= 0:
                    label, v = transitions.label[x], machine.delta[u, transitions.trigger[x]]
                    paid = rewards.paid[u, label, v]
                    target[at] = v * states + transitions.target[x]
                    weight[at] = model.seen[x]
                    reward[at] = machine.pays[u, s, a] if math.isnan(paid) else paid
                    discount[at] = gamma * share_going_on(rewards, u, label, v)
                    total[row] += weight[at]
                    at += 1
                    x = model.next[x]
                row += 1
                first[row] = at
    return Decisions(np.arange(0, n_rows + 1, n_actions), first, total, target, weight, reward, discount)
