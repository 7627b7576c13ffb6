"""What an active training tells on the way, and what it leaves behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markovize.agents.tabular.results import RunNoise, RunProgress, Solve
from markovize.episodes.brief import BriefRepr
from markovize.episodes.features import FeatureFunction
from markovize.episodes.traces import Floats, Ints, Traces
from markovize.integrations.sb3.active.settings import TrainingSettings
from markovize.machine.machine import RewardMachine

if TYPE_CHECKING:
    import gymnasium as gym
    from stable_baselines3.common.base_class import BaseAlgorithm


@dataclass(frozen=True)
class TrainingProgress(RunProgress):
    """Where a training is: as :class:`markovize.agents.tabular.RunProgress`, and how many ``steps`` it has taken."""

    steps: int = 0


@dataclass(frozen=True)
class TrainingResult(BriefRepr):
    """The machine, the model on S×U, and how the training went.

    ``status`` is that of the last search that found a machine; ``no conflict`` if none was ever needed. Returns are
    undiscounted. ``greedy_return`` is the mean over the evaluation episodes, ``greedy_interval`` where it lies with
    95 % confidence, and ``succeeded`` the share of them that earned more than nothing. ``conflicts`` are episodes since
    the last machine that it does not explain.
    """

    settings: TrainingSettings
    machine: RewardMachine
    status: str
    steps: int
    episodes: int
    exemplars: int
    conflicts: int
    solve_seconds: float
    seconds: float
    greedy_return: float
    succeeded: float
    returns: Floats = field(repr=False)
    lengths: Ints = field(repr=False)
    ends: Ints = field(repr=False)  # the training step at which each episode ended; 0 while exploring
    solves: tuple[Solve, ...] = field(repr=False)
    kept: Traces = field(repr=False)
    model: BaseAlgorithm | None = field(repr=False)
    features: FeatureFunction | None = field(repr=False)
    wrap: Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]] = field(repr=False)  # as the model sees an environment
    notes: tuple[str, ...] = ()
    greedy_interval: tuple[float, float] | None = None
    stopped: str = ""
    noise: RunNoise | None = None  # where a tolerance or outliers were asked for
    optimal_return: float | None = None  # not known outside the worlds of this package
    episodes_to_optimal: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The result as ``markovize run --json`` prints it."""
        numbers: dict[str, Any] = {
            "agent": self.settings.agent,
            "steps": self.steps,
            "episodes": self.episodes,
            "states": self.machine.states,
            "triggers": len(self.machine.triggers),
            "guards": len(self.machine.triggers) + len(self.machine.reward_guards),
            "exemplars": self.exemplars,
            "conflicts": self.conflicts,
            "solve_seconds": round(self.solve_seconds, 6),
            "seconds": round(self.seconds, 6),
            "greedy_return": None if math.isnan(self.greedy_return) else self.greedy_return,
            "succeeded": None if math.isnan(self.succeeded) else self.succeeded,
            "status": self.status,
            "trigger_on": self.machine.trigger_on,
            "reward_on": self.machine.reward_on,
        }
        if self.greedy_interval is not None:
            numbers["greedy_interval"] = list(self.greedy_interval)
        if self.noise is not None:
            numbers["noise"] = self.noise.to_json()
        return numbers | ({"stopped": self.stopped} if self.stopped else {})
