"""What was seen, by number: states, actions, transitions and their labels; and the episodes that a learner keeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from markovize.episodes.labelling import LabelOn, labelling_of
from markovize.episodes.traces import Bools, Floats, Ints, Longs, Traces, by_first_use
from markovize.episodes.values import Interner, Value
from markovize.machine.machine import RewardMachine
from markovize.worlds import World


class StepBook:
    """Numbers for states, actions and transitions (s, a, s'), and what each transition is called.

    >>> book = StepBook([10, 20], ["go"])
    >>> book.transition(0, 0, 1), book.transition(0, 0, 1), book.transition(1, 0, 1)
    (0, 0, 1)
    >>> book.relabel("state", "transition")
    >>> book.trigger, book.reward
    ([1, 1], [0, 1])
    """

    def __init__(self, observations: Iterable[Value], actions: Sequence[Value]) -> None:
        self.observations = Interner(observations)
        self.actions = list(actions)
        self.source: list[int] = []
        self.action: list[int] = []
        self.target: list[int] = []
        self.trigger: list[int] = []
        self.reward: list[int] = []
        self.relabel("state", "state")
        self._known: dict[tuple[int, int, int], int] = {}

    @classmethod
    def of(cls, world: World) -> StepBook:
        """All transitions of a world, the one by action a in state s numbered s·A + a."""
        book = cls(world.observations, world.actions)
        for (s, a), t in np.ndenumerate(world.successor):
            book.transition(s, a, int(t))
        return book

    def __len__(self) -> int:
        return len(self.source)

    def transition(self, s: int, a: int, t: int) -> int:
        """The number of a transition, new or not."""
        found = self._known.get((s, a, t))
        if found is None:
            found = self._known[s, a, t] = len(self.source)
            self.source.append(s)
            self.action.append(a)
            self.target.append(t)
            self._name(found)
        return found

    def relabel(self, trigger_on: LabelOn, reward_on: LabelOn) -> None:
        """Calls all transitions, those seen and those to come, by other labels."""
        self.trigger_on, self.reward_on = trigger_on, reward_on
        self._labellings = labelling_of(trigger_on), labelling_of(reward_on)
        self._triggers, self._rewards = (labelling.interner(self.observations) for labelling in self._labellings)
        self.trigger, self.reward = [], []
        for number in range(len(self.source)):
            self._name(number)

    def _name(self, number: int) -> None:
        step, (trigger_on, reward_on) = self.values(number), self._labellings
        self.trigger.append(self._triggers.id(trigger_on.label(step)))
        self.reward.append(self._rewards.id(reward_on.label(step)))

    def values(self, number: int) -> tuple[Value, Value, Value]:
        """(s, a, s') of a transition."""
        names = self.observations.values
        return names[self.source[number]], self.actions[self.action[number]], names[self.target[number]]

    @property
    def trigger_labels(self) -> int:
        """How many trigger labels there are so far."""
        return len(self._triggers)

    @property
    def reward_labels(self) -> int:
        """How many reward labels there are so far."""
        return len(self._rewards)

    @property
    def reward_labels_are_observations(self) -> bool:
        """Whether rewards are labelled by observations, of which there are fewer than transitions."""
        return self._labellings[1].are_observations

    def delta(self, machine: RewardMachine, columns: int = 1) -> Ints:
        """δ as a table with a row for each state and a column for each trigger label, at least ``columns``."""
        return machine.delta.table(self._triggers, columns=columns)


class Kept:
    """The episodes that a learner keeps, in columns, in the order of their arrival: the paper's T_o."""

    def __init__(self) -> None:
        self.transitions: list[Ints] = []
        self.rewards: list[Floats] = []
        self.terminated: list[bool] = []
        self.steps = 0

    def __len__(self) -> int:
        return len(self.transitions)

    def add(self, transitions: Ints, rewards: Floats, terminated: bool) -> None:
        """One more episode; what did not terminate was cut."""
        self.transitions.append(transitions.copy())
        self.rewards.append(rewards.copy())
        self.terminated.append(bool(terminated))
        self.steps += len(transitions)

    def first(self, number: int) -> Kept:
        """The episodes that came first."""
        kept = Kept()
        columns = self.transitions[:number], self.rewards[:number], self.terminated[:number]
        for episode in zip(*columns, strict=True):
            kept.add(*episode)
        return kept

    def columns(self) -> tuple[Longs, Ints, Floats, Bools]:
        """Offsets, transitions, rewards and endings of all episodes."""
        offsets = np.cumsum([0, *map(len, self.transitions)], dtype=np.int64)
        if not len(self):
            return offsets, np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.bool_)
        ends = np.array(self.terminated, np.bool_)
        return offsets, np.concatenate(self.transitions), np.concatenate(self.rewards), ends

    def traces(self, book: StepBook) -> Traces:
        """The episodes as traces; states and actions are numbered by first use, as reading them from a file would."""
        offsets, transitions, rewards, ended = self.columns()
        source, action, target = (np.array(c, np.int32) for c in (book.source, book.action, book.target))
        where = np.arange(len(transitions)) + np.repeat(np.arange(1, len(self) + 1), np.diff(offsets))
        states = np.zeros(len(transitions) + len(self), np.int32)
        states[where] = target[transitions]
        states[offsets[:-1] + np.arange(len(self))] = source[transitions[offsets[:-1]]]
        states, state_values = by_first_use(states, book.observations.values)
        actions, action_values = by_first_use(action[transitions], book.actions)
        return Traces(state_values, action_values, states, actions, rewards, offsets, ended, ~ended)
