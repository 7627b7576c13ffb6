"""What was compared where rewards are random: machines of growing size, and how much speaks for each."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log10
from typing import Any


@dataclass(frozen=True)
class Weighed:
    """The best machine of one size: its evidence against smaller ones, as a power of ten after the correction.

    >>> str(Weighed(2, 1, 34.61, True))
    '2 states, 1 trigger: 10^34.6 to 1 against all that is smaller'
    """

    states: int
    triggers: int
    evidence: float
    significant: bool

    def __str__(self) -> str:
        states, triggers = (
            f"{n} {what}{'' if n == 1 else 's'}" for n, what in ((self.states, "state"), (self.triggers, "trigger"))
        )
        return f"{states}, {triggers}: 10^{self.evidence:.1f} to 1 against all that is smaller"

    def to_json(self) -> dict[str, Any]:
        """As ``learn --json`` has it."""
        sizes = {"states": self.states, "triggers": self.triggers}
        return sizes | {"evidence": round(self.evidence, 2), "significant": self.significant}


@dataclass(frozen=True)
class Chance:
    """How a machine for random rewards was chosen.

    >>> Chance(0.01).needed, Chance(0.01).to_json()
    (2.0, {'alpha': 0.01, 'needed': 2.0, 'compared': []})
    """

    alpha: float
    compared: tuple[Weighed, ...] = ()
    stopped: bool = False  # by a limit, before all was compared

    @property
    def needed(self) -> float:
        """The evidence from which on a larger machine is taken, as a power of ten."""
        return -log10(self.alpha)

    @property
    def nats(self) -> float:
        """The same as a natural logarithm."""
        return -log(self.alpha)

    def to_json(self) -> dict[str, Any]:
        """As ``learn --json`` has it."""
        compared = [each.to_json() for each in self.compared]
        return {"alpha": self.alpha, "needed": round(self.needed, 2), "compared": compared}
