"""Parts of a trial's record: its curve, and one episode that was played at its end.

Files are read by hand; :mod:`~markovize.experiments.json_fields` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from markovize.episodes.traces import Floats
from markovize.episodes.values import Value, canonical, jsonable
from markovize.errors import InputError
from markovize.experiments.json_fields import check_fields, names_of, read_list

POINTS: Final = 200  # of a curve, and its first episode
WINDOW: Final = 100  # episodes in a mean return
DIGITS: Final = 9  # after the point; sums of tenths are not exact


@dataclass(frozen=True)
class Curve:
    """A trial at some 201 of its reported episodes, 1 to the last."""

    episode: tuple[int, ...]
    mean_return: tuple[float, ...]
    states: tuple[int, ...]
    exemplars: tuple[int, ...]
    triggers: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Columns of equal length."""
        return {name: list(getattr(self, name)) for name in names_of(Curve)}

    @classmethod
    def from_json(cls, data: Any) -> Curve:
        """Reads what :meth:`to_json` wrote."""
        columns = check_fields(cls, data, "a curve")
        if len({len(read_list(column, name)) for name, column in columns.items()}) > 1:
            raise InputError("the columns of a curve must have equal lengths; run the trial again")
        return cls(**{name: tuple(column) for name, column in columns.items()})


@dataclass(frozen=True)
class PlayedStep:
    """One step of an episode: what was done, and where it led.

    ``label`` is the trigger label of the step, ``fired`` the number of the trigger that moved the machine to ``state``,
    or None where it stayed.
    """

    action: str
    observation: Value
    reward: float
    state: int
    label: Value
    fired: int | None

    def to_json(self) -> dict[str, Any]:
        """Values as JSON has them."""
        return {name: jsonable(getattr(self, name)) for name in names_of(PlayedStep)}

    @classmethod
    def from_json(cls, data: Any) -> PlayedStep:
        """Reads what :meth:`to_json` wrote."""
        given = check_fields(cls, data, "a step")
        return cls(**given | {name: canonical(given[name]) for name in ("observation", "label")})


@dataclass(frozen=True)
class PlayedEpisode:
    """A greedy episode with the learned machine beside it; ``terminated`` is False if it was cut."""

    start: Value
    state: int
    steps: tuple[PlayedStep, ...]
    terminated: bool

    def to_json(self) -> dict[str, Any]:
        """Values as JSON has them."""
        return {
            "start": jsonable(self.start),
            "state": self.state,
            "terminated": self.terminated,
            "steps": [step.to_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: Any) -> PlayedEpisode:
        """Reads what :meth:`to_json` wrote."""
        given = check_fields(cls, data, "an episode")
        steps = tuple(PlayedStep.from_json(step) for step in read_list(given["steps"], "steps"))
        return cls(canonical(given["start"]), given["state"], steps, given["terminated"])


def curve_points(episodes: int) -> list[int]:
    """The episodes that a curve shows.

    >>> curve_points(4), len(curve_points(50_000))
    ([1, 2, 3, 4], 201)
    """
    return sorted({max(1, round(part * episodes / POINTS)) for part in range(POINTS + 1)})


def recent_mean(returns: Floats, episodes: int, window: int = WINDOW) -> float:
    """The mean return of the last of so many episodes.

    >>> recent_mean(np.array([0.0, 1.0, 2.0, 9.0]), 3, window=2)
    1.5
    """
    return round(float(np.mean(returns[max(0, episodes - window) : episodes])), DIGITS)
