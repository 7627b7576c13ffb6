"""What a machine with guards must be: literals about features that it has, labels of rewards of one length."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from markovize.episodes.features.feature import Feature
from markovize.episodes.features.guard import Guard
from markovize.episodes.labelling.guards import GUARDS
from markovize.episodes.values import On, show
from markovize.errors import MachineError, one_line

if TYPE_CHECKING:
    from markovize.machine.machine import RewardMachine


def check_guards(machine: RewardMachine) -> None:
    """Raises :class:`MachineError`, naming the place, unless guards stand where they belong and make sense."""
    if machine.trigger_on != GUARDS:
        _check_without(machine)
        return
    _check_features(machine.features)
    for number, trigger in enumerate(machine.triggers):
        for on in (trigger.on, *trigger.alternatives):
            _check_guard(on, machine.features, f'"triggers"[{number}]')
    if machine.reward_on != GUARDS and machine.reward_guards:
        raise MachineError(f'"reward_guards" must be empty where "reward_on" is "{machine.reward_on}"')
    for number, guard in enumerate(machine.reward_guards):
        _check_guard(guard, machine.features, f'"reward_guards"[{number}]')
    if machine.reward_on == GUARDS:
        _check_valuations(machine)


def _check_without(machine: RewardMachine) -> None:
    if machine.reward_on == GUARDS:
        raise MachineError(f'"reward_on" is "guards" only where "trigger_on" is, not with "{machine.trigger_on}"')
    if machine.features or machine.reward_guards:
        raise MachineError(f'"features" and "reward_guards" are for "trigger_on": "guards", not "{machine.trigger_on}"')
    for number, trigger in enumerate(machine.triggers):
        if any(isinstance(on, Guard) for on in (trigger.on, *trigger.alternatives)):
            raise MachineError(
                f'"triggers"[{number}]: a guard needs "trigger_on": "guards", not "{machine.trigger_on}"'
            )


def _check_features(features: tuple[Feature, ...]) -> None:
    for number, feature in enumerate(features):
        if not isinstance(feature, Feature):
            raise MachineError(f'"features"[{number}] must be a feature, not {one_line(repr(feature), 40)}')
    twice = [name for name, count in Counter(feature.name for feature in features).items() if count > 1]
    if twice:
        raise MachineError(f'"features": there are two features called {one_line(twice[0], 60)}')


def _check_guard(on: On, features: tuple[Feature, ...], place: str) -> None:
    if not isinstance(on, Guard):
        raise MachineError(f"{place} must be a guard, not {one_line(show(on), 40)}")
    try:
        on.check_features(features)
    except MachineError as error:
        raise MachineError(f"{place}: {error}") from None


def _check_valuations(machine: RewardMachine) -> None:
    many = len(machine.reward_guards)
    for number, emission in enumerate(machine.rewards):
        on = emission.on
        if not isinstance(on, tuple) or len(on) != many or any(type(held) is not bool for held in on):
            shown = one_line(show(on), 40)
            raise MachineError(
                f'"rewards"[{number}]: "on" must be {many} booleans, one for each reward guard, not {shown}'
            )
