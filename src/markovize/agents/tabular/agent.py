"""The agent: what it knows under the machine that it holds true, in arrays that grow with what it meets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from markovize.agents.tabular.codec import StepCodec
from markovize.agents.tabular.compiled.allocation import add_free_rows, enlarge, new_arrays
from markovize.agents.tabular.compiled.arrays import AgentArrays, Hyperparameters, Model, Sizes
from markovize.agents.tabular.compiled.planning import known_decisions
from markovize.agents.tabular.compiled.reference import AgentRef, refer_to, set_generator
from markovize.episodes.labelling import Step
from markovize.episodes.traces import Floats, Ints
from markovize.episodes.values import Interner
from markovize.machine.machine import Emission, RewardMachine, sorted_emissions
from markovize.product.value_iteration import sweep_values

ROWS = 256  # of witnesses, at first
TOLERANCE = 1e-6  # of planned values
UPDATES = 20_000_000  # in one compiled call of value iteration: some tenths of a second


class Agent:
    """A machine held true, and the arrays that go with it.

    Arrays are only ever made by :meth:`fit`: all that is met is numbered by the codec first, and where the numbers no
    longer fit, every array grows at once.
    """

    def __init__(self, codec: StepCodec, machine: RewardMachine, arrays: AgentArrays, *, per_transition: bool) -> None:
        self.codec, self.machine, self.arrays, self.per_transition = codec, machine, arrays, per_transition
        self._reference: tuple[AgentRef, AgentArrays] | None = None
        self._instructed: tuple[Hyperparameters, np.random.Generator] | None = None

    @classmethod
    def new(
        cls,
        codec: StepCodec,
        machine: RewardMachine,
        room: tuple[int, int],
        *,
        steps: int,
        per_transition: bool = False,
        episodes: int = 0,
        potential: Floats | None = None,
        model: Model | None = None,
    ) -> Agent:
        """Knows nothing but how the environment moves, if there is a ``model``.

        ``room`` is for so many states and transitions; there will be witnesses for so many ``episodes`` at least.
        """
        states, transitions = room
        labels = _label_sizes(codec, per_transition, states, transitions)
        rows = max(2 * episodes, ROWS)
        sizes = Sizes(machine.states, states, len(codec.actions), transitions, *labels, rows, steps)
        arrays = new_arrays(sizes)
        if model is not None:
            arrays = arrays._replace(model=model)
        if potential is not None:
            arrays.machine.potential[:] = potential
        agent = cls(codec, machine, arrays, per_transition=per_transition)
        agent._write_machine()
        agent.describe_transitions()
        return agent

    @property
    def room(self) -> tuple[int, int]:
        """How many states and transitions there is room for."""
        return self.arrays.model.first.shape[0], len(self.arrays.model.seen)

    @property
    def sizes(self) -> Sizes:
        """Of all arrays."""
        (machine_states, states, actions), (rows, steps) = (
            self.arrays.values.q.shape,
            self.arrays.witnesses.rewards.shape,
        )
        labels = self.arrays.machine.delta.shape[1], self.arrays.rewards.paid.shape[1]
        return Sizes(machine_states, states, actions, len(self.arrays.model.seen), *labels, rows, steps)

    @property
    def values(self) -> Floats:
        """What each action is worth, for each state of the machine and each observation that has a number."""
        self.fit()
        return self.arrays.values.q[:, : len(self.codec.observations)].copy()

    @property
    def reference(self) -> AgentRef:
        """What compiled code is given: made anew when the arrays have grown."""
        if self._reference is None or self._reference[1] is not self.arrays:
            self._reference = refer_to(self.arrays), self.arrays
        return self._reference[0]

    def instruct(self, how: Hyperparameters, rng: np.random.Generator) -> None:
        """How to act from now on, and where random numbers come from."""
        if self._instructed != (how, rng):  # writing records from Python is slow
            self.arrays.control.how[0] = how
            set_generator(self.arrays, rng)
            self._instructed = how, rng

    def fit(self, first: int | None = None) -> None:
        """Makes room for all that the codec has, and describes its transitions from ``first`` on."""
        states, transitions = self.room
        if len(self.codec.observations) > states or len(self.codec) > transitions:
            self.grow(_double_until(states, len(self.codec.observations)), _double_until(transitions, len(self.codec)))
            first = 0
        if first is not None:
            self.describe_transitions(first)

    def grow(self, states: int, transitions: int) -> None:
        """Room for so many states and transitions; nothing is forgotten."""
        labels = _label_sizes(self.codec, self.per_transition, states, transitions)
        names = ("states", "transitions", "trigger_labels", "reward_labels")
        before = self.arrays.machine.delta
        self._resize(self.sizes._replace(**dict(zip(names, (states, transitions, *labels), strict=True))))
        self._write_machine()
        self.arrays.machine.delta[:, : before.shape[1]] = before  # which may have moves that are only expected

    def add_rows(self) -> None:
        """Room for twice as many witnesses."""
        rows = self.sizes.rows
        self._resize(self.sizes._replace(rows=2 * rows))
        add_free_rows(self.arrays, rows)

    def describe_transitions(self, first: int = 0) -> None:
        """Copies the codec's transitions from ``first`` on, and their labels."""
        codec, last = self.codec, len(self.codec)
        label = range(last) if self.per_transition else codec.rewards.ids
        columns = codec.source, codec.action, codec.target, codec.triggers.ids, label
        for column, values in zip(self.arrays.transitions, columns, strict=True):
            column[first:last] = values[first:last]

    def machine_with_levels(self, width: float) -> RewardMachine:
        """The machine, with what was paid since it was learned: the middle of all rewards of each step, and how far.

        The machine itself has the levels of the episodes that it was learned from, which may be few.
        """
        rewards, values = self.arrays.rewards, self.codec.rewards.numbers.values
        seen = np.nonzero(~np.isnan(rewards.paid))
        window = (rewards.low, rewards.high) if width else (rewards.paid, rewards.paid)
        low, high, made, ended = (table[seen].tolist() for table in (*window, rewards.made, rewards.ended))
        found = [
            Emission(u, values[y], v, a + (b - a) / 2, ends == n, (b - a) / 2, n)
            for u, y, v, a, b, n, ends in zip(*(axis.tolist() for axis in seen), low, high, made, ended, strict=True)
        ]
        return replace(self.machine, rewards=sorted_emissions(found))

    def plan(self, check: Callable[[], None]) -> None:
        """Value iteration on what is known; ``check`` is called now and then, and may end it by an exception."""
        q, gamma = self.arrays.values.q.reshape(-1), float(self.arrays.control.how[0].gamma)
        decisions, values = known_decisions(self.reference), np.zeros(len(q) // self.sizes.actions)
        sweeps = max(1, UPDATES // max(1, len(decisions.target)))
        while not sweep_values(decisions, q, values, gamma, TOLERANCE, sweeps):
            check()

    def write_walk(self, steps: Sequence[Step]) -> Ints:
        """The route of an episode that is to begin with these known steps: their numbers; none if there is no room."""
        codec, route, states = self.codec, self.arrays.route, self.room[0]
        actions, u, numbers = Interner(codec.actions), 0, list[int]()
        if len(steps) > min(len(route.nodes), self.sizes.steps):
            return np.zeros(0, np.int32)
        for n, (source, action, target) in enumerate(steps):
            s, a, t = codec.observations.id(source), actions.id(action), codec.observations.id(target)
            x = codec.transition(s, a, t)
            route.nodes[n], route.actions[n] = u * states + s, a
            numbers.append(x)
            u = int(self.arrays.machine.delta[u, codec.triggers.ids[x]])
        return np.array(numbers, np.int32)

    def _write_machine(self) -> None:
        delta = self.arrays.machine.delta
        delta[:] = self.codec.delta(self.machine, delta.shape[1])

    def _resize(self, sizes: Sizes) -> None:
        self.arrays = AgentArrays._make(enlarge(group, sizes) for group in self.arrays)


def _label_sizes(codec: StepCodec, per_transition: bool, states: int, transitions: int) -> tuple[int, int]:
    """Room for trigger labels and reward labels.

    Rewards are remembered by state, or by labels of which there are at most as many as transitions.
    """
    rewards = states if codec.rewards.labelling.are_observations and not per_transition else transitions
    return max(1, transitions, states, len(codec.triggers.numbers)), rewards


def _double_until(now: int, needed: int) -> int:
    while now < needed:
        now *= 2
    return now
