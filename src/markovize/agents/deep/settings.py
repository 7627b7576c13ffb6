"""Everything that can be set in a deep agent's training, as one frozen value."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

from markovize.agents.checks import check_discount, check_share, is_number, is_whole
from markovize.errors import InputError

MODELS: Final = ("ADQN", "DQN", "LSTM", "GRU", "RNN")
RECURRENT: Final = ("LSTM", "GRU", "RNN")
WINDOW: Final = 1_000  # episodes in a mean return


@dataclass(frozen=True)
class DeepSettings:
    """How to train; the defaults are those of the paper's experiment 2 (its appendix D).

    One update follows each episode: on ``batch`` steps of the last ``replay_steps``, or for recurrent models on one
    whole episode of the last ``replay_episodes``. After it the target network moves towards the other by
    ``smoothing``. Every ``optimal_every`` episodes (0: never) an optimal one joins the replay. An episode is cut after
    ``max_steps``.

    >>> DeepSettings("LSTM").recurrent, DeepSettings("ADQN", episodes=100).batch
    (True, 32)
    >>> DeepSettings("CNN")
    Traceback (most recent call last):
    markovize.errors.InputError: models are ADQN, DQN, LSTM, GRU, RNN, not 'CNN'
    """

    model: str
    episodes: int = 50_000
    gamma: float = 0.95
    epsilon: float = 0.1
    learning_rate: float = 1e-3
    smoothing: float = 0.01
    hidden: int = 128
    batch: int = 32
    replay_steps: int = 100_000
    replay_episodes: int = 1_000
    optimal_every: int = 10
    max_steps: int = 200

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise InputError(f"models are {', '.join(MODELS)}, not {self.model!r}")
        for name in ("episodes", "hidden", "batch", "replay_steps", "replay_episodes", "optimal_every", "max_steps"):
            value = getattr(self, name)
            least = 0 if name == "optimal_every" else 1
            if not is_whole(value) or value < least:
                raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
        for name in ("gamma", "epsilon", "smoothing", "learning_rate"):
            value = getattr(self, name)
            if not is_number(value) or not math.isfinite(value):
                raise InputError(f"{name} must be a number, not {value!r}")
        for name in ("epsilon", "smoothing"):
            check_share(name, getattr(self, name))
        check_discount(self.gamma)
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate must be positive, not {self.learning_rate!r}")
        if self.replay_steps < self.max_steps:
            raise InputError(f"a replay of {self.replay_steps} steps cannot hold an episode of {self.max_steps}")

    @property
    def recurrent(self) -> bool:
        """Whether the model remembers by itself."""
        return self.model in RECURRENT

    def to_json(self) -> dict[str, Any]:
        """All settings."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> DeepSettings:
        """Reads what :meth:`to_json` wrote; anything else is refused.

        >>> DeepSettings.from_json({"model": "DQN", "layers": 3})
        Traceback (most recent call last):
        markovize.errors.InputError: there is no setting 'layers' of deep agents
        """
        if not isinstance(data, dict) or "model" not in data:
            raise InputError("settings of a deep agent are a JSON object with a model")
        if unknown := [name for name in data if name not in cls.__dataclass_fields__]:
            raise InputError(f"there is no setting {unknown[0]!r} of deep agents")
        return cls(**data)
