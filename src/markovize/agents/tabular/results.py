"""What an active run tells while it runs, and what it leaves behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from markovize.agents.tabular.policy import Policy
from markovize.agents.tabular.settings import Settings
from markovize.episodes.brief import BriefRepr
from markovize.episodes.labelling import Labelling
from markovize.episodes.traces import Floats, Ints, Traces
from markovize.episodes.values import Interner, Value
from markovize.learning.all_machines import AllMachines
from markovize.learning.result import Outlier
from markovize.machine.describe import describe
from markovize.machine.levels import Level, describe_levels
from markovize.machine.machine import RewardMachine
from markovize.machine.notebook import card


@dataclass(frozen=True)
class RunProgress:
    """Where a run is: for displays. ``episodes`` is None as long as the end is not known.

    ``doing`` is said while the run does something else than playing, such as learning a machine.
    """

    episode: int
    episodes: int | None
    moving_return: float
    states: int
    triggers: int
    exemplars: int
    solve_seconds: float
    note: str = ""
    doing: str = ""

    def sentence(self) -> str:
        """One line: the episode, what is earned, the machine's size, exemplars, the time spent on solving.

        >>> RunProgress(1200, 5000, 0.5, 3, 2, 9, 2.0).sentence()
        'episode 1,200 of 5,000 · return 0.5 · K=3 z=2 · 9 exemplars · solving 2.0 s'

        While a machine is learned, it ends with what the search is doing.
        """
        of = "" if self.episodes is None else f" of {self.episodes:,}"
        return " · ".join(
            [
                f"episode {self.episode:,}{of}",
                f"return {self.moving_return:.3g}",
                f"K={self.states} z={self.triggers}",
                f"{self.exemplars} exemplars",
                f"solving {self.solve_seconds:.1f} s",
                *filter(None, [self.doing]),
            ]
        )


@dataclass(frozen=True)
class Solve:
    """One new machine: when, how large, and how long it took to find."""

    episode: int
    states: int
    triggers: int
    exemplars: int
    kept: int  # episodes that it had to explain
    seconds: float
    status: str
    trigger_on: str
    reward_on: str
    tolerance: float = 0.0


@dataclass(frozen=True)
class RunNoise:
    """The tolerance that the machine was learned with, the levels that it leaves to be told apart, and outliers.

    Outliers are named by episode and step of those kept.

    >>> RunNoise(0.1, (Level(1.0, 0.05, 9),)).to_json()
    {'tolerance': 0.1, 'levels': [{'reward': 1.0, 'spread': 0.05, 'count': 9}]}
    """

    tolerance: float
    levels: tuple[Level, ...]
    outliers: tuple[Outlier, ...] = ()

    def __str__(self) -> str:
        named = f"; {len(self.outliers)} outlier{'' if len(self.outliers) == 1 else 's'}" if self.outliers else ""
        return f"tolerance {self.tolerance:.3g}: {describe_levels(self.levels)}{named}"

    def to_json(self) -> dict[str, Any]:
        numbers = {"tolerance": self.tolerance, "levels": [level.to_json() for level in self.levels]}
        return numbers | {"outliers": [outlier.to_json() for outlier in self.outliers]} if self.outliers else numbers


@dataclass(frozen=True)
class RunResult(BriefRepr):
    """The machine, the values of actions on S×U, and how the run went.

    ``status`` is that of the last solve, or ``no conflict`` if none was ever met, which proves nothing. Returns are
    undiscounted and within the step limit; ``optimal_return`` and ``episodes_to_optimal`` are known only where the true
    machine is. ``greedy_return`` is a mean over evaluation episodes, in which the policy only acts, and
    ``greedy_interval`` where that mean lies with 95 % confidence. Where the run was ``stopped`` before its end, by
    Ctrl-C or by its time limit, they may be NaN and None.

    ``noise`` is there where the run was asked for a tolerance.

    The agent's table ``q`` has a row for each of ``observations``, the observations met while learning; where they are
    continuous, or ``state_on`` was given, the states that they were taken for.

    >>> import gymnasium, markovize
    >>> env = gymnasium.make("markovize/BreakfastWorld-v0", task="b")
    >>> result = markovize.ActiveLearner(env, Settings.of(episodes=100)).run()
    >>> result.status, round(result.greedy_return, 2), result.episodes, len(list(result.q_rows()))
    ('optimal', 3.2, 100, 350)
    """

    settings: Settings
    machine: RewardMachine
    status: str
    episodes: int
    exemplars: int
    solve_seconds: float
    seconds: float
    greedy_return: float
    optimal_return: float | None
    episodes_to_optimal: int | None
    returns: Floats = field(repr=False)
    lengths: Ints = field(repr=False)
    solves: tuple[Solve, ...] = field(repr=False)
    kept: Traces = field(repr=False)
    observations: tuple[Value, ...] = field(repr=False)
    actions: tuple[Value, ...] = field(repr=False)
    q: Floats = field(repr=False)  # [u, observation, action]
    notes: tuple[str, ...] = ()
    rng: Mapping[str, Any] = field(default_factory=dict, repr=False)  # the generator's state at the end
    greedy_interval: tuple[float, float] | None = None
    stopped: str = ""  # "interrupted" or "time limit", unless the run came to its end
    elements: tuple[Any, ...] = field(default=(), repr=False)  # the actions as the environment takes them
    trigger_labels: Labelling | None = field(default=None, repr=False)  # what labels steps; None: as the machine says
    state_of: Callable[[Value], Value] | None = field(default=None, repr=False)  # None: observations are states
    all: AllMachines | None = None  # if asked for: machines as small that explain the episodes kept as well
    episodes_to_unique: int | None = None  # since when the machine is proven to be the only one of its size
    noise: RunNoise | None = None

    @cached_property
    def policy(self) -> Policy:
        """What to do, for any observation and state of the machine; see :class:`Policy`."""
        labelling = self.trigger_labels or self.machine.trigger_labels
        states = Interner(self.observations, objects=True)
        return Policy(self.machine, labelling, states, self.elements or self.actions, self.q, self.state_of)

    def act(self, observation: Any, u: int = 0) -> Any:
        """The best known action where this is observed and the machine is in state ``u``, as ``env.step`` takes it.

        :attr:`policy` also follows the machine: ``policy.next_state(u, observation, action, next_observation)``.
        """
        return self.policy.act(observation, u)

    def q_rows(self) -> Iterator[tuple[int, Value, Value, float]]:
        """(u, observation, action, value) of every entry of the Q table."""
        for u in range(self.machine.states):
            for s, observation in enumerate(self.observations):
                for a, action in enumerate(self.actions):
                    yield u, observation, action, float(self.q[u, s, a])

    def _repr_html_(self) -> str:
        """What notebooks show."""
        rows = [(name.replace("_", " "), value) for name, value in self.to_json().items() if value is not None]
        return card("active run", rows, [*describe(self.machine), *self.notes], self.machine)

    def to_json(self) -> dict[str, Any]:
        """The result as ``markovize run --json`` prints it."""
        numbers: dict[str, Any] = {
            "episodes": self.episodes,
            "states": self.machine.states,
            "triggers": len(self.machine.triggers),
            "exemplars": self.exemplars,
            "solve_seconds": round(self.solve_seconds, 6),
            "seconds": round(self.seconds, 6),
            "greedy_return": None if math.isnan(self.greedy_return) else self.greedy_return,
            "optimal_return": self.optimal_return,
            "episodes_to_optimal": self.episodes_to_optimal,
            "status": self.status,
            "mode": self.settings.mode,
            "trigger_on": self.machine.trigger_on,
            "reward_on": self.machine.reward_on,
        }
        if self.greedy_interval is not None:
            numbers["greedy_interval"] = list(self.greedy_interval)
        if self.all is not None:
            numbers |= {"all": self.all.to_json(), "episodes_to_unique": self.episodes_to_unique}
        if self.noise is not None:
            numbers["noise"] = self.noise.to_json()
        return numbers | ({"stopped": self.stopped} if self.stopped else {})
