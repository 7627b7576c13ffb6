"""Stable-Baselines3: find the machine while it trains, and make the most of it once it is known.

- :class:`ConflictCallback` watches a training on a bare environment, learns the machine behind the reward, and says
  when it should be switched in, by :class:`markovize.MarkovRewardWrapper`.
- :class:`MarkovWarningCallback` only warns, once, if equal steps are paid differently.
- :class:`CounterfactualReplayBuffer` lets DQN learn from each step in every machine state.
- :class:`ActiveTraining` does all of it by itself, with guards, for environments without tables: ``markovize run ENV
  --agent dqn|ppo``.
- :func:`fill_replay` gives DQN the episodes that were recorded on the way.

Wrap each environment by itself, then put them into a ``DummyVecEnv`` or ``SubprocVecEnv`` as usual. The wrappers of
:mod:`markovize.gym.wrappers.vector` are for Gymnasium's vector environments, which Stable-Baselines3 does not take.
"""

from markovize.integrations.sb3.active import ActiveTraining, TrainingProgress, TrainingResult, TrainingSettings
from markovize.integrations.sb3.callback import ConflictCallback
from markovize.integrations.sb3.replay import CounterfactualReplayBuffer, fill_replay
from markovize.integrations.sb3.warning import MarkovWarningCallback

__all__ = [
    "ActiveTraining",
    "ConflictCallback",
    "CounterfactualReplayBuffer",
    "MarkovWarningCallback",
    "TrainingProgress",
    "TrainingResult",
    "TrainingSettings",
    "fill_replay",
]
