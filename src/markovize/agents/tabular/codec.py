"""Numbers for what a run meets: the only place where they get their meaning."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from markovize.episodes.labelling import LabelOn, Step, labelling_of
from markovize.episodes.traces import Ints
from markovize.episodes.values import Interner, Value, key_of
from markovize.machine.machine import RewardMachine
from markovize.worlds import World


class StepLabels:
    """The labels of all transitions under one labelling: ``ids`` by the transition's number."""

    def __init__(self, on: LabelOn, observations: Interner) -> None:
        self.on, self.labelling = on, labelling_of(on)
        self.numbers = self.labelling.interner(observations)
        self.ids: list[int] = []

    def add(self, step: Step) -> None:
        """The next transition."""
        self.ids.append(self.numbers.id(self.labelling.label(step)))


class StepCodec:
    """Numbers for states, actions and transitions (s, a, s'), and both labels of each transition.

    >>> codec = StepCodec([10, 20], ["go"])
    >>> codec.transition(0, 0, 1), codec.transition(0, 0, 1), codec.transition(1, 0, 1)
    (0, 0, 1)
    >>> codec.relabel("state", "transition")
    >>> codec.triggers.ids, codec.rewards.ids
    ([1, 1], [0, 1])

    Where steps are ``labelled`` by who steps, since states do not tell all of an observation, episodes are kept as
    (state,), then (state, label, …) for the state that each step led to and the step's labels.
    """

    def __init__(self, observations: Iterable[Value], actions: Sequence[Value], *, labelled: bool = False) -> None:
        self.observations = Interner(observations, objects=True)  # the states of tables
        self.actions = list(actions)
        self.source: list[int] = []
        self.action: list[int] = []
        self.target: list[int] = []
        self.labels: list[tuple[Value, ...]] = []
        self.labelled = labelled
        self.shown = Interner() if labelled else self.observations  # what kept episodes are made of
        self.shown_source: list[int] = [] if labelled else self.source
        self.shown_target: list[int] = [] if labelled else self.target
        self.relabel("state", "state")
        self._known: dict[Hashable, int] = {}

    @classmethod
    def of(cls, world: World) -> StepCodec:
        """All transitions of a world, the one by action a in state s numbered s·A + a."""
        codec = cls(world.observations, world.actions)
        for (s, a), t in np.ndenumerate(world.successor):
            codec.transition(s, a, int(t))
        return codec

    def __len__(self) -> int:
        return len(self.source)

    def transition(self, s: int, a: int, t: int, labels: tuple[Value, ...] = ()) -> int:
        """The number of a transition, new or not."""
        key = (s, a, t) if not labels else (s, a, t, key_of(labels))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.source)
            self.source.append(s)
            self.action.append(a)
            self.target.append(t)
            if self.labelled:
                self.labels.append(labels)
                states = self.observations.values
                self.shown_source.append(self.shown.id((states[s],)))
                self.shown_target.append(self.shown.id((states[t], *labels)))
            self._label(found)
        return found

    def relabel(self, trigger_on: LabelOn, reward_on: LabelOn) -> None:
        """Calls all transitions, those seen and those to come, by other labels."""
        self.triggers = StepLabels(trigger_on, self.observations)
        self.rewards = StepLabels(reward_on, self.observations)
        for number in range(len(self.source)):
            self._label(number)

    def _label(self, number: int) -> None:
        step = self.values(number)
        self.triggers.add(step)
        self.rewards.add(step)

    @property
    def labelled_by(self) -> tuple[LabelOn, LabelOn]:
        """What triggers and rewards are labelled by."""
        return self.triggers.on, self.rewards.on

    def values(self, number: int) -> Step:
        """(s, a, s') of a transition, as in kept episodes."""
        names, action = self.shown.values, self.actions[self.action[number]]
        return names[self.shown_source[number]], action, names[self.shown_target[number]]

    def delta(self, machine: RewardMachine, columns: int = 1) -> Ints:
        """δ as a table with a row for each state and a column for each trigger label, at least ``columns``."""
        return machine.delta.table(self.triggers.numbers, columns=columns)
