"""The product of environment and reward machine, the paper's ARMDP (Definition 1), estimated from episodes.

Its states are pairs (s, u), its reward is Markov, so one can plan on it: :meth:`Product.value_iteration`. The
paper's Theorem 1 says that nothing is lost on the way; :func:`rs` and :func:`ars` are its two sides.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np

from markovize.episodes.brief import BriefRepr
from markovize.episodes.features import Features
from markovize.episodes.labelling import LabelFunction, Labelling, labelling_named
from markovize.episodes.traces import Bools, Floats, Ints, Longs, Traces
from markovize.episodes.values import Value, canonical, key_of, show
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine
from markovize.product.tables import build_tables
from markovize.product.value_iteration import Decisions, iterate_values

State: TypeAlias = tuple[Value, int]


@dataclass(frozen=True, eq=False)
class Product(BriefRepr):
    """States S×U, actions, T̃, R̃ and ρ̃, in sparse tables; make one with :meth:`of`.

    State number ``s * machine.states + u``. A *row* is a visited ((s, u), a); its outcomes are
    ``first[row] : first[row + 1]`` in the columns from ``target`` on. T̃ is T(s, a, s') counted over all u, as
    in the definition's property 3; so an outcome may have ``counts`` 0 in this u, and pays 0 if neither the data
    nor the machine say what it pays.

    >>> from markovize.machine.machine import Trigger
    >>> traces = Traces.of([(["home", "key", "home", "door"], ["go"] * 3, [0, 0, 1], True),
    ...                     (["home", "door"], ["go"], [0], True)])
    >>> product = Product.of(traces, RewardMachine("state", "state", 2, (Trigger(0, "key", 1),)))
    >>> product.probability(("home", 0), "go", ("key", 1)), product.reward(("home", 1), "go", ("door", 1))
    (0.3333333333333333, 1.0)
    """

    machine: RewardMachine
    observations: tuple[Value, ...] = field(repr=False)
    actions: tuple[Value, ...]
    row_state: Longs = field(repr=False)
    row_action: Ints = field(repr=False)
    first: Longs = field(repr=False)
    target: Longs = field(repr=False)
    probabilities: Floats = field(repr=False)
    rewards: Floats = field(repr=False)
    counts: Longs = field(repr=False)
    ending: Floats = field(repr=False)  # the share of such steps that ended their episode by `terminated`
    initial: Floats = field(repr=False)
    visited: Bools = field(repr=False)
    trigger_on: Labelling = field(default=labelling_named("state"), repr=False)

    @classmethod
    def of(
        cls,
        traces: Traces,
        machine: RewardMachine,
        *,
        trigger_on: LabelFunction | None = None,
        reward_on: LabelFunction | None = None,
        features: Features | None = None,
    ) -> Product:
        """The product that these episodes show; functions are needed for machines on a user's own labels or features.

        >>> traces = Traces.of([([0, 1, 1], ["go", "stay"], [0, 5])])
        >>> try:
        ...     Product.of(traces, RewardMachine("state", "state", 1))
        ... except InputError as error:
        ...     print(str(error).replace(": ", ":\\n"))
        the machine does not explain these episodes:
        episode 0 step 0 and episode 0 step 1 both go from state 0 to 0 on 1, but pay 0 and 5
        """
        triggers = machine.trigger_labelling(trigger_on, features)
        rewards = machine.reward_labelling(reward_on, features)
        return cls(machine, *build_tables(traces, machine, triggers, rewards), triggers)

    @cached_property
    def states(self) -> tuple[State, ...]:
        """All of S×U, visited or not, in the order of their numbers."""
        return tuple((s, u) for s in self.observations for u in range(self.machine.states))

    def number(self, state: State) -> int:
        """The number of a state (s, u)."""
        s, u = canonical(state[0]), state[1]
        found = self._observation_ids.get(key_of(s))
        if found is None or not 0 <= u < self.machine.states:
            raise InputError(f"({show(s)}, {u}) is not a state of this product")
        return found * self.machine.states + u

    def probability(self, state: State, action: Value, target: State) -> float:
        """T̃((s, u), a, (s', u')); 0 where the episodes show no such step.

        Impossible and unseen cannot be told apart from data.
        """
        at = self._find(state, action, target)
        return 0.0 if at is None else float(self.probabilities[at])

    def reward(self, state: State, action: Value, target: State) -> float | None:
        """R̃((s, u), a, (s', u')), or None where the episodes show no such step."""
        at = self._find(state, action, target)
        return None if at is None else float(self.rewards[at])

    def value_iteration(self, gamma: float = 0.95, tolerance: float = 1e-9) -> Solution:
        """The optimal values, within ``tolerance``; only observed actions are considered.

        Nothing is expected after a step that ended its episode, nor from states without observed actions.

        >>> traces = Traces.of([([0, 1, 2], ["go", "go"], [0, 1], True)])
        >>> solution = Product.of(traces, RewardMachine("state", "state", 1)).value_iteration(gamma=0.5)
        >>> solution.value((0, 0)), solution.action((0, 0)), solution.action((2, 0))
        (0.5, 'go', None)
        """
        if not 0 <= gamma < 1 or not tolerance > 0:
            raise InputError(f"needs 0 ≤ gamma < 1 and a positive tolerance, not {gamma} and {tolerance}")
        decisions = Decisions(
            rows=np.searchsorted(self.row_state, np.arange(len(self.initial) + 1)),
            first=self.first,
            total=np.ones(len(self.row_state)),
            target=self.target,
            weight=self.probabilities,
            reward=self.rewards,
            discount=gamma * (1.0 - self.ending),
        )
        q = np.zeros(len(self.row_state))
        values = iterate_values(decisions, q, float(gamma), float(tolerance))
        policy = np.full(len(values), -1, np.int32)
        good = np.flatnonzero(q >= values[self.row_state] - 2 * tolerance)[::-1]  # the first of equals wins
        policy[self.row_state[good]] = self.row_action[good]
        return Solution(self, gamma, values, q, policy)

    def draw(self, path: str | Path, solution: Solution | None = None) -> None:
        """Draws it as .svg or .png: for grids a map per machine state, otherwise a graph in columns."""
        from markovize.product.picture import draw_product  # pulls in matplotlib, slow and needed only here

        draw_product(self, Path(path), solution or self.value_iteration())

    @cached_property
    def _observation_ids(self) -> dict[Hashable, int]:
        return {key_of(value): number for number, value in enumerate(self.observations)}

    @cached_property
    def _outcomes(self) -> dict[tuple[int, Hashable, int], int]:
        rows = np.repeat(np.arange(len(self.row_state)), np.diff(self.first)).tolist()
        names = [key_of(action) for action in self.actions]
        keys = [(int(s), names[a]) for s, a in zip(self.row_state, self.row_action, strict=True)]
        targets = self.target.tolist()
        return {(*keys[row], target): at for at, (row, target) in enumerate(zip(rows, targets, strict=True))}

    def _find(self, state: State, action: Value, target: State) -> int | None:
        return self._outcomes.get((self.number(state), key_of(canonical(action)), self.number(target)))


@dataclass(frozen=True, eq=False)
class Solution(BriefRepr):
    """Optimal values: ``values`` and ``policy`` by state number (-1: no action was seen), ``q`` by row."""

    product: Product = field(repr=False)
    gamma: float
    values: Floats = field(repr=False)
    q: Floats = field(repr=False)
    policy: Ints = field(repr=False)

    def value(self, state: State) -> float:
        """V(s, u); 0 where no action was seen."""
        return float(self.values[self.product.number(state)])

    def action(self, state: State) -> Value | None:
        """The greedy action in (s, u), or None where no action was seen."""
        action = int(self.policy[self.product.number(state)])
        return None if action < 0 else self.product.actions[action]

    def action_values(self, state: State) -> list[tuple[Value, float]]:
        """Q((s, u), a) of the observed actions, in the order of the product's actions."""
        rows = np.flatnonzero(self.product.row_state == self.product.number(state))
        return [(self.product.actions[self.product.row_action[row]], float(self.q[row])) for row in rows]


def rs(traces: Traces, episode: int) -> float:
    """RS(τ), the weighted reward sum of one episode: Σ r · T(s, a, s'), with T counted in the traces.

    >>> rs(Traces.of([([0, 1], ["a"], [4]), ([0, 2], ["a"], [0])]), 0)
    2.0
    """
    s, a, t = traces.states_before().astype(np.int64), traces.actions, traces.states_after()
    pairs = s * len(traces.action_values) + a
    triples = pairs * len(traces.observation_values) + t
    steps = slice(int(traces.offsets[episode]), int(traces.offsets[episode + 1]))
    return math.fsum(
        float(reward) * (np.count_nonzero(triples == triple) / np.count_nonzero(pairs == pair))
        for reward, pair, triple in zip(traces.rewards[steps], pairs[steps], triples[steps], strict=True)
    )


def ars(product: Product, traces: Traces, episode: int) -> float:
    """ARS(τ), the same sum in the product: Σ R̃ · T̃, over the pairs (u, u') that the machine goes through.

    The paper's O[m, n, i, j] is 1 for exactly that pair. Theorem 1: ``rs`` equals ``ars`` for every episode.

    >>> traces = Traces.of([([0, 1], ["a"], [4]), ([0, 2], ["a"], [0])])
    >>> ars(Product.of(traces, RewardMachine("state", "state", 1)), traces, 0)
    2.0
    """
    u, terms = product.machine.initial, []
    run = traces.episode(episode)
    for s, a, t in zip(run.observations, run.actions, run.observations[1:], strict=False):
        v = product.machine.step(u, product.trigger_on.label((s, a, t)))
        reward = product.reward((s, u), a, (t, v))
        if reward is None:
            raise InputError(f"episode {episode} is not one of the episodes that the product was made from")
        terms.append(reward * product.probability((s, u), a, (t, v)))
        u = v
    return math.fsum(terms)
