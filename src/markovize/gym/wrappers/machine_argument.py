"""The machine that a wrapper is given: in any form, and checked against the environment."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, TypeAlias

from markovize.episodes.features import kinds_of_action, kinds_of_space
from markovize.episodes.features.paths import BEFORE
from markovize.episodes.features.spaces import has_fixed_parts
from markovize.episodes.labelling import Labelling
from markovize.episodes.spaces import AnyEnv, AnySpace, check_space, fits, spaces_of
from markovize.episodes.values import On, key_of, show
from markovize.errors import InputError, MachineError, one_line
from markovize.io import read_machine
from markovize.machine.machine import RewardMachine

AnyMachine: TypeAlias = RewardMachine | str | os.PathLike[str] | Mapping[str, Any]


def load_machine(machine: AnyMachine) -> RewardMachine:
    """A machine as it is, from its file, or from what its JSON file holds.

    >>> load_machine(RewardMachine("state", "state", 2).to_json()).states
    2
    """
    if isinstance(machine, RewardMachine):
        return machine
    if isinstance(machine, Mapping):
        return RewardMachine.from_json(dict(machine))
    if isinstance(machine, (str, os.PathLike)):
        return read_machine(machine)
    raise InputError(f"a machine is a RewardMachine, a file or its JSON object, not {type(machine).__name__}")


def check_fits(machine: RewardMachine, env: AnyEnv, *, known_features: bool = True) -> None:
    """Raises unless the machine's labels, or features that no function adds, could come from this environment.

    >>> import gymnasium
    >>> from markovize.machine.machine import Trigger
    >>> check_fits(RewardMachine("state", "state", 2, (Trigger(0, 99, 1),)), gymnasium.make("FrozenLake-v1"))
    Traceback (most recent call last):
    markovize.errors.MachineError: this machine is not for this environment: the trigger 0 → 1 is on 99, which is no \
observation of Discrete(16)
    """
    observation_space, action_space = spaces_of(env)
    triggers, rewards = machine.trigger_labels, machine.reward_labels
    parts = {*triggers.parts, *rewards.parts}
    if parts:  # a user's functions may take any observation apart
        check_space(observation_space, "observation")
    if "action" in parts:
        check_space(action_space, "action")
    if machine.has_guards and known_features:
        _check_features(machine, observation_space, action_space)
    checked: set[Hashable] = set()
    for labelling, label, name in _labels(machine, triggers, rewards):
        key = (labelling.kind, key_of(label))
        if key not in checked:
            checked.add(key)
            problem = _misfit(labelling, label, observation_space, action_space)
            if problem:
                raise MachineError(f"this machine is not for this environment: {name} is on {show(label)}, {problem}")


def _check_features(machine: RewardMachine, observation_space: AnySpace, action_space: AnySpace) -> None:
    if not (has_fixed_parts(observation_space) and has_fixed_parts(action_space)):
        return
    observed = kinds_of_space(observation_space)
    known = {*observed, *(BEFORE + name for name in observed), *kinds_of_action(action_space)}
    if missing := [feature.name for feature in machine.features if feature.name not in known]:
        listed = one_line(", ".join([*observed, *kinds_of_action(action_space)]), 120)
        raise MachineError(
            f"this machine is not for this environment: it needs the feature {one_line(missing[0], 60)}, and there are "
            f"{listed}; if a function made it, give features="
        )


def _labels(machine: RewardMachine, triggers: Labelling, rewards: Labelling) -> Iterator[tuple[Labelling, On, str]]:
    """Every label of the machine, with the name of what it stands on."""
    for trigger in machine.triggers:
        yield triggers, trigger.on, f"the trigger {trigger.source} → {trigger.target}"
    for emission in machine.rewards:
        yield rewards, emission.on, f"the reward {emission.reward:g} in state {emission.source}"


def _misfit(labelling: Labelling, label: On, observation_space: AnySpace, action_space: AnySpace) -> str:
    """Why the label cannot come from these spaces; nothing if it can."""
    parts = labelling.split(label)
    if parts is None:
        return f"which is no {labelling.noun}"
    for part, value in parts.items():
        what, space = ("action", action_space) if part == "action" else ("observation", observation_space)
        if not fits(space, value):
            return f"{'which' if len(parts) == 1 else f'and {show(value)}'} is no {what} of {space}"
    return ""
