"""Follows a reward machine along the steps of an environment: only (s, a, s') is looked at, never a reward."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Literal, NamedTuple, TypeAlias

from markovize.episodes.features import Features
from markovize.episodes.labelling import LabelOn, Step
from markovize.episodes.labelling.guards import ValuationLabelling
from markovize.episodes.values import Value, key_of, show
from markovize.errors import InputError
from markovize.machine.machine import RewardMachine

Unseen: TypeAlias = Literal["stay", "error"]
UNSEEN: Final = ("stay", "error")
MOST_REMEMBERED: Final = 100_000  # moves; where labels hardly ever repeat, remembering them all would fill the memory


class Move(NamedTuple):
    """What a step does to the machine: u', the trigger that fired or -1, and whether learning met such a label."""

    target: int
    trigger: int
    seen: bool


class BoundMachine:
    """A machine with what labels its steps. Shared by all that follow the same machine.

    A label is *unseen* if it occurs nowhere in the machine, neither as a trigger nor with a reward: then learning
    never met it. ``unseen`` says what to do: ``stay`` (and count it) or raise an ``error``.

    >>> from markovize.machine.machine import Emission, Trigger
    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, 3, 1),), (Emission(0, 3, 1, 0.0),))
    >>> BoundMachine(machine).move(0, ("s", "a", 3)), BoundMachine(machine).move(1, ("s", "a", 4))
    (Move(target=1, trigger=0, seen=True), Move(target=1, trigger=-1, seen=False))
    """

    def __init__(
        self,
        machine: RewardMachine,
        *,
        unseen: Unseen = "stay",
        trigger_on: LabelOn | None = None,
        reward_on: LabelOn | None = None,
        features: Features | None = None,
    ) -> None:
        if unseen not in UNSEEN:
            raise InputError(f"unseen is 'stay' or 'error', not {unseen!r}")
        self.machine = machine
        self._trigger_on = machine.trigger_labelling(trigger_on, features)
        self._reward_on = machine.reward_labelling(reward_on, features)
        self._one_label = self._trigger_on == self._reward_on
        self._valuations = self._reward_on if isinstance(self._reward_on, ValuationLabelling) else None
        self._strict = unseen == "error"
        self._trigger_labels = {key_of(label) for t in machine.triggers for label in (t.on, *t.alternatives)}
        self._reward_labels = {key_of(e.on) for e in machine.rewards}
        self._moves: dict[tuple[int, Hashable], Move] = {}

    def move(self, state: int, step: Step) -> Move:
        """What a step (s, a, s') does in this state."""
        label = self._trigger_on.label(step)
        key = state, key_of(label)
        move = self._moves.get(key)
        if move is None:
            if len(self._moves) >= MOST_REMEMBERED:
                self._moves.clear()
            move = self._moves[key] = self._look_up(state, label, key[1])
        if move.seen:
            return move
        if not self._one_label and key_of(self._reward_label(step, label)) in self._reward_labels:
            return move._replace(seen=True)
        if self._strict:
            s, a, t = (show(part) for part in step)
            raise InputError(
                f"the label {show(self._reward_label(step, label))} of the step ({s}, {a}, {t}) was never seen in "
                "learning; learn from more episodes, or wrap with unseen='stay'"
            )
        return move

    def labels(self, step: Step) -> tuple[Value, Value]:
        """The trigger label and the reward label of a step."""
        label = self._trigger_on.label(step)
        return label, self._reward_label(step, label)

    def _reward_label(self, step: Step, label: Value) -> Value:
        """The reward label of a step with this trigger label: a user's features are asked for once, not twice."""
        if self._valuations is None:
            return self._reward_on.label(step)
        assert isinstance(label, tuple)
        return self._valuations.valuation(label)

    def _look_up(self, state: int, label: Value, key: Hashable) -> Move:
        """What the trigger label alone tells."""
        fired = self.machine.delta.fired(state, label)
        if fired is not None:
            return Move(self.machine.triggers[fired].target, fired, True)
        # a machine without rewards says nothing about what learning met, so nothing counts as unseen
        seen = not self._reward_labels or key in self._trigger_labels
        return Move(state, -1, seen or (self._one_label and key in self._reward_labels))


class Follower:
    """The machine's state along one environment, episode after episode.

    >>> from markovize.machine.machine import Trigger
    >>> follower = Follower(BoundMachine(RewardMachine("state", "state", 2, (Trigger(0, 3, 1),))))
    >>> follower.begin(0)
    >>> follower.step("go", 3)
    >>> follower.before, follower.state, follower.info()
    (0, 1, {'rm_state': 1, 'rm_trigger': 0, 'rm_unseen': 0})
    """

    __slots__ = ("before", "bound", "ended", "fired", "observation", "started", "state", "trigger", "unseen")

    def __init__(self, bound: BoundMachine) -> None:
        self.bound = bound
        self.begin(0)
        self.started = False

    def begin(self, observation: Value) -> None:
        """A new episode starts with this observation."""
        self.observation = observation
        self.before = self.state = self.bound.machine.initial
        self.trigger = -1
        self.unseen = 0
        self.fired: set[int] = set()
        self.started, self.ended = True, False

    def step(self, action: Value, observation: Value) -> None:
        """The environment went on by this action to this observation."""
        move = self.bound.move(self.state, (self.observation, action, observation))
        self.before, self.state, self.observation = self.state, move.target, observation
        self.trigger = move.trigger
        if move.trigger >= 0:
            self.fired.add(move.trigger)
        if not move.seen:
            self.unseen += 1

    def info(self) -> dict[str, int]:
        """What ``info`` tells about the machine after each reset and step."""
        return {"rm_state": self.state, "rm_trigger": self.trigger, "rm_unseen": self.unseen}
