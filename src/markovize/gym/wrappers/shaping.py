"""Potential-based shaping: how much a machine's states promise, so that progress pays before the reward does.

Shaping adds γ·Φ(u') - Φ(u) to each reward, with Φ = 0 after the end of an episode. Whatever Φ is, the discounted return
of every finished episode changes by the same constant, -Φ(u0); so the same policies are best as before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from markovize.episodes.traces import Floats
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine
from markovize.product.value_iteration import Decisions, iterate_values


@dataclass(frozen=True, eq=False)
class Potential:
    """Φ(u) of each machine state, for a discount γ; make one with :meth:`of`.

    >>> from markovize.machine.machine import Emission, Trigger
    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, "key", 1),),
    ...                         (Emission(0, "key", 1, 0.0), Emission(1, "door", 1, 1.0, terminal=True)))
    >>> potential = Potential.of(machine, 0.5)
    >>> potential.values.tolist(), potential.bonus(0, 1), potential.bonus(1, 1, terminated=True)
    ([0.5, 1.0], 0.0, -1.0)
    """

    gamma: float
    values: Floats = field(repr=False)

    @classmethod
    def of(cls, machine: RewardMachine, gamma: float, *, tolerance: float = 1e-10) -> Potential:
        """Value iteration on the machine's own graph: as if the agent could choose among the listed rewards.

        V(u) = max over the machine's rewards (u, label, u') of reward + γ·V(u'), with V(u') = 0 where such a step ends
        the episode; 0 for states without rewards. ``tolerance`` is relative to the largest value there can be.
        """
        # written so that NaN is refused as well
        if isinstance(gamma, bool) or not isinstance(gamma, (int, float)) or not 0 <= gamma < 1:
            raise InputError(f"shaping needs a discount 0 ≤ gamma < 1, not {gamma!r}")
        if not 0 < tolerance < 1:
            raise InputError(f"shaping needs a tolerance between 0 and 1, not {tolerance!r}")
        best: dict[tuple[int, int, bool], float] = {}
        for e in machine.rewards:
            key = (e.source, e.target, e.terminal)
            best[key] = max(best.get(key, e.reward), e.reward)
        edges = sorted(best)
        source, target, terminal = (np.array([edge[part] for edge in edges], np.int64) for part in range(3))
        reward = np.array([best[edge] for edge in edges])
        decisions = Decisions(
            rows=np.searchsorted(source, np.arange(machine.states + 1)),
            first=np.arange(len(edges) + 1),
            total=np.ones(len(edges)),
            target=target,
            weight=np.ones(len(edges)),
            reward=reward,
            discount=np.where(terminal, 0.0, gamma),
        )
        largest = float(np.abs(reward).max(initial=0.0)) / (1.0 - gamma)
        values = iterate_values(decisions, np.zeros(len(edges)), float(gamma), tolerance * largest)
        values.setflags(write=False)
        return cls(float(gamma), values)

    def bonus(self, state: int, target: int, *, terminated: bool = False) -> float:
        """What shaping adds to the reward of a step from u to u'; truncation is no end."""
        after = 0.0 if terminated else self.gamma * float(self.values[target])
        return after - float(self.values[state])
