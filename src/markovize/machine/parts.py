"""What a reward machine consists of: triggers, which move it, and emissions, which say what a step pays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, inf, log10, sqrt

from markovize.episodes.brief import BriefRepr
from markovize.episodes.features.guard import Guard
from markovize.episodes.values import On, Value, canonical, sort_key
from markovize.errors import InputError, MachineError


@dataclass(frozen=True)
class Trigger(BriefRepr):
    """In state ``source``, a step labelled ``on`` moves the machine to ``target``.

    In machines with guards it fires at steps where its guard, ``on``, holds, if no earlier trigger of ``source`` does.
    ``alternatives`` are labels that could replace ``on`` at no cost: the data cannot tell them apart.

    >>> Trigger(0, [1, 1.0], 1).on
    (1, 1)
    """

    source: int
    on: On
    target: int
    alternatives: tuple[On, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", _label_or_guard(self.on))
        object.__setattr__(self, "alternatives", tuple(_label_or_guard(label) for label in self.alternatives))


@dataclass(frozen=True)
class Share:
    """So many steps paid this reward or, where ``high`` is more than ``low``, one of a group of rewards.

    >>> Share(1.0, 1.0, 8).to_json(), Share(0.5, 0.75, 3).to_json()
    ({'reward': 1.0, 'count': 8}, {'from': 0.5, 'to': 0.75, 'count': 3})
    """

    low: float
    high: float
    count: int

    def __post_init__(self) -> None:
        if not (-inf < self.low <= self.high < inf and self.count >= 0):
            raise MachineError(f"a share of a distribution has finite rewards and a count, not {self.to_json()}")

    def to_json(self) -> dict[str, float | int]:
        """As machine files hold it."""
        if self.low == self.high:
            return {"reward": self.low, "count": self.count}
        return {"from": self.low, "to": self.high, "count": self.count}


@dataclass(frozen=True)
class Emission(BriefRepr):
    """Going from ``source`` to ``target`` by a step whose reward label is ``on`` pays ``reward``.

    Where rewards are noisy it is a level: ``count`` steps paid it, give or take the ``spread``. Where
    they are random by nature, it is the mean, and there is a ``distribution``.

    >>> Emission(0, "office", 1, 1.0, terminal=True).reward
    1.0
    """

    source: int
    on: Value
    target: int
    reward: float
    terminal: bool = False
    spread: float = 0.0
    count: int = 0
    distribution: tuple[Share, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", _frozen(self.on))
        object.__setattr__(self, "distribution", tuple(self.distribution))
        if self.reward == 0:  # -0.0 becomes 0.0: they are one number, and one text in every file
            object.__setattr__(self, "reward", abs(self.reward))

    @property
    def level(self) -> float:
        """The reward, rounded to what the noise permits: to the spread or, where it is a mean, to its standard error.

        >>> Emission(0, "office", 1, 1.0136, spread=0.1, count=9).level
        1.0
        >>> Emission(0, "office", 1, 0.8289, distribution=(Share(0.0, 0.0, 13), Share(1.0, 1.0, 63))).level
        0.83
        """
        wide = self.spread
        if self.distribution:
            count = max(1, sum(share.count for share in self.distribution))
            off = ((share.low + share.high) / 2 - self.reward for share in self.distribution)
            squares = sum(share.count * far**2 for share, far in zip(self.distribution, off, strict=True))
            wide = sqrt(squares) / count
        return round(self.reward, -floor(log10(wide))) + 0.0 if wide > 0 else self.reward


def sorted_triggers(triggers: Iterable[Trigger]) -> tuple[Trigger, ...]:
    """Triggers in the order in which files and reports list them; of guards the first that holds fires, so they stay.

    >>> [trigger.on for trigger in sorted_triggers([Trigger(1, "a", 0), Trigger(0, "c", 1), Trigger(0, "b", 1)])]
    ['b', 'c', 'a']
    """
    listed = tuple(triggers)
    if any(isinstance(trigger.on, Guard) for trigger in listed):
        return tuple(sorted(listed, key=lambda t: t.source))
    return tuple(sorted(listed, key=lambda t: (t.source, t.target, sort_key(t.on))))


def sorted_emissions(rewards: Iterable[Emission]) -> tuple[Emission, ...]:
    """Emissions in the order in which files list them."""
    return tuple(sorted(rewards, key=lambda e: (e.source, e.target, sort_key(e.on))))


def _label_or_guard(on: object) -> On:
    return on if isinstance(on, Guard) else _frozen(on)


def _frozen(label: object) -> Value:
    """The label as files hold it, so that lists and NumPy values find their triggers too."""
    try:
        return canonical(label)
    except InputError as error:
        raise MachineError(str(error)) from None
