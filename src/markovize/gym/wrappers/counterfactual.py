"""Counterfactual experiences: what one step of the environment would have paid in every state of the machine.

The environment does not know of the machine, so a step (s, a, s') teaches about all machine states at once: an
off-policy agent may learn from ((s, u), a, reward, (s', u')) for each u in which the machine knows the reward.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np

from markovize.episodes.features import Features
from markovize.episodes.labelling import LabelOn, Step
from markovize.episodes.spaces import value_of
from markovize.episodes.traces import Bools, Floats, Longs
from markovize.episodes.values import key_of
from markovize.gym.wrappers.follower import MOST_REMEMBERED, BoundMachine, Follower
from markovize.gym.wrappers.shaping import Potential
from markovize.machine.machine import RewardMachine


class Experience(NamedTuple):
    """In machine state ``rm_state`` the step pays ``reward``, leads to ``next_rm_state``, and may end the episode.

    >>> Experience(0, 1.0, 1, False).reward
    1.0
    """

    rm_state: int
    reward: float
    next_rm_state: int
    terminal: bool


class Experiences(NamedTuple):
    """Many experiences in columns; ``step`` is the row of the batch that each one is of.

    >>> Experiences.of([]).reward.shape
    (0,)
    """

    step: Longs
    rm_state: Longs
    reward: Floats
    next_rm_state: Longs
    terminal: Bools

    @classmethod
    def of(cls, rows: Iterable[tuple[int, Experience]]) -> Experiences:
        """From (row of the batch, experience) pairs."""
        table = [(step, *experience) for step, experience in rows]
        columns = list(zip(*table, strict=True)) if table else [()] * 5
        kinds = (np.int64, np.int64, np.float64, np.int64, np.bool_)
        return cls(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)))


class CounterfactualTable:
    """The counterfactual experiences of a machine, each pair of labels worked out once.

    >>> from markovize.machine.machine import Emission, Trigger
    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, 7, 1),),
    ...                         (Emission(0, 7, 1, 0.0), Emission(1, 7, 1, 1.0, terminal=True)))
    >>> table = CounterfactualTable(machine)
    >>> table.experiences(6, "go", 7)[1]
    Experience(rm_state=1, reward=1.0, next_rm_state=1, terminal=True)
    >>> table.batch([5, 6], ["go", "go"], [6, 7]).step.tolist()
    [1, 1]
    """

    def __init__(
        self,
        machine: RewardMachine | BoundMachine,
        *,
        trigger_on: LabelOn | None = None,
        reward_on: LabelOn | None = None,
        features: Features | None = None,
    ) -> None:
        if isinstance(machine, BoundMachine):
            self._bound = machine
        else:
            self._bound = BoundMachine(machine, trigger_on=trigger_on, reward_on=reward_on, features=features)
        self._known: dict[Hashable, tuple[Experience, ...]] = {}

    def experiences(self, state: object, action: object, next_state: object) -> tuple[Experience, ...]:
        """For a step (s, a, s'), one experience for each machine state in which the machine knows the reward."""
        step = value_of(state, objects=True), value_of(action, "action"), value_of(next_state, objects=True)
        on, reward_on = self._bound.labels(step)
        key = key_of(on), key_of(reward_on)
        found = self._known.get(key)
        if found is None:
            machine, rows = self._bound.machine, []
            for u in range(machine.states):
                v = machine.step(u, on)
                reward = machine.reward(u, reward_on, v)
                if reward is not None:
                    rows.append(Experience(u, reward, v, machine.terminal(u, reward_on, v)))
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            found = self._known[key] = tuple(rows)
        return found

    def batch(self, states: Iterable[object], actions: Iterable[object], next_states: Iterable[object]) -> Experiences:
        """The same for many steps at once, in arrays."""
        steps = enumerate(zip(states, actions, next_states, strict=True))
        return Experiences.of((row, experience) for row, step in steps for experience in self.experiences(*step))


def experiences_of_step(
    table: CounterfactualTable,
    follower: Follower,
    step: Step,
    reward: float,
    terminated: bool,
    potential: Potential | None,
) -> list[Experience]:
    """The experiences of a step that the follower has just taken: the real one first, then those of other states.

    >>> bound = BoundMachine(RewardMachine("state", "state", 1))
    >>> experiences_of_step(CounterfactualTable(bound), Follower(bound), (0, "go", 1), 0.5, False, None)
    [Experience(rm_state=0, reward=0.5, next_rm_state=0, terminal=False)]
    """
    real = Experience(follower.before, reward, follower.state, terminated)
    rows = [real, *(e for e in table.experiences(*step) if e.rm_state != real.rm_state)]
    if potential is None:
        return rows
    return [
        e._replace(reward=e.reward + potential.bonus(e.rm_state, e.next_rm_state, terminated=e.terminal)) for e in rows
    ]


def counterfactual(
    machine: RewardMachine,
    state: object,
    action: object,
    next_state: object,
    *,
    trigger_on: LabelOn | None = None,
    reward_on: LabelOn | None = None,
    features: Features | None = None,
) -> list[Experience]:
    """The experiences of one step (s, a, s'); for many steps, make a :class:`CounterfactualTable` once.

    >>> from markovize.machine.machine import Emission
    >>> counterfactual(RewardMachine("state", "state", 1, (), (Emission(0, 2, 0, 0.5),)), 1, "go", 2)
    [Experience(rm_state=0, reward=0.5, next_rm_state=0, terminal=False)]
    """
    table = CounterfactualTable(machine, trigger_on=trigger_on, reward_on=reward_on, features=features)
    return list(table.experiences(state, action, next_state))
