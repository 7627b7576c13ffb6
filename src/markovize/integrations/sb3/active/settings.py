"""Everything that can be set in an active training, as one frozen value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

from markovize.agents.checks import check_discount, check_share, is_number, is_whole
from markovize.episodes.allowance import Allowance
from markovize.episodes.features import Features, feature_function
from markovize.episodes.labelling import AUTO
from markovize.episodes.user_code import name_of_function
from markovize.errors import InputError, one_line

Agent: TypeAlias = Literal["dqn", "ppo"]
AGENTS: Final = ("dqn", "ppo")
ACTIONS: Final = ("likeliest", "drawn")
_COUNTS: Final = ("explore", "look_every", "evaluation_episodes", "most_recorded", "hidden")
_LISTS: Final = ("prologue", "numeric", "categorical")


@dataclass(frozen=True)
class TrainingSettings:
    """How to train; what is None depends on the agent.

    Attributes:
        agent: ``dqn`` or ``ppo``, of Stable-Baselines3, with a policy of two layers of ``hidden`` units.
        steps: steps of training, after exploration.
        explore: episodes of random actions before it; each repeats its actions more or less, for walks that get around.
        prologue: actions that begin every episode, for worlds that must be looked at before the rest can be foretold.
        features: as for :func:`markovize.learn`, and so are ``numeric``, ``categorical``, ``before``, ``reward_on``
            and ``acyclic``. Observations of MiniGrid have features of their own.
        tolerance, outliers: as for :func:`markovize.learn`, ``auto`` included; they also decide what is a conflict.
        look_every: steps between two looks at new episodes, whether the machine explains them.
        solve_seconds: the most that one search for a machine may take.
        target: a mean return; the training ends early where its policy earns that much in evaluation; one
            that does not get there ends with the policy that came nearest. The result is that of other episodes.
        caution: for PPO, a charge for the end of every episode while it trains, which falls to nothing over the first
            two fifths of the steps. Where episodes can end in failure, the agent learns to avoid that first, instead of
            settling for a rash way that is often paid. Policies are tried, and conflicts found, without it.
        actions: what a policy does where it is tried: the ``likeliest`` action or, for PPO, one ``drawn`` as it trains.
            Where the machine remembers all that pays, but an agent does not see all that it needs, the likeliest action
            may lead it round and round.
        environments: how many PPO plays at once. DQN plays one.
        most_recorded: steps of recorded episodes; beyond that, only episodes in conflict are recorded.

    >>> TrainingSettings("ppo", steps=50_000).environments
    8
    >>> TrainingSettings("sarsa")
    Traceback (most recent call last):
    markovize.errors.InputError: agent is dqn or ppo, not 'sarsa'
    """

    agent: Agent = "ppo"
    steps: int = 200_000
    seed: int = 0
    explore: int = 300
    prologue: tuple[Any, ...] = ()
    features: Features | None = None
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    before: bool | Literal["auto"] = "auto"
    reward_on: str | Callable[[Any, Any, Any], Any] = "auto"
    acyclic: bool = False
    tolerance: float | Literal["auto"] = 0.0
    outliers: int | Literal["auto"] = 0
    look_every: int = 4096
    solve_seconds: float = 60.0
    target: float | None = None
    evaluation_episodes: int = 100
    max_steps: int | None = None
    gamma: float = 0.99
    learning_rate: float | None = None
    entropy: float = 0.01
    hidden: int = 64
    caution: float = 0.0
    actions: Literal["likeliest", "drawn"] = "likeliest"
    environments: int | None = None
    most_recorded: int = 100_000

    def __post_init__(self) -> None:
        if self.agent not in AGENTS:
            raise InputError(f"agent is dqn or ppo, not {one_line(repr(self.agent), 40)}")
        for name in _LISTS:
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        if self.environments is None:
            object.__setattr__(self, "environments", 8 if self.agent == "ppo" else 1)
        if self.learning_rate is None:
            object.__setattr__(self, "learning_rate", 1e-3 if self.agent == "ppo" else 5e-4)
        for name in (*_COUNTS, "steps", "environments", *(["max_steps"] if self.max_steps is not None else [])):
            least = 0 if name == "steps" else 1
            if not is_whole(getattr(self, name)) or getattr(self, name) < least:
                raise InputError(f"{name} must be a whole number, at least {least}, not {getattr(self, name)!r}")
        if self.agent == "dqn" and self.environments != 1:
            raise InputError("environments is for PPO: DQN plays in one")
        if not is_number(self.caution) or self.caution < 0:
            raise InputError(f"caution must not be negative, not {self.caution!r}")
        if self.agent == "dqn" and self.caution:
            raise InputError("caution is for PPO: DQN learns from recorded rewards as they are")
        if self.actions not in ACTIONS:
            raise InputError(f"actions is likeliest or drawn, not {one_line(repr(self.actions), 40)}")
        if self.agent == "dqn" and self.actions == "drawn":
            raise InputError("drawn actions are for PPO: DQN has values, not probabilities")
        if not is_number(self.solve_seconds) or self.solve_seconds <= 0:
            raise InputError(f"solve_seconds must be positive, not {self.solve_seconds!r}")
        if self.before not in (True, False, "auto"):
            raise InputError(f"before is true, false or auto, not {self.before!r}")
        _ = self.allowance  # refuses what is none
        check_discount(self.gamma)
        check_share("entropy", self.entropy)
        feature_function(self.features)

    @property
    def chooses_allowance(self) -> bool:
        """Whether the tolerance or the number of outliers is to be found."""
        return AUTO in (self.tolerance, self.outliers)

    @property
    def allowance(self) -> Allowance:
        """What was given as a number; nothing where it is to be found."""
        given: list[Any] = [0 if value == AUTO else value for value in (self.tolerance, self.outliers)]
        return Allowance(*given)

    def to_json(self) -> dict[str, Any]:
        """The settings as a run's folder has them: functions by their names."""
        plain = asdict(self)
        for name in ("features", "reward_on"):
            if callable(plain[name]):
                plain[name] = name_of_function(plain[name])
        return {name: list(value) if name in _LISTS else value for name, value in plain.items()}
