"""The levels of a machine that was learned with a tolerance: what it pays, and which of these the data tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from markovize.machine.machine import RewardMachine


@dataclass(frozen=True)
class Level:
    """What some (u, reward label, u') pay: all of it within ``spread`` of ``reward``.

    >>> str(Level(1.1, 0.2, 40)), str(Level(0.0, 0.0, 9))
    ('1.1 ± 0.2', '0')
    """

    reward: float
    spread: float
    count: int

    def __str__(self) -> str:
        return f"{self.reward:.3g}" + (f" ± {self.spread:.2g}" if self.spread else "")

    def overlaps(self, other: Level) -> bool:
        """Whether some reward could belong to both."""
        return abs(self.reward - other.reward) <= self.spread + other.spread

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def levels_of(machine: RewardMachine, tolerance: float) -> tuple[Level, ...]:
    """The fewest levels that all rewards of the machine have, ascending.

    Rewards of one level differ by at most twice the tolerance. Two levels may overlap all the same: then only their
    extremes tell them apart.

    >>> from markovize.machine.machine import Emission
    >>> pays = [Emission(0, "x", 0, 0.0), Emission(1, "x", 1, 1.0, spread=0.2, count=9)]
    >>> pays += [Emission(2, "x", 2, 1.1, spread=0.2, count=7), Emission(3, "y", 3, 1.02, spread=0.1, count=3)]
    >>> machine = RewardMachine("state", "state", 4, rewards=tuple(pays))
    >>> [str(level) for level in levels_of(machine, 0.2)], [level.count for level in levels_of(machine, 0.2)]
    (['0', '1 ± 0.2', '1.1 ± 0.2'], [1, 9, 10])
    """
    windows = sorted((e.reward - e.spread, e.reward + e.spread, e.count or 1) for e in machine.rewards)
    found: list[tuple[float, float, int]] = []
    for low, high, count in windows:
        if found and high - found[-1][0] <= 2 * tolerance + 1e-12:
            first, last, many = found[-1]
            found[-1] = first, max(last, high), many + count
        else:
            found.append((low, high, count))
    return tuple(Level((low + high) / 2, (high - low) / 2, count) for low, high, count in found)


def describe_levels(levels: Sequence[Level]) -> str:
    """In one line, the levels and what can be said of them.

    >>> describe_levels([Level(0.0, 0.0, 90), Level(1.0, 0.2, 12), Level(1.1, 0.2, 7)])
    'rewards have 3 levels: 0, 1 ± 0.2, 1.1 ± 0.2; 1 ± 0.2 and 1.1 ± 0.2 overlap, so that only their extremes tell'
    """
    told = ", ".join(map(str, levels))
    text = f"rewards have {len(levels)} level{'' if len(levels) == 1 else 's'}: {told}"
    close = [(one, other) for one, other in pairwise(levels) if one.overlaps(other)]
    pairs = ", ".join(f"{one} and {other}" for one, other in close)
    return f"{text}; {pairs} overlap, so that only their extremes tell" if close else text
