"""Active training with agents of Stable-Baselines3: ``markovize run ENV --agent dqn|ppo``."""

from markovize.integrations.sb3.active.results import TrainingProgress, TrainingResult
from markovize.integrations.sb3.active.settings import TrainingSettings
from markovize.integrations.sb3.active.training import ActiveTraining

__all__ = ["ActiveTraining", "TrainingProgress", "TrainingResult", "TrainingSettings"]
