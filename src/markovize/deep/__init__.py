"""Deep agents on worlds whose reward depends on history: with a learned machine (ADQN), with memory, with neither.

- :mod:`~markovize.deep.dqn` is DQN on S and, with a machine, ADQN on S×U; :mod:`~markovize.deep.recurrent` is DQN on S
  with an RNN, a GRU or an LSTM; :mod:`~markovize.deep.agent` is what they share, :mod:`~markovize.deep.training` the
  loop;
- :class:`DeepSettings` says how, :mod:`~markovize.deep.checkpoints` keeps trained agents.

All but the settings need PyTorch, the extra ``deep``; it is imported when an agent is.
"""

from markovize.deep.settings import MODELS, RECURRENT, DeepSettings

__all__ = ["MODELS", "RECURRENT", "DeepSettings"]
