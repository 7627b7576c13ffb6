"""The episodes that a run keeps, since its machine has to explain them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from markovize.agents.tabular.codec import StepCodec
from markovize.episodes.traces import Bools, Floats, Ints, Longs, Traces, by_first_use


class KeptEpisodes:
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

    def are_same(self, last: int) -> bool:
        """Whether the last ones went and paid exactly alike, so many of them."""
        transitions, rewards = self.transitions[-last:], self.rewards[-last:]
        alike = (np.array_equal(each, columns[0]) for columns in (transitions, rewards) for each in columns)
        return len(transitions) == last and all(alike)

    def first(self, number: int) -> KeptEpisodes:
        """The episodes that came first."""
        return self.only(range(number))

    def only(self, numbers: Iterable[int]) -> KeptEpisodes:
        """The episodes with these numbers."""
        kept = KeptEpisodes()
        for number in numbers:
            kept.add(self.transitions[number], self.rewards[number], self.terminated[number])
        return kept

    def columns(self) -> tuple[Longs, Ints, Floats, Bools]:
        """Offsets, transitions, rewards and endings of all episodes."""
        offsets = np.cumsum([0, *map(len, self.transitions)], dtype=np.int64)
        if not len(self):
            return offsets, np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.bool_)
        ends = np.array(self.terminated, np.bool_)
        return offsets, np.concatenate(self.transitions), np.concatenate(self.rewards), ends

    def traces(self, codec: StepCodec) -> Traces:
        """The episodes as traces; states and actions are numbered by first use, as reading them from a file would."""
        offsets, transitions, rewards, ended = self.columns()
        source, action, target = (np.array(c, np.int32) for c in (codec.shown_source, codec.action, codec.shown_target))
        where = np.arange(len(transitions)) + np.repeat(np.arange(1, len(self) + 1), np.diff(offsets))
        states = np.zeros(len(transitions) + len(self), np.int32)
        states[where] = target[transitions]
        states[offsets[:-1] + np.arange(len(self))] = source[transitions[offsets[:-1]]]
        states, state_values = by_first_use(states, codec.shown.values)
        actions, action_values = by_first_use(action[transitions], codec.actions)
        return Traces(state_values, action_values, states, actions, rewards, offsets, ended, ~ended)
