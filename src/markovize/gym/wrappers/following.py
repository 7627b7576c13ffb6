"""Follows a reward machine along the steps of an environment: only (s, a, s') is looked at, never a reward."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any, Final, Literal, TypeAlias

from markovize.episodes.labelling import LabelFunction, Labelling, labelling_for, labelling_named
from markovize.episodes.spaces import AnyEnv, AnySpace, check_space, fits, spaces_of
from markovize.episodes.values import Value, key_of, show
from markovize.errors import InputError, MachineError
from markovize.io import read_machine
from markovize.machine.machine import RewardMachine

AnyMachine: TypeAlias = RewardMachine | str | os.PathLike[str] | Mapping[str, Any]
Unseen: TypeAlias = Literal["stay", "error"]
UNSEEN: Final = ("stay", "error")


def machine_of(machine: AnyMachine) -> RewardMachine:
    """A machine as it is, from its file, or from what its JSON file holds.

    >>> machine_of(RewardMachine("state", "state", 2).to_json()).states
    2
    """
    if isinstance(machine, RewardMachine):
        return machine
    if isinstance(machine, Mapping):
        return RewardMachine.from_json(dict(machine))
    if isinstance(machine, (str, os.PathLike)):
        return read_machine(machine)
    raise InputError(f"a machine is a RewardMachine, a file or its JSON object, not {type(machine).__name__}")


class Rules:
    """A machine with its label functions: what each step does to it. Shared by all that follow the same machine.

    A label is *unseen* if it occurs nowhere in the machine, neither as a trigger nor with a reward: then learning
    never met it. ``unseen`` says what to do: ``stay`` (and count it) or raise an ``error``.

    >>> from markovize.machine.machine import Emission, Trigger
    >>> rules = Rules(RewardMachine("state", "state", 2, (Trigger(0, 3, 1),), (Emission(0, 3, 1, 0.0),)))
    >>> rules.step(0, "s", "a", 3), rules.step(1, "s", "a", 3), rules.step(1, "s", "a", 4)
    ((1, 0, True), (1, -1, True), (1, -1, False))
    """

    def __init__(
        self,
        machine: RewardMachine,
        *,
        unseen: Unseen = "stay",
        trigger_on: LabelFunction | None = None,
        reward_on: LabelFunction | None = None,
    ) -> None:
        if unseen not in UNSEEN:
            raise InputError(f"unseen is 'stay' or 'error', not {unseen!r}")
        self.machine = machine
        self.trigger_on = labelling_for(machine.trigger_on, trigger_on, "trigger_on")
        self.reward_on = labelling_for(machine.reward_on, reward_on, "reward_on")
        self._strict = unseen == "error"
        self._triggers = {key_of(label) for t in machine.triggers for label in (t.on, *t.alternatives)}
        # a machine without rewards says nothing about what learning met, so nothing counts as unseen
        self._rewards: set[Hashable] | None = {key_of(e.on) for e in machine.rewards} or None

    def step(self, state: int, s: Value, a: Value, t: Value) -> tuple[int, int, bool]:
        """(u', number of the trigger that fired or -1, whether learning met such a label) of a step (s, a, s')."""
        on = self.trigger_on.label((s, a, t))
        trigger = self.machine.delta.fired(state, on)
        if trigger is not None:
            return self.machine.triggers[trigger].target, trigger, True
        seen = self._rewards is None or key_of(on) in self._triggers
        if not seen:
            assert self._rewards is not None
            label = on if self.trigger_on == self.reward_on else self.reward_on.label((s, a, t))
            seen = key_of(label) in self._rewards
            if not seen and self._strict:
                raise InputError(
                    f"the label {show(label)} of the step ({show(s)}, {show(a)}, {show(t)}) was never seen in "
                    "learning; learn from more episodes, or wrap with unseen='stay'"
                )
        return state, -1, seen

    def labels(self, s: Value, a: Value, t: Value) -> tuple[Value, Value]:
        """The trigger label and the reward label of a step."""
        return self.trigger_on.label((s, a, t)), self.reward_on.label((s, a, t))


class Follower:
    """The machine's state along one environment, episode after episode.

    >>> from markovize.machine.machine import Trigger
    >>> follower = Follower(Rules(RewardMachine("state", "state", 2, (Trigger(0, 3, 1),))))
    >>> follower.begin(0)
    >>> follower.step("go", 3)
    >>> follower.before, follower.state, follower.info()
    (0, 1, {'rm_state': 1, 'rm_trigger': 0, 'rm_unseen': 0})
    """

    __slots__ = ("before", "ended", "fired", "observation", "rules", "started", "state", "trigger", "unseen")

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.started = False
        self.ended = False
        self.begin(0)
        self.started = False

    def begin(self, observation: Value) -> None:
        """A new episode starts with this observation."""
        self.observation = observation
        self.before = self.state = self.rules.machine.initial
        self.trigger = -1
        self.unseen = 0
        self.fired: set[int] = set()
        self.started, self.ended = True, False

    def step(self, action: Value, observation: Value) -> None:
        """The environment went on by this action to this observation."""
        target, self.trigger, seen = self.rules.step(self.state, self.observation, action, observation)
        self.before, self.state, self.observation = self.state, target, observation
        if self.trigger >= 0:
            self.fired.add(self.trigger)
        if not seen:
            self.unseen += 1

    def info(self) -> dict[str, Any]:
        """What ``info`` tells about the machine after each reset and step."""
        return {"rm_state": self.state, "rm_trigger": self.trigger, "rm_unseen": self.unseen}


def check_fits(machine: RewardMachine, env: AnyEnv) -> None:
    """Raises unless the machine's labels could come from this environment.

    >>> import gymnasium
    >>> from markovize.machine.machine import Trigger
    >>> check_fits(RewardMachine("state", "state", 2, (Trigger(0, 99, 1),)), gymnasium.make("FrozenLake-v1"))
    Traceback (most recent call last):
    markovize.errors.MachineError: this machine is not for this environment: the trigger 0 → 1 is on 99, which is no \
observation of Discrete(16)
    """
    observation_space, action_space = spaces_of(env)
    triggers, rewards = labelling_named(machine.trigger_on), labelling_named(machine.reward_on)
    parts = {*triggers.parts, *rewards.parts}
    if parts:  # a user's functions may take any observation apart
        check_space(observation_space, "observation")
    if "action" in parts:
        check_space(action_space, "action")
    labels = [(triggers, t.on, f"the trigger {t.source} → {t.target}") for t in machine.triggers]
    labels += [(rewards, e.on, f"the reward {e.reward:g} in state {e.source}") for e in machine.rewards]
    checked: set[Hashable] = set()
    for labelling, label, name in labels:
        key = (labelling.kind, key_of(label))
        if key not in checked:
            checked.add(key)
            problem = _misfit(labelling, label, observation_space, action_space)
            if problem:
                raise MachineError(f"this machine is not for this environment: {name} is on {show(label)}, {problem}")


def _misfit(labelling: Labelling, label: Value, observation_space: AnySpace, action_space: AnySpace) -> str:
    """Why the label cannot come from these spaces; nothing if it can."""
    parts = labelling.split(label)
    if parts is None:
        return f"which is no {labelling.noun}"
    for part, value in parts.items():
        what, space = ("action", action_space) if part == "action" else ("observation", observation_space)
        if not fits(space, value):
            return f"{'which' if len(parts) == 1 else f'and {show(value)}'} is no {what} of {space}"
    return ""
