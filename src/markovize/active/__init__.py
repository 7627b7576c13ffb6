"""Active learning: an agent that finds the machine behind its reward while it acts (the paper's ARMDPQ-Learning).

- :class:`ActiveLearner` runs it, :class:`Settings` says how, :class:`RunResult` is what comes out;
- :mod:`~markovize.active.loop` is the compiled loop, :mod:`~markovize.active.tours` explores, and
  :mod:`~markovize.active.players` steps worlds and environments (by :mod:`~markovize.active.handles`);
- :class:`Snapshot` is a run between two episodes, to go on from.
"""

from markovize.active.learner import ActiveLearner
from markovize.active.results import RunProgress, RunResult, Solve
from markovize.active.settings import MODES, Settings
from markovize.active.snapshots import Snapshot

__all__ = ["MODES", "ActiveLearner", "RunProgress", "RunResult", "Settings", "Snapshot", "Solve"]
