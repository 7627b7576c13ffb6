"""The reward machine: states 0…K-1, triggers that move it, and the rewards it explains. Immutable and validated."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from markovize.episodes.brief import BriefRepr
from markovize.episodes.labelling import kind_names, labelling_named
from markovize.episodes.values import Value, canonical, key_of, show, sort_key
from markovize.errors import InputError, MachineError
from markovize.extras import load
from markovize.machine.delta import Delta
from markovize.machine.graph import topological_order
from markovize.machine.notebook import MOST_DRAWN
from markovize.machine.schema import FORMAT, VERSION, read_fields

MOST_STATES: Final = 1_000_000


@dataclass(frozen=True)
class Trigger(BriefRepr):
    """In state ``source``, a step labelled ``on`` moves the machine to ``target``.

    ``alternatives`` are labels that could replace ``on`` at no cost: the data cannot tell them apart.

    >>> Trigger(0, [1, 1.0], 1).on
    (1, 1)
    """

    source: int
    on: Value
    target: int
    alternatives: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", _frozen(self.on))
        object.__setattr__(self, "alternatives", tuple(_frozen(label) for label in self.alternatives))


@dataclass(frozen=True)
class Emission(BriefRepr):
    """Going from ``source`` to ``target`` by a step whose reward label is ``on`` pays ``reward``.

    >>> Emission(0, "office", 1, 1.0, terminal=True).reward
    1.0
    """

    source: int
    on: Value
    target: int
    reward: float
    terminal: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", _frozen(self.on))
        if self.reward == 0:  # -0.0 becomes 0.0: they are one number, and one text in every file
            object.__setattr__(self, "reward", abs(self.reward))


@dataclass(frozen=True)
class RewardMachine(BriefRepr):
    """A deterministic machine beside the environment: u' = δ(u, trigger label), reward a function of (u, label, u').

    >>> machine = RewardMachine("state", "state", 2, (Trigger(0, (1, 1), 1),), (Emission(1, (4, 4), 1, 1.0, True),))
    >>> machine.step(0, (1, 1)), machine.step(0, (2, 2)), machine.reward(1, (4, 4), 1)
    (1, 0, 1.0)
    >>> machine.acyclic
    True
    """

    trigger_on: str
    reward_on: str
    states: int
    triggers: tuple[Trigger, ...] = ()
    rewards: tuple[Emission, ...] = field(default=(), repr=False)
    initial: int = 0

    def __post_init__(self) -> None:
        for name in ("trigger_on", "reward_on"):
            if getattr(self, name) not in kind_names():
                raise MachineError(f'"{name}" must be one of {", ".join(kind_names())}, not {getattr(self, name)!r}')
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
        known: set[Hashable] = set()
        for emission in self.rewards:
            place_of = (emission.source, key_of(emission.on), emission.target)
            if self._has(emission.source) and self._has(emission.target) and place_of not in known:
                known.add(place_of)
                if math.isfinite(emission.reward):
                    continue
            self._refuse(emission)

    def step(self, state: int, label: Value) -> int:
        """The state after a step with this trigger label."""
        return self.delta.target(state, label)

    def reward(self, state: int, label: Value, target: int) -> float | None:
        """The reward of a step, or None where the data showed none."""
        emission = self._emissions.get((state, key_of(label), target))
        return None if emission is None else emission.reward

    def terminal(self, state: int, label: Value, target: int) -> bool:
        """Whether such a step is known to end the episode."""
        emission = self._emissions.get((state, key_of(label), target))
        return emission is not None and emission.terminal

    @cached_property
    def acyclic(self) -> bool:
        """Whether no state, once left, can be entered again."""
        return topological_order(self.states, [(t.source, t.target) for t in self.triggers]) is not None

    @cached_property
    def delta(self) -> Delta:
        """Which trigger fires at a step."""
        return Delta(self.states, self.triggers, labelling_named(self.trigger_on))

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
        trigger_on, reward_on = labelling_named(self.trigger_on), labelling_named(self.reward_on)
        return {
            "format": FORMAT,
            "version": VERSION,
            "trigger_on": self.trigger_on,
            "reward_on": self.reward_on,
            "states": self.states,
            "initial": self.initial,
            "triggers": [
                {
                    "from": t.source,
                    "on": trigger_on.to_json(t.on),
                    "to": t.target,
                    "alternatives": [trigger_on.to_json(label) for label in t.alternatives],
                }
                for t in self.triggers
            ],
            "rewards": [
                {
                    "from": e.source,
                    "on": reward_on.to_json(e.on),
                    "to": e.target,
                    "reward": e.reward,
                    "terminal": e.terminal,
                }
                for e in self.rewards
            ],
        }

    @classmethod
    def from_json(cls, data: object) -> RewardMachine:
        """Reads what :meth:`to_json` wrote, checking every field.

        >>> RewardMachine.from_json({"format": "something else"})
        Traceback (most recent call last):
        markovize.errors.MachineError: "format" must be "markovize.reward-machine", not 'something else'
        """
        fields = read_fields(data)
        triggers = tuple(Trigger(t.source, t.on, t.target, tuple(t.alternatives)) for t in fields.triggers)
        rewards = tuple(Emission(e.source, e.on, e.target, e.reward, e.terminal) for e in fields.rewards)
        return cls(fields.trigger_on, fields.reward_on, fields.states, triggers, rewards, fields.initial)


def sorted_triggers(triggers: Iterable[Trigger]) -> tuple[Trigger, ...]:
    """Triggers in the order in which files and reports list them."""
    return tuple(sorted(triggers, key=lambda t: (t.source, t.target, sort_key(t.on))))


def sorted_emissions(rewards: Iterable[Emission]) -> tuple[Emission, ...]:
    """Emissions in the order in which files list them."""
    return tuple(sorted(rewards, key=lambda e: (e.source, e.target, sort_key(e.on))))


def _frozen(label: object) -> Value:
    """The label as files hold it, so that lists and NumPy values find their triggers too."""
    try:
        return canonical(label)
    except InputError as error:
        raise MachineError(str(error)) from None


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
