"""The reward machine: states 0…K-1, triggers that move it, and the rewards it explains. Immutable and validated."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from markovize.episodes.brief import BriefRepr
from markovize.episodes.features.feature import Feature
from markovize.episodes.features.function import Features, feature_function
from markovize.episodes.features.guard import Guard
from markovize.episodes.labelling import Labelling, LabelOn, Step, kind_names, labelling_for, labelling_named
from markovize.episodes.labelling.guards import GUARDS, FeatureLabelling, ValuationLabelling
from markovize.episodes.values import On, Value, key_of, show
from markovize.errors import InputError, MachineError, one_line
from markovize.extras import load
from markovize.machine.delta import Delta
from markovize.machine.graph import topological_order
from markovize.machine.guard_checks import check_guards
from markovize.machine.notebook import MOST_DRAWN
from markovize.machine.parts import Emission, Share, Trigger, sorted_emissions, sorted_triggers
from markovize.machine.schema import read_fields, read_shares
from markovize.machine.written import machine_fields

__all__ = ["MOST_STATES", "Emission", "RewardMachine", "Trigger", "sorted_emissions", "sorted_triggers"]

MOST_STATES: Final = 1_000_000


@dataclass(frozen=True)
class RewardMachine(BriefRepr):
    """A deterministic machine beside the environment: u' = δ(u, trigger label), reward a function of (u, label, u').

    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1),), (Emission(1, (4, 4), 1, 1.0, True),))
    >>> machine.step(0, (1, 1)), machine.step(0, (2, 2)), machine.reward(1, (4, 4), 1)
    (1, 0, 1.0)
    >>> machine.acyclic
    True

    With ``trigger_on="guards"`` a trigger stands on a guard over the ``features``: of several that hold the first
    fires. A reward's label says which of the ``reward_guards`` hold.


    >>> from markovize.episodes.features import Literal
    >>> coffee, office = (Guard([Literal("here", "is", name)]) for name in ("coffee", "office"))
    >>> machine = RewardMachine("guards", "guards", 2, (Trigger(0, coffee, 1),), (Emission(1, [True], 1, 1.0, True),),
    ...     features=(Feature("here", "categorical"),), reward_guards=(office,))
    >>> machine.step(0, ("coffee",)), machine.step(0, ("office",)), machine.reward(1, (True,), 1)
    (1, 0, 1.0)
    """

    trigger_on: str
    reward_on: str
    states: int
    triggers: tuple[Trigger, ...] = ()
    rewards: tuple[Emission, ...] = field(default=(), repr=False)
    initial: int = 0
    features: tuple[Feature, ...] = field(default=(), repr=False)
    reward_guards: tuple[Guard, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        kinds = (*kind_names(), GUARDS)
        for name in ("trigger_on", "reward_on"):
            if getattr(self, name) not in kinds:
                raise MachineError(f'"{name}" must be one of {", ".join(kinds)}, not {getattr(self, name)!r}')
        if not _is_int(self.states) or self.states < 1:
            raise MachineError(f'"states" must be a whole number of at least 1, not {self.states!r}')
        if self.states > MOST_STATES:
            raise MachineError(f'"states" is {self.states}; more than {MOST_STATES:,} are not supported')
        self._check_state(self.initial, '"initial"')
        seen: set[Hashable] = set()
        for number, trigger in enumerate(self.triggers):
            place = f'"triggers"[{number}]'
            self._check_state(trigger.source, place)
            self._check_state(trigger.target, place)
            if trigger.source == trigger.target:
                raise MachineError(f"{place} is a self-loop; leave it out, staying is the default")
            key = (trigger.source, key_of(trigger.on))
            if key in seen:
                raise MachineError(f"{place}: state {trigger.source} has two triggers on {show(trigger.on)}")
            seen.add(key)
        check_guards(self)
        known: set[Hashable] = set()
        for emission in self.rewards:
            place_of = (emission.source, key_of(emission.on), emission.target)
            if self._has(emission.source) and self._has(emission.target) and place_of not in known:
                known.add(place_of)
                if math.isfinite(emission.reward) and 0 <= emission.spread < math.inf and emission.count >= 0:
                    continue
            self._refuse(emission)

    def step(self, state: int, label: Value) -> int:
        """The state after a step with this trigger label."""
        return self.delta.target(state, label)

    def reward(self, state: int, label: On, target: int) -> float | None:
        """The reward of a step, or None where the data showed none."""
        emission = self.emission(state, label, target)
        return None if emission is None else emission.reward

    def terminal(self, state: int, label: On, target: int) -> bool:
        """Whether such a step is known to end the episode."""
        emission = self.emission(state, label, target)
        return emission is not None and emission.terminal

    def distribution(self, state: int, label: On, target: int) -> tuple[Share, ...]:
        """The distribution of the reward of a step where rewards are random; empty where the data showed none."""
        emission = self.emission(state, label, target)
        return () if emission is None else emission.distribution

    @cached_property
    def is_random(self) -> bool:
        """Whether its rewards are means of distributions."""
        return any(emission.distribution for emission in self.rewards)

    def emission(self, state: int, label: On, target: int) -> Emission | None:
        """What the data showed of such steps, if anything."""
        return self._emissions.get((state, key_of(label), target))

    def pays(self, steps: Iterable[Step], trigger_on: Labelling, reward_on: Labelling) -> float | None:
        """What the last of some steps from the beginning pays, or None where the data showed no such step.

        >>> machine = RewardMachine("state", "state", 2, (Trigger(0, "key", 1),), (Emission(1, "door", 1, 1.0),))
        >>> entering = machine.trigger_labels
        >>> machine.pays([("hall", "go", "key"), ("key", "go", "door")], entering, entering)
        1.0
        """
        state, paid = self.initial, None
        for step in steps:
            target = self.step(state, trigger_on.label(step))
            paid, state = self.reward(state, reward_on.label(step), target), target
        return paid

    @cached_property
    def acyclic(self) -> bool:
        """Whether no state, once left, can be entered again."""
        return topological_order(self.states, [(t.source, t.target) for t in self.triggers]) is not None

    @cached_property
    def delta(self) -> Delta:
        """Which trigger fires at a step."""
        return Delta(self.states, self.triggers, self.trigger_labels)

    # --- what labels its steps -----------------------------------------------------------------------------------

    @property
    def has_guards(self) -> bool:
        """Whether its triggers are guards over features."""
        return self.trigger_on == GUARDS

    @cached_property
    def trigger_labels(self) -> Labelling:
        """How the labels of triggers are compared, said and stored; see :meth:`trigger_labelling` for steps."""
        return FeatureLabelling(self.features) if self.has_guards else labelling_named(self.trigger_on)

    @cached_property
    def reward_labels(self) -> Labelling:
        """The same for the labels of rewards."""
        if self.reward_on == GUARDS:
            return ValuationLabelling(self.features, self.reward_guards)
        return labelling_named(self.reward_on)

    def trigger_labelling(self, given: LabelOn | None = None, features: Features | None = None) -> Labelling:
        """What labels steps for the triggers: ``given`` is the user's function of a machine on such labels,
        ``features`` the function that features of a machine with guards come from.
        """
        return self._labelling(self.trigger_labels, given, "trigger_on", features)

    def reward_labelling(self, given: LabelOn | None = None, features: Features | None = None) -> Labelling:
        """The same for the rewards."""
        return self._labelling(self.reward_labels, given, "reward_on", features)

    def _labelling(self, own: Labelling, given: LabelOn | None, option: str, features: Features | None) -> Labelling:
        if features is not None and not self.has_guards:
            raise InputError("features= is for machines with guards, and this machine has none")
        if not isinstance(own, (FeatureLabelling, ValuationLabelling)):
            return labelling_for(own.kind, given, option)
        if given is None or given == GUARDS:
            return replace(own, function=feature_function(features))
        if type(given) is type(own):
            return given
        raise InputError(f"the machine's {option} is 'guards'; it cannot be run with {one_line(repr(given), 60)}")

    @cached_property
    def _emissions(self) -> dict[Hashable, Emission]:
        return {(e.source, key_of(e.on), e.target): e for e in self.rewards}

    def _refuse(self, emission: Emission) -> None:
        """Says what is wrong with one of the rewards."""
        number = next(n for n, other in enumerate(self.rewards) if other is emission)
        place = f'"rewards"[{number}]'
        self._check_state(emission.source, place)
        self._check_state(emission.target, place)
        if not math.isfinite(emission.reward):
            raise MachineError(f"{place}: the reward must be finite, not {emission.reward}")
        if not 0 <= emission.spread < math.inf:
            raise MachineError(f"{place}: the spread must be a number of at least 0, not {emission.spread}")
        if emission.count < 0:
            raise MachineError(f"{place}: the count must be at least 0, not {emission.count}")
        where = f"({emission.source}, {show(emission.on)}, {emission.target})"
        raise MachineError(f"{place}: {where} appears twice")

    def _has(self, state: int) -> bool:
        return _is_int(state) and 0 <= state < self.states

    def _check_state(self, state: int, place: str) -> None:
        if not self._has(state):
            raise MachineError(f"{place}: state {state!r} is not one of 0…{self.states - 1}")

    def _repr_svg_(self) -> str | None:
        """The picture that notebooks show; none of a machine too large to be read, which shows as text."""
        if self.states > MOST_DRAWN or len(self.triggers) > 2 * MOST_DRAWN:
            return None
        # pictures are a room above this one; a notebook asks for one, and only then it is loaded
        pictures = load("markovize.pictures.machine", "drawing", "core")
        return str(pictures.picture(self, "svg").decode())

    def to_json(self) -> dict[str, Any]:
        """The machine as the JSON file holds it."""
        return machine_fields(self)

    @classmethod
    def from_json(cls, data: object) -> RewardMachine:
        """Reads what :meth:`to_json` wrote, checking every field.

        >>> RewardMachine.from_json({"format": "something else"})
        Traceback (most recent call last):
        markovize.errors.MachineError: "format" must be "markovize.reward-machine", not 'something else'
        """
        fields = read_fields(data)
        triggers = tuple(Trigger(t.source, t.on, t.target, tuple(t.alternatives)) for t in fields.triggers)
        rewards = tuple(
            Emission(e.source, e.on, e.target, e.reward, e.terminal, e.spread, e.count, read_shares(e.distribution))
            for e in fields.rewards
        )
        return cls(
            fields.trigger_on,
            fields.reward_on,
            fields.states,
            triggers,
            rewards,
            fields.initial,
            fields.features,
            fields.reward_guards,
        )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
