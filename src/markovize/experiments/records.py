"""What a report needs to know about a finished trial, as values that files can hold.

A :class:`TrialRecord` is the same whenever a trial is repeated; what a clock says is kept apart, in
:class:`TrialTimings`. Files are read by hand; :mod:`~markovize.experiments.json_fields` says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from markovize.errors import InputError
from markovize.experiments.json_fields import check_fields, names_of, read_list, read_numbers, read_optional
from markovize.experiments.record_parts import Curve, PlayedEpisode
from markovize.machine.machine import RewardMachine
from markovize.machine.matching import Match, match
from markovize.pictures.world.plan import GridView


@dataclass(frozen=True)
class TrialRecord:
    """One finished trial: what was asked for, what came out, how it went, and one greedy episode.

    ``waited`` episodes were played before the ``reported`` ones. ``episodes_to_optimal`` and ``episodes_to_machine``
    count all of them: until the greedy policy was optimal and stayed so, and until the last machine was found, if that
    is the true one (see :mod:`~markovize.machine.matching`). ``key`` stands for the full configuration. ``extra``
    has more numbers by name, where a kind of task has any.
    """

    experiment: str
    task: str
    variant: str
    seed: int
    env_id: str
    env_args: Mapping[str, Any]
    settings: Mapping[str, Any] = field(repr=False)
    key: str
    status: str
    episodes: int
    waited: int
    reported: int
    states: int
    triggers: int
    exemplars: int
    final_return: float
    optimal_return: float | None
    episodes_to_optimal: int | None
    episodes_to_machine: int | None
    machine: RewardMachine = field(repr=False)
    true_machine: RewardMachine | None = field(repr=False)
    curve: Curve = field(repr=False)
    episode: PlayedEpisode = field(repr=False)
    view: GridView | None = field(repr=False)
    extra: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def optimal(self) -> bool | None:
        """Whether the last policy earns what is possible; None where that is unknown."""
        return None if self.optimal_return is None else self.final_return >= self.optimal_return - 1e-9

    def match(self) -> Match | None:
        """The learned machine beside the true one; None where that is unknown."""
        if self.true_machine is None:
            return None
        return match(self.machine, self.true_machine, [[step.label for step in self.episode.steps]])

    def to_json(self) -> dict[str, Any]:
        """The record as a file holds it: the same in every repetition."""
        out = {name: getattr(self, name) for name in names_of(TrialRecord)}
        for name in ("machine", "true_machine", "curve", "episode", "view"):
            out[name] = None if out[name] is None else out[name].to_json()
        return out | {"env_args": dict(self.env_args), "settings": dict(self.settings), "extra": dict(self.extra)}

    @classmethod
    def from_json(cls, data: Any) -> TrialRecord:
        """Reads what :meth:`to_json` wrote; anything else is refused.

        >>> TrialRecord.from_json({"task": "e", "colour": "red"})
        Traceback (most recent call last):
        markovize.errors.InputError: a trial's record has no field "colour"; it was written by another version: \
run the trial again
        """
        given = check_fields(cls, data, "a trial's record")
        for name, kind in _KINDS.items():
            if not isinstance(given[name], kind) or isinstance(given[name], bool):
                raise InputError(f'field "{name}" must not be {given[name]!r}; run the trial again')
        return cls(
            **given
            | {
                "extra": read_numbers(given.get("extra", {})),
                "machine": RewardMachine.from_json(given["machine"]),
                "true_machine": read_optional(RewardMachine.from_json, given["true_machine"]),
                "curve": Curve.from_json(given["curve"]),
                "episode": PlayedEpisode.from_json(given["episode"]),
                "view": read_optional(GridView.from_json, given["view"]),
            }
        )


_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "experiment": str,
    "task": str,
    "variant": str,
    "env_id": str,
    "key": str,
    "status": str,
    "seed": int,
    "episodes": int,
    "waited": int,
    "reported": int,
    "states": int,
    "triggers": int,
    "exemplars": int,
    "final_return": (int, float),
    "optimal_return": (int, float, type(None)),
    "episodes_to_optimal": (int, type(None)),
    "episodes_to_machine": (int, type(None)),
    "env_args": dict,
    "settings": dict,
}


@dataclass(frozen=True)
class TrialTimings:
    """What the clock said: all in all, in the solver, and in the solver up to each point of the curve.

    ``extra`` has the seconds of other things by name, where a kind of task has any.

    >>> TrialTimings.from_json(TrialTimings(2.0, 0.5, (0.0, 0.5)).to_json())
    TrialTimings(seconds=2.0, solve_seconds=0.5, curve=(0.0, 0.5))
    """

    seconds: float
    solve_seconds: float
    curve: tuple[float, ...]
    extra: Mapping[str, float] = field(default_factory=dict, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The timings as a file holds them."""
        return {
            "seconds": self.seconds,
            "solve_seconds": self.solve_seconds,
            "curve": list(self.curve),
            "extra": dict(self.extra),
        }

    @classmethod
    def from_json(cls, data: Any) -> TrialTimings:
        """Reads what :meth:`to_json` wrote; anything else is refused."""
        given = check_fields(cls, data, "a trial's timings")
        curve = tuple(read_list(given["curve"], "curve"))
        return cls(given["seconds"], given["solve_seconds"], curve, read_numbers(given.get("extra", {})))


Finished: TypeAlias = tuple[TrialRecord, TrialTimings]
