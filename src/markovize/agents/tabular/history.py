"""What has happened in a run so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from markovize.episodes.traces import Floats, Ints

MOVING = 100  # episodes of the moving return


@dataclass
class History:
    """The return and the length of every episode, notes for the user, and the seconds that it took."""

    returns: list[Floats] = field(default_factory=list)
    lengths: list[Ints] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    optimum: float | None = None  # what an optimal policy earns, where that is known
    optimal_since: int | None = None  # the episode since which the greedy policy has been optimal

    def add(self, returns: Floats, lengths: Ints) -> None:
        """Some more episodes."""
        self.returns.append(returns)
        self.lengths.append(lengths)

    @property
    def moving_return(self) -> float:
        """The mean return of the last episodes."""
        recent = join(self.returns[-MOVING:], np.float64)[-MOVING:]
        return float(recent.mean()) if len(recent) else 0.0

    def note_greedy_return(self, episode: int, greedy_return: float) -> None:
        """Takes note of what the greedy policy earns now."""
        if self.optimum is None or greedy_return < self.optimum - 1e-9:
            self.optimal_since = None
        elif self.optimal_since is None:
            self.optimal_since = episode


def join(parts: Iterable[npt.NDArray[Any]], kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """One array of many; none of none."""
    return np.concatenate([np.zeros(0, kind), *parts])
