"""What wrappers of single and of vector environments can be asked for, and the parts that follow from it."""

from __future__ import annotations

from typing import NamedTuple, TypedDict, Unpack

from markovize.episodes.features import Features
from markovize.episodes.labelling import LabelOn
from markovize.episodes.spaces import AnyEnv, AnySpace
from markovize.gym.wrappers.counterfactual import CounterfactualTable
from markovize.gym.wrappers.follower import BoundMachine, Unseen
from markovize.gym.wrappers.machine_argument import check_fits
from markovize.gym.wrappers.observer import Mode, Observer
from markovize.gym.wrappers.shaping import Potential
from markovize.machine.machine import RewardMachine


class LabelOptions(TypedDict, total=False):
    """What labels steps, and what happens where a label was never seen: for :class:`BoundMachine`."""

    unseen: Unseen
    trigger_on: LabelOn | None
    reward_on: LabelOn | None
    features: Features | None


class WrapperOptions(LabelOptions, total=False):
    """See :class:`markovize.gym.wrappers.MarkovRewardWrapper`."""

    mode: Mode
    shaping: float | None
    crm: bool


class WrapperParts(NamedTuple):
    """A machine made ready to run beside environments."""

    bound: BoundMachine
    potential: Potential | None
    observer: Observer
    table: CounterfactualTable | None


def prepare(
    env: AnyEnv,
    space: AnySpace,
    machine: RewardMachine,
    *,
    mode: Mode = "dict",
    shaping: float | None = None,
    crm: bool = False,
    **labels: Unpack[LabelOptions],
) -> WrapperParts:
    """Checks that the machine is one for the environment, whose single observations are of this space."""
    bound = BoundMachine(machine, **labels)
    check_fits(machine, env, known_features=labels.get("features") is None)
    potential = None if shaping is None else Potential.of(machine, shaping)
    return WrapperParts(bound, potential, Observer(space, machine, mode), CounterfactualTable(bound) if crm else None)
