"""Active learning: an agent that finds the machine behind its reward while it acts (the paper's ARMDPQ-Learning).

- :class:`ActiveLearner` runs it, :class:`Settings` says how, :class:`RunResult` is what comes out;
- :mod:`~markovize.active.loop` is the compiled loop, :mod:`~markovize.active.tours` explores, and
  :mod:`~markovize.active.players` steps worlds and environments.
"""

from markovize.active.learner import ActiveLearner
from markovize.active.results import RunProgress, RunResult, Solve
from markovize.active.settings import MODES, Settings

__all__ = ["MODES", "ActiveLearner", "RunProgress", "RunResult", "Settings", "Solve"]
